// Continuous parts of a privacy loss law: the densities of the pair (P, Q) along a coordinate in
// which the loss rises.
//
// What       A piece covers outcomes z in (−∞, ∞) or an interval, with dP/dz, dQ/dz and the loss
//            L(z) = ln(dP/dQ), increasing.
// Method     Sampling at rate γ is built in: for a base pair (A, B), P = (1−γ)B + γA and Q = B, so
//            L = ln(1 + γ(e^l − 1)).
// Numerics   No difference of nearly equal numbers: masses are products of positive terms, losses
//            go through log1p(γ·expm1(l)).
// Reference  docs/math/pld.md §2.
#pragma once

#include <variant>
#include <vector>

namespace sotto {

// What one quadrature node needs: the densities of P and Q and the loss.
struct PieceNode {
  double p, q, loss;
};
struct PieceTail {
  double p = 0, q = 0;
};

// Base pair N(μ,1) against N(0,1), times weight, sampled at rate gamma.
struct GaussianPiece {
  double mu = 1, gamma = 1, weight = 1;

  double mass() const { return weight; }
  double low(double tail) const;   // below it Q has mass at most weight·tail
  double high(double tail) const;  // above it P has mass at most weight·tail
  PieceNode at(double z) const;
  double where(double loss,
               double hint = 0) const;  // the z of a loss, ∓∞ outside the range; hint: a z below it
  double growth(double z) const;        // bound of |d ln density / dz|, for choosing panels
  PieceTail below(double z) const;
  PieceTail above(double z) const;
  double hockey_stick(double epsilon) const;          // ∫ (dP − e^ε dQ)₊
  double reverse_hockey_stick(double epsilon) const;  // ∫ (dQ − e^ε dP)₊
};

// Base losses l in [−range, range] with dA = top·e^{(l−range)/2} dl and dB = top·e^{−(l+range)/2}
// dl, sampled at rate gamma: the density is stated where it is largest, so that a range of
// thousands neither overflows nor vanishes.
// Laplace noise between its atoms, and the worst case of bounded-range mechanisms, are of this
// form.
struct ExponentialPiece {
  double top = 1, range = 1, gamma = 1;

  double mass() const;  // of Q, and of P when gamma is 1
  double low(double) const { return -range; }
  double high(double) const { return range; }
  PieceNode at(double z) const;
  double where(double loss, double hint = 0) const;
  double growth(double) const { return 1.5; }
  PieceTail below(double z) const;
  PieceTail above(double z) const;
  double hockey_stick(double epsilon) const;
  double reverse_hockey_stick(double epsilon) const;
};

// P = Σ p_i N(c_i, 1) against Q = Σ q_j N(d_j, 1), every c_i ≥ every d_j, so that the loss is
// increasing.
struct MixturePiece {
  std::vector<double> p_weights, p_means, q_weights, q_means;

  double mass() const;
  double low(double tail) const;
  double high(double tail) const;
  PieceNode at(double z) const;
  double where(double loss, double hint = 0) const;
  double growth(double z) const;
  PieceTail below(double z) const;
  PieceTail above(double z) const;
  double hockey_stick(double epsilon) const;
  double reverse_hockey_stick(double epsilon) const;

 private:
  struct Slope {
    double loss, slope;  // L and dL/dz
  };
  Slope loss_and_slope(double z) const;
};

using LossPiece = std::variant<GaussianPiece, ExponentialPiece, MixturePiece>;

// The loss after sampling at rate γ, and back: ln(1 + γ(e^l − 1)).
double sampled_loss(double base_loss, double gamma);
double base_loss(double sampled, double gamma);  // −∞ at or below ln(1−γ)

}  // namespace sotto
