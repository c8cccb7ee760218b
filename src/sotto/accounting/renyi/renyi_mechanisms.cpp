#include "sotto/accounting/renyi/renyi_mechanisms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kSlack = 1e-12;

// ln E_Q[(1 − q + q e^loss)^a] for a ≥ 1 or a ≤ 0.
double log_moment(std::span<const RatioAtom> atoms, double rate, double a) {
  const auto tilted = [&](double loss) {
    if (rate == 1) return loss;
    return loss > 30 ? loss + std::log(rate) + std::log1p((1 - rate) / rate * std::exp(-loss))
                     : std::log1p(rate * std::expm1(loss));
  };
  double largest = 0;
  for (const RatioAtom& atom : atoms) {
    const double loss = tilted(atom.loss);
    largest = std::max({largest, a * loss, loss});
  }
  if (largest < 600) {
    double sum = 0;
    for (const RatioAtom& atom : atoms) sum += atom.mass * power_excess(a, tilted(atom.loss));
    return std::log1p(sum);
  }
  LogSum sum;
  double mass = 0, exponent = 0;
  for (const RatioAtom& atom : atoms) {
    const bool tiny = atom.mass < 1e-290;
    const double power = a * tilted(atom.loss);
    sum.add((tiny ? atom.log_mass : std::log(atom.mass)) + power);
    mass += atom.mass;
    // Large numbers that nearly cancel: their roundings are no longer small beside the sum.
    if (tiny) exponent = std::max({exponent, std::abs(atom.log_mass), std::abs(power)});
  }
  if (mass < 1) sum.add(std::log1p(-mass));
  return sum.log() + 16 * kUlp * exponent;
}

// A two-valued loss ±ε: mass of +ε under Q is 1/(e^ε + k − 1), of −ε it is e^ε/(e^ε + k − 1).
std::array<RatioAtom, 2> response_atoms(double epsilon, double categories) {
  const double all = 1 + (categories - 1) * std::exp(-epsilon), log_high = -std::log(all);
  return {{{std::exp(-epsilon) / all, epsilon, log_high - epsilon}, {1 / all, -epsilon, log_high}}};
}

}  // namespace

double renyi_of_atoms(std::span<const RatioAtom> atoms, double rate, double order) {
  const double forward = log_moment(atoms, rate, order);
  // The other direction is E_Q[(P/Q)^(1−α)] once P is the mixture.
  const double backward = rate == 1 ? forward : log_moment(atoms, rate, 1 - order);
  return widen_up(std::max(forward, backward) / (order - 1), kSlack);
}

double renyi_pure(double epsilon, double order) {
  return renyi_randomized_response(epsilon, 2, order);
}

double renyi_randomized_response(double epsilon, std::uint64_t categories, double order) {
  if (epsilon == 0) return 0;
  const auto atoms = response_atoms(epsilon, static_cast<double>(categories));
  return std::min(epsilon, renyi_of_atoms(atoms, 1, order));
}

double renyi_laplace(double t, double order) {
  const double a = order, m = order - 1, whole = 2 * order - 1;
  if (a * t <
      // Σ_{n≥2} tⁿ/n!·α(α−1)[(α−1)^(n−1) + (−1)ⁿ α^(n−1)]/(2α−1); its first term is α(α−1)t²/2
      0.1) {
    double factor = t, down = 1, up = -1, sum = 0;
    for (int n = 2; n < 30; ++n) {
      factor *= t / n, down *= m, up *= -a;
      const double term = factor * a * m * (down + up) / whole;
      sum += term;
      if (std::abs(term) < 1e-18 * sum) break;
    }
    return widen_up(std::log1p(sum) / m, kSlack);
  }
  double log_a = 0;
  if (m * t < 600) {
    log_a = std::log1p((a * std::expm1(m * t) + m * std::expm1(-a * t)) / whole);
  } else {
    log_a = m * t + std::log(a / whole);
  }
  return std::min(t, widen_up(log_a / m, kSlack));
}

double renyi_discrete_laplace(double unit, std::uint64_t steps, double order) {
  const double x = std::exp(-unit), w = 1 / (1 + x), k = static_cast<double>(steps), t = unit * k;
  if (steps <= 4096) {
    std::vector<RatioAtom> atoms;
    atoms.reserve(steps + 1);
    // Under Q (centred k steps away) the loss is t − 2·unit·z for z = 0…k, the ends collecting the
    // tails.
    const double log_end = std::log(w), log_inner = log_end + log1m_exp(-unit);
    atoms.push_back({w * std::exp(-t), t, log_end - t});
    for (std::uint64_t z = 1; z < steps; ++z) {
      const auto dz = static_cast<double>(z);
      atoms.push_back({w * -std::expm1(-unit) * std::exp(-unit * (k - dz)), t - 2 * unit * dz,
                       log_inner - unit * (k - dz)});
    }
    atoms.push_back({w, -t, log_end});
    return std::min(t, renyi_of_atoms(atoms, 1, order));
  }
  if (t < 0.05) return renyi_pure(t, order);  // at most a factor 1 + t/3 above the exact value
  // Geometric sums: ends w(e^((α−1)t) + e^(−αt)), middle w(1−x)e^((α−1)t) Σ_{z=1}^{k−1}
  // e^(−unit(2α−1)z).
  const double m = order - 1, c = unit * (2 * order - 1);
  const double middle =
      -std::expm1(-unit) * std::exp(-c) * std::expm1(-c * (k - 1)) / std::expm1(-c);
  const double log_a = m * t + std::log(w * (1 + middle + std::exp(-(2 * order - 1) * t)));
  return std::min(t, widen_up(log_a / m, 1e-11));
}

double renyi_bounded_range(double epsilon, double order) {
  // Kullback–Leibler at most x − 1 − ln x with x = ε/(e^ε − 1); beyond it Hoeffding's lemma on a
  // range of length ε.
  const double x = epsilon < 1e-5 ? 1 - epsilon / 2 : epsilon / std::expm1(epsilon);
  const double log_x = epsilon < 600 ? std::log(x) : std::log(epsilon) - epsilon;
  // For small ε the difference cancels; ε²/8 bounds it and is its limit.
  const double kl = epsilon < 1e-3 ? epsilon * epsilon / 8 : x - 1 - log_x;
  const double hoeffding = widen_up(kl + (order - 1) * epsilon * epsilon / 8, 1e-10);
  return std::min(hoeffding, renyi_pure(epsilon, order));
}

}  // namespace sotto
