#include "sotto/accounting/pld/law.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

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
  void operator()(ExponentialPiece& piece) const { piece.top *= factor; }
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

LossLaw bounded_law(LossLaw law, double end) {
  law.lowest = -end, law.highest = end;
  return law;
}

Outside mass_outside(const LossLaw& law, double lowest, double highest) {
  Outside sum;
  const auto add = [](PieceTail& to, const PieceTail& more) { to.p += more.p, to.q += more.q; };
  for (const LossAtom& a : law.atoms) {
    if (a.loss > highest) add(sum.above, {a.p, a.q});
    if (a.loss < lowest) add(sum.below, {a.p, a.q});
  }
  for (const LossPiece& piece : law.pieces) {
    std::visit(
        [&](const auto& x) {
          if (highest < kInfinity) add(sum.above, x.above(x.where(highest)));
          if (lowest > -kInfinity) add(sum.below, x.below(x.where(lowest)));
        },
        piece);
  }
  if (law.fold) sum.below = {sum.above.q, sum.above.p};
  return sum;
}

DeltaCurve falling_curve(double end, int knots, const std::function<double(double)>& delta) {
  constexpr double kFlat = 1e-9;
  DeltaCurve curve;
  for (int i = 0; i <= knots; ++i) curve.epsilons.push_back(end * i / knots);
  std::vector<double>& d = curve.deltas;
  d.assign(curve.epsilons.size(), 1);
  const auto ask = [&](int i, double most) {
    d[i] = std::min(most, delta(curve.epsilons[i]) * (1 + 1e-12));
  };
  ask(0, 1);
  ask(knots, d[0]);
  // Between two knots where δ is the same, it is the same.
  const std::function<void(int, int)> between = [&](int i, int j) {
    if (j - i < 2) return;
    if (d[i] - d[j] <= kFlat * d[j]) {
      std::fill(d.begin() + i + 1, d.begin() + j, d[i]);
      return;
    }
    const int middle = (i + j) / 2;
    ask(middle, d[i]);
    between(i, middle);
    between(middle, j);
  };
  between(0, knots);
  for (int i = 1; i <= knots; ++i) d[i] = std::min(d[i], d[i - 1]);
  return curve;
}

LossLaw law_from_curve(double end, int knots, const std::function<double(double)>& delta) {
  DeltaCurve curve;
  double least = 1;  // δ falls, so a bound at a smaller ε is one here
  for (int i = 0; i <= knots; ++i) {
    curve.epsilons.push_back(end * i / knots);
    curve.deltas.push_back(least = std::min(least, delta(curve.epsilons.back()) * (1 + 1e-12)));
  }
  return law_from_curve(curve);
}

LossLaw law_from_curve(const DeltaCurve& curve) {
  const std::vector<double>&epsilons = curve.epsilons, &deltas = curve.deltas;
  const auto knots = static_cast<double>(epsilons.size() - 1);
  // With x = e^ε the slope s of a chord from a to b is negative; e^{ε_b}·|s| seen from its right
  // end and e^{ε_a}·|s| from its left end are masses below 1, so nothing overflows. At a vertex
  // their difference is the P-mass of the law.
  const auto from_right = [&](std::size_t a, std::size_t b) {
    return (deltas[a] - deltas[b]) / -std::expm1(epsilons[a] - epsilons[b]);
  };
  const auto from_left = [&](std::size_t a, std::size_t b) {
    return (deltas[a] - deltas[b]) / std::expm1(epsilons[b] - epsilons[a]);
  };
  // The chord from the mirror image of b to b: slope −(1 − δ)/(e^ε + 1).
  const auto from_mirror = [&](std::size_t b) {
    return (1 - deltas[b]) / (1 + std::exp(-epsilons[b]));
  };
  std::vector<std::size_t> hull;
  for (std::size_t j = 0; j < epsilons.size(); ++j) {
    while (!hull.empty()) {
      const std::size_t b = hull.back();
      const double left = hull.size() > 1 ? from_right(hull[hull.size() - 2], b) : from_mirror(b);
      if (left > from_left(b, j)) break;
      hull.pop_back();
    }
    hull.push_back(j);
  }
  LossLaw law;
  law.symmetric = true;
  law.p_infinite = law.q_infinite = deltas[hull.back()];
  law.slack = 16 * kUlp * knots;  // a mass is a difference of two that are right to a few roundings
  for (std::size_t k = 0; k < hull.size(); ++k) {
    const std::size_t b = hull[k];
    const double left = k > 0 ? from_right(hull[k - 1], b) : from_mirror(b),
                 right = k + 1 < hull.size() ? from_left(b, hull[k + 1]) : 0, e = epsilons[b];
    if (e == 0) {  // twice what the half above 0 needs
      law.atoms.push_back({0, 2 * (left - right), 2 * (left - right)});
      continue;
    }
    const double p = left - right, q = p * std::exp(-e);
    law.atoms.push_back({e, p, q});
    law.atoms.push_back({-e, q, p});
  }
  return law;
}

void charge_missing_mass(LossLaw& law) {
  double p = law.p_infinite + law.charged, q = law.q_infinite + law.charged;
  for (const LossAtom& a : law.atoms) p += a.p, q += a.q;
  for (const LossPiece& piece : law.pieces) {
    const double mass = std::visit([](const auto& x) { return x.mass(); }, piece);
    p += mass, q += mass;
  }
  const bool numbers =
      std::isfinite(p) && std::isfinite(q) &&
      std::ranges::none_of(law.atoms, [](const LossAtom& a) { return std::isnan(a.loss); });
  if (!numbers) {
    throw AccountingError("the privacy loss of these parameters leaves the range of numbers",
                          "the noise is so small that nothing is bounded; use more noise");
  }
  const double missing = law.fold ? 0 : 1 - std::min(p, q);
  if (missing > kMassRounding) law.charged += missing;
}

}  // namespace sotto
