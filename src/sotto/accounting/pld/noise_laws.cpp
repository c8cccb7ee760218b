#include "sotto/accounting/pld/noise_laws.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/accounting/numeric/detail/lattice.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kLargestLattice = 1 << 20;  // points enumerated at most
constexpr double kLogTail = 330;             // masses of e^{−330} are charged, not enumerated
constexpr double kLogSmooth =
    29;  // a sum of a Gaussian over the lattice is its integral up to e^{−29}

double gaussian_reach(double sigma) { return std::sqrt(2 * kLogTail) * sigma + 2; }

// Discrete Gaussian noise on the line, enumerated, for centres `shift` steps apart.
LossLaw discrete_gaussian_line(double sigma, double shift) {
  LossLaw line;
  line.symmetric = true;
  const double limit = std::ceil(gaussian_reach(sigma));
  double total = 1;
  for (double z = limit; z >= 1; --z) total += 2 * std::exp(-0.5 * (z / sigma) * (z / sigma));
  for (double z = -limit; z <= shift + limit; ++z) {
    const double q = std::exp(-0.5 * (z / sigma) * (z / sigma)) / total;
    const double p = std::exp(-0.5 * ((z - shift) / sigma) * ((z - shift) / sigma)) / total;
    if (p > 0 || q > 0) line.atoms.push_back({shift / sigma * ((z - 0.5 * shift) / sigma), p, q});
  }
  line.charged = std::exp(-kLogTail);  // P[Z ≥ z] ≤ e^{−z²/2σ²}
  return line;
}

}  // namespace

LossLaw gaussian_law(double mu) {
  LossLaw law;
  law.symmetric = true;
  if (mu == 0) {
    law.atoms = {{0, 1, 1}};
    return law;
  }
  law.pieces = {GaussianPiece{mu, 1, 1}};
  return law;
}

// With noise of scale 1 and shift ε: atoms at ±ε where both outcomes lie on one side of the two
// centres, and losses 2z − ε between.
LossLaw laplace_law(double epsilon) {
  LossLaw law;
  law.symmetric = true;
  const double small = 0.5 * std::exp(-epsilon);
  law.atoms = {{epsilon, 0.5, small}, {-epsilon, small, 0.5}};
  law.pieces = {ExponentialPiece{0.25, epsilon, 1}};
  return law;
}

namespace {
// P[from < Z ≤ to], a difference on the side where it keeps its digits.
double normal_between(double from, double to) {
  if (from >= 0) return normal_sf(from) - normal_sf(to);
  if (to <= 0) return normal_sf(-to) - normal_sf(-from);
  return 1 - normal_sf(to) - normal_sf(-from);
}
}  // namespace

LossLaw mixtures_in_cells(const std::vector<double>& weights, const std::vector<double>& p_means,
                          const std::vector<double>& q_means, double rest) {
  constexpr double kBeyond = 12, kWidth = 0.02, kMostCells = 4096, kRounding = 1e-12;
  double low = 0, high = 0;
  for (const auto* means : {&p_means, &q_means}) {
    for (const double m : *means) low = std::min(low, m), high = std::max(high, m);
  }
  low -= kBeyond, high += kBeyond;
  const auto cells = static_cast<int>(std::min(kMostCells, std::ceil((high - low) / kWidth)));
  const auto mass = [&](const std::vector<double>& means, double from, double to) {
    double sum = 0;
    for (std::size_t k = 0; k < means.size(); ++k)
      sum += weights[k] * normal_between(from - means[k], to - means[k]);
    return sum;
  };
  LossLaw law;
  for (int i = 0; i < cells; ++i) {
    const double from = i == 0 ? -kInfinity : low + (high - low) * i / cells,
                 to = i + 1 == cells ? kInfinity : low + (high - low) * (i + 1) / cells;
    const double p = mass(p_means, from, to) * (1 - kRounding),
                 q = mass(q_means, from, to) * (1 + kRounding) + rest;
    if (p > 1e-290 && q > 1e-290) law.atoms.push_back({std::log(p / q), p, q});
  }
  return law;
}

