#include "sotto/accounting/pld/law.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/outward.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

double LossLaw::hockey_stick(double epsilon) const {
  if (fold && epsilon < 0) return -std::expm1(epsilon) + std::exp(epsilon) * hockey_stick(-epsilon);
  double sum = p_infinite + charged;
  for (const LossAtom& a : atoms)
    if (a.loss > epsilon) sum += a.p * -std::expm1(epsilon - a.loss);
  for (const LossPiece& piece : pieces)
    sum += std::visit([&](const auto& x) { return x.hockey_stick(epsilon); }, piece);
  return sum;
}

double LossLaw::reverse_hockey_stick(double epsilon) const {
  if (symmetric) return hockey_stick(epsilon);
  double sum = q_infinite + charged;
  for (const LossAtom& a : atoms)
    if (-a.loss > epsilon) sum += a.q * -std::expm1(epsilon + a.loss);
  for (const LossPiece& piece : pieces)
    sum += std::visit([&](const auto& x) { return x.reverse_hockey_stick(epsilon); }, piece);
  return sum;
}

namespace {

struct Sampler {
  double gamma;
  void operator()(GaussianPiece& piece) const { piece.gamma = gamma; }
  void operator()(ExponentialPiece& piece) const { piece.gamma = gamma; }
  void operator()(MixturePiece& piece) const {
    for (double& w : piece.p_weights) w *= gamma;
    for (std::size_t j = 0; j < piece.q_means.size(); ++j) {
      piece.p_weights.push_back((1 - gamma) * piece.q_weights[j]);
      piece.p_means.push_back(piece.q_means[j]);
    }
  }
};

struct Scaler {
  double factor;
  void operator()(GaussianPiece& piece) const { piece.weight *= factor; }
  void operator()(ExponentialPiece& piece) const { piece.level *= factor; }
  void operator()(MixturePiece& piece) const {
    for (double& w : piece.p_weights) w *= factor;
    for (double& w : piece.q_weights) w *= factor;
  }
};

}  // namespace

LossLaw sampled_law(const LossLaw& law, double gamma) {
  if (gamma == 1) return law;
  if (law.fold) invariant_broken("a folded law cannot be sampled");
  LossLaw out;
  out.slack = law.slack;
  out.charged = law.charged;
  // ln(1 + γ(e^{l+s} − 1)) ≤ ln(1 + γ(e^l − 1)) + s: the uncertainty of a loss does not grow.
  out.shift = law.shift;
  for (const LossAtom& a : law.atoms) {
    out.atoms.push_back({sampled_loss(a.loss, gamma), (1 - gamma) * a.q + gamma * a.p, a.q});
  }
  if (law.q_infinite > 0) {
    out.atoms.push_back({std::log1p(-gamma), (1 - gamma) * law.q_infinite, law.q_infinite});
  }
  out.p_infinite = gamma * law.p_infinite;
  for (LossPiece piece : law.pieces) {
    std::visit(Sampler{gamma}, piece);
    out.pieces.push_back(std::move(piece));
  }
  return out;
}

LossLaw folded(LossLaw law) {
  if (law.symmetric) return law;
  std::erase_if(law.atoms, [](const LossAtom& a) { return a.loss <= 0; });
  law.q_infinite = law.p_infinite;
  law.fold = law.symmetric = true;
  return law;
}

LossLaw mixed_law(const std::vector<LossLaw>& laws, const std::vector<double>& weights) {
  LossLaw out;
  out.symmetric = true;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const LossLaw& law = laws[i];
    if (law.fold) invariant_broken("a folded law cannot be mixed");
    out.symmetric = out.symmetric && law.symmetric;
    out.shift = std::max(out.shift, law.shift);
    out.slack = std::max(out.slack, law.slack);
    out.charged += weights[i] * law.charged;
    out.p_infinite += weights[i] * law.p_infinite;
    out.q_infinite += weights[i] * law.q_infinite;
    for (const LossAtom& a : law.atoms)
      out.atoms.push_back({a.loss, weights[i] * a.p, weights[i] * a.q});
    for (LossPiece piece : law.pieces) {
      std::visit(Scaler{weights[i]}, piece);
      out.pieces.push_back(std::move(piece));
    }
  }
  return out;
}

LossLaw revealed_law(const LossLaw& law, double gamma) {
  LossLaw nothing;
  nothing.symmetric = true;
  nothing.atoms = {{0, 1, 1}};
  return mixed_law({law, nothing}, {gamma, 1 - gamma});
}

bool trim(LossLaw& law, double tail) {
  const std::size_t parts = law.atoms.size() + law.pieces.size();
  const double each = tail / static_cast<double>(std::max<std::size_t>(1, parts));
  double dropped = 0;
  std::erase_if(law.atoms, [&](const LossAtom& a) {
    const bool drop = std::max(a.p, a.q) <= each;
    if (drop) dropped += std::max(a.p, a.q);
    return drop;
  });
  std::erase_if(law.pieces, [&](const LossPiece& piece) {
    const double mass = std::visit([](const auto& x) { return x.mass(); }, piece);
    if (mass <= each) dropped += mass;
    return mass <= each;
  });
  law.charged += dropped * (1 + 1e-12);
  return law.atoms.size() + law.pieces.size() < parts;
}

LossLaw law_from_curve(std::vector<double> epsilons, std::vector<double> deltas) {
  const std::size_t n = epsilons.size();
  if (n < 2 || deltas.size() != n) invariant_broken("a curve needs two points");
  // The slope between two knots in units of e^{−ε} at the left one, so that nothing overflows.
  const auto slope = [&](std::size_t i, std::size_t j) {
    return (deltas[j] - deltas[i]) / std::expm1(epsilons[j] - epsilons[i]);
  };
  std::vector<std::size_t> hull;
  for (std::size_t j = 0; j < n; ++j) {
    while (hull.size() >= 2) {
      const std::size_t a = hull[hull.size() - 2], b = hull.back();
      if (slope(a, b) * std::exp(epsilons[b] - epsilons[a]) < slope(b, j)) break;
      hull.pop_back();
    }
    hull.push_back(j);
  }
  LossLaw law;
  law.p_infinite = law.q_infinite = deltas[hull.back()];
  for (std::size_t k = 0; k < hull.size(); ++k) {
    const std::size_t b = hull[k];
    const double right = k + 1 < hull.size() ? slope(b, hull[k + 1]) : 0;
    const double left = k > 0
                            ? slope(hull[k - 1], b) * std::exp(epsilons[b] - epsilons[hull[k - 1]])
                            : -std::exp(epsilons[b]);
    const double p = right - left;
    if (p > 0) law.atoms.push_back({epsilons[b], p, p * std::exp(-epsilons[b])});
  }
  return law;
}

}  // namespace sotto
