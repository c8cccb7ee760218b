// The privacy loss random variable of simple mechanisms.
//
// What       L = ln(P(y)/Q(y)) for y drawn from P, P and Q the outputs on two neighbours: its mean
//            (the Kullback–Leibler divergence), variance and tail P[L > t]. If P[L > ε] ≤ δ the
//            mechanism is (ε, δ)-DP.
// Guarantee  Exact formulas for the worst pair of neighbours; unrounded, for understanding and
//            tests, not for claims.
// Method     Gaussian: N(μ²/2, μ²). Laplace: clamped between ±t, with a continuous middle.
//            Randomized response: ±ε and 0.
// Numerics   Doubles; tails without cancellation.
// Reference  [DR14]; [DRV10] drift; docs/math/composition.md.
#pragma once

#include <cstdint>

namespace sotto {

class LossVariable {
 public:
  static LossVariable gaussian(double mu);    // noise multiplier 1/μ
  static LossVariable laplace(double shift);  // sensitivity / scale
  static LossVariable randomized_response(double epsilon, std::uint64_t categories = 2);

  double mean() const { return mean_; }
  double variance() const { return variance_; }
  double tail(double t) const;  // P[L > t]

 private:
  enum class Kind { gaussian, laplace, response };
  LossVariable(Kind kind, double parameter, double categories, double mean, double variance)
      : kind_(kind),
        parameter_(parameter),
        categories_(categories),
        mean_(mean),
        variance_(variance) {}
  Kind kind_;
  double parameter_, categories_, mean_, variance_;
};

// E[L] ≤ ε(e^ε − 1)/(e^ε + 1) for every ε-DP mechanism, attained by binary randomized response.
// Rounded up.
double drift_bound(double epsilon);

}  // namespace sotto