LossLaw randomized_response_law(double epsilon, std::uint64_t categories) {
  LossLaw law;
  law.symmetric = true;
  const double others = static_cast<double>(categories - 1);
  const double high = 1 / (1 + others * std::exp(-epsilon)), low = 1 / (std::exp(epsilon) + others);
  law.atoms = {{epsilon, high, low}, {-epsilon, low, high}};
  if (categories > 2) law.atoms.push_back({0, low * (others - 1), low * (others - 1)});
  return law;
}

LossLaw approximate_law(double epsilon, double delta) {
  LossLaw law;
  law.symmetric = true;
  const double high = (1 - delta) / (1 + std::exp(-epsilon)),
               low = (1 - delta) / (1 + std::exp(epsilon));
  law.atoms = {{epsilon, high, low}, {-epsilon, low, high}};
  law.p_infinite = law.q_infinite = delta;
  return law;
}

namespace {

LawRun discrete_laplace_steps(double scale, double m) {
  constexpr double kBlocks = 1 << 14;
  const double alpha = 1 / scale, end = m * alpha;
  const double r = std::exp(-alpha), level = std::tanh(0.5 * alpha);
  LawRun run;
  const double outside = 1 / (1 + r);  // mass on one side, the centre included
  run.upper.symmetric = true;
  run.upper.atoms = {{end, outside, outside * std::exp(-end)},
                     {-end, outside * std::exp(-end), outside}};
  const double inner = m - 1, width = std::ceil(inner / kBlocks);
  LossLaw merged = run.upper;
  for (double a = 1; a <= inner; a += width) {
    const double w = std::min(width, inner - a + 1), loss = (2 * a + w - 1 - m) * alpha,
                 half = (w - 1) * alpha;
    // a steps from one centre, m − (a + w − 1) from the other.
    const double inside = level * (std::expm1(-w * alpha) / std::expm1(-alpha));
    const double q = inside * std::exp(-a * alpha), p = inside * std::exp((a + w - 1 - m) * alpha);
    merged.atoms.push_back({loss, p, q});
    if (w == 1) {
      run.upper.atoms.push_back({loss, p, q});
    } else {
      // The block becomes two atoms at its ends that keep both masses.
      const double near = 1 / (1 + std::exp(-half)), far = 1 / (1 + std::exp(half));
      run.upper.atoms.push_back({loss + half, p * near, q * far});
      run.upper.atoms.push_back({loss - half, p * far, q * near});
    }
  }
  if (width > 1) {
    run.attained = false;
    run.lower = std::move(merged);
  }
  return run;
}

}  // namespace

LawRun discrete_laplace_run(double scale, double distance) {
  const double above = lattice_steps_up(distance, 1), below = lattice_steps_down(distance, 1);
  LawRun run = discrete_laplace_steps(scale, above);
  if (above != below) {
    run.attained = false;
    run.lower.reset();
    if (below > 0) {
      const LawRun nearer = discrete_laplace_steps(scale, below);
      run.lower = nearer.attained ? nearer.upper : nearer.lower;
    }
  }
  return run;
}

LawRun discrete_gaussian_run(double sigma, double distance, std::uint64_t dimension) {
  LawRun run;
  const bool line = dimension == 1;
  const double shift = line ? lattice_steps_up(distance, 1) : distance;
  const std::vector<double> vector = lattice_vector_below(distance, dimension);  // attained
  double square = 0;
  for (double v : vector) square += v * v;
  const bool enumerable = 2 * gaussian_reach(sigma) + shift < kLargestLattice;
  run.attained = line && !vector.empty() && vector.front() == shift;
  if (enumerable && line) {
    run.upper = discrete_gaussian_line(sigma, shift);
    if (!run.attained && !vector.empty()) run.lower = discrete_gaussian_line(sigma, vector.front());
    return run;
  }
  // A continuous Gaussian a little narrower, rounded at random, is the discrete one up to e^{±η};
  // the discrete one with a little continuous noise is a Gaussian a little wider, up to the same
  // (docs/math/pld.md §2).
  const double d = static_cast<double>(dimension), mu = shift / sigma, variance = sigma * sigma;
  const double little = (kLogSmooth + std::log(d)) / (2 * std::numbers::pi * std::numbers::pi);
  if (variance >= 6 * little) {
    const auto smooth = [](double steps, double v) {
      LossLaw law = gaussian_law(steps / std::sqrt(v));
      law.slack = 5 * std::exp(-kLogSmooth);
      law.shift = 2 * law.slack;
      return law;
    };
    run.attained = false;
    run.upper = smooth(widen_up(shift, 8 * kUlp), variance - little);
    if (vector.size() == 1 && enumerable) {
      run.lower = discrete_gaussian_line(sigma, vector.front());
    } else if (square > 0) {
      const double wider = variance + variance * little / (variance - little);
      run.lower = smooth(widen_down(std::sqrt(square), 8 * kUlp), wider);
    }
    return run;
  }
  run = concentrated_run(0.5 * mu * mu, kInfinity);
  run.lower.reset();
  if (enumerable && !vector.empty()) run.lower = discrete_gaussian_line(sigma, vector.front());
  return run;
}

namespace {

// A mechanism of ε-bounded range with the losses t and t − ε.
LossLaw bounded_range_instance(double epsilon, double t) {
  LossLaw law;
  const double all = std::expm1(-epsilon), p = std::expm1(t - epsilon) / all,
               q = std::expm1(-t) / all;
  law.atoms = {{t, p, p * std::exp(-t)}, {t - epsilon, q * std::exp(t - epsilon), q}};
  return law;
}

}  // namespace

LawRun bounded_range_run(double epsilon) {
  LawRun run;
  run.upper.symmetric = true;
  run.upper.pieces = {ExponentialPiece{-0.5 / std::expm1(-epsilon), epsilon, 1}};
  run.attained = false;
  // The symmetric two-point mechanism of this range: losses ±ε/2.
  run.lower = approximate_law(0.5 * epsilon, 0);
  // Alone, each point of the curve has its own t; in a composition the t of the largest moment is
  // all but the best for all uses.
  run.pointwise = true;
  run.attained_at = [epsilon](double theta) {
    double best = 0.5 * epsilon, largest = -kInfinity;
    for (int i = 1; i < 256; ++i) {
      const double t = epsilon * i / 256;
      const LossLaw law = bounded_range_instance(epsilon, t);
      // ln(p e^{θt} + (1−p) e^{θ(t−ε)})
      const double moment =
          theta * t + std::log(law.atoms[0].p + law.atoms[1].p * std::exp(-theta * epsilon));
      if (moment > largest) largest = moment, best = t;
    }
    return bounded_range_instance(epsilon, best);
  };
  return run;
}

LawRun concentrated_run(double rho, double omega) {
  if (rho == 0) {
    LawRun nothing;
    nothing.upper = gaussian_law(0);
    return nothing;
  }
  // ln of the bound of δ(ε) by one order α; every order is valid, so the minimum need not be exact.
  const auto log_delta = [&](double epsilon, double alpha) {
    const double rounding = 4 * kUlp * (alpha - 1) * (rho * alpha + epsilon);
    return (alpha - 1) * (rho * alpha - epsilon + std::log1p(-1 / alpha)) - std::log(alpha) +
           rounding;
  };
  const double total_variation = std::sqrt(-std::expm1(-rho));  // Bretagnolle–Huber
  const auto bound = [&](double epsilon) {
    // Golden section in ln(α − 1); the minimum lies near α = (ε/ρ + 1)/2.
    double low = std::log(1e-4),
           high = std::log(std::min(std::max(2.0, epsilon / rho + 2), omega - 1));
    for (int i = 0; i < 44 && low < high; ++i) {
      const double a = low + 0.382 * (high - low), b = low + 0.618 * (high - low);
      if (log_delta(epsilon, 1 + std::exp(a)) < log_delta(epsilon, 1 + std::exp(b))) {
        high = b;
      } else {
        low = a;
      }
    }
    const double best = log_delta(epsilon, 1 + std::exp(std::min(low, high)));
    return std::min(total_variation, std::exp(best));
  };
  // Where the bound is e^−200: at the order 1 + √(200/ρ), or at ω if that comes first.
  const double order = std::min(1 + std::sqrt(200 / rho), omega);
  LawRun run;
  run.upper = law_from_curve(rho * order + 200 / (order - 1), 2048, bound);
  run.attained = false;
  run.lower = gaussian_law(std::sqrt(2 * rho));
  return run;
}

}  // namespace sotto
