#include "sotto/accounting/pld/noise_laws.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/outward.hpp"

namespace sotto {
namespace {

constexpr double kLargestLattice = 1 << 20;  // points enumerated at most
constexpr double kLogTail = 330;             // masses of e^{−330} are charged, not enumerated

double whole(double distance) {
  const double nearest = std::round(distance);
  return std::abs(distance - nearest) <= 1e-9 * distance && nearest > 0 ? nearest
                                                                        : std::ceil(distance);
}

}  // namespace

LossLaw gaussian_law(double mu) {
  LossLaw law;
  law.symmetric = true;
  law.pieces = {GaussianPiece{mu, 1, 1}};
  return law;
}

// With noise of scale 1 and shift ε: atoms at ±ε where both outcomes lie on one side of the two centres, and losses 2z − ε between.
LossLaw laplace_law(double epsilon) {
  LossLaw law;
  law.symmetric = true;
  const double small = 0.5 * std::exp(-epsilon);
  law.atoms = {{epsilon, 0.5, small}, {-epsilon, small, 0.5}};
  law.pieces = {ExponentialPiece{0.25 * std::exp(-0.5 * epsilon), epsilon, 1}};
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

LawRun discrete_laplace_run(double scale, double distance) {
  constexpr double kBlocks = 1 << 14;
  const double alpha = 1 / scale, m = whole(distance), end = m * alpha;
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
    const double q = level * std::exp(-a * alpha) * (std::expm1(-w * alpha) / std::expm1(-alpha)),
                 p = q * std::exp(loss);
    merged.atoms.push_back({loss, p, q});
    if (w == 1) {
      run.upper.atoms.push_back({loss, p, q});
    } else {
      // The block becomes two atoms at its ends that keep both masses.
      const double high = p / (1 + std::exp(-half)), low = p / (1 + std::exp(half));
      run.upper.atoms.push_back({loss + half, high, high * std::exp(-loss - half)});
      run.upper.atoms.push_back({loss - half, low, low * std::exp(half - loss)});
    }
  }
  if (width > 1) {
    run.attained = false;
    run.lower = std::move(merged);
  }
  return run;
}

LawRun discrete_gaussian_run(double sigma, double distance, std::uint64_t dimension) {
  LawRun run;
  const double shift = whole(distance), reach = std::sqrt(2 * kLogTail) * sigma + 2;
  const bool enumerable = 2 * reach + shift < kLargestLattice;
  LossLaw line;  // one dimension, the whole shift in it
  if (enumerable) {
    line.symmetric = true;
    const double limit = std::ceil(reach);
    double total = 1;
    for (double z = limit; z >= 1; --z) total += 2 * std::exp(-0.5 * (z / sigma) * (z / sigma));
    for (double z = -limit; z <= shift + limit; ++z) {
      const double q = std::exp(-0.5 * (z / sigma) * (z / sigma)) / total;
      const double p = std::exp(-0.5 * ((z - shift) / sigma) * ((z - shift) / sigma)) / total;
      if (p > 0 || q > 0) line.atoms.push_back({shift / sigma * ((z - 0.5 * shift) / sigma), p, q});
    }
    line.charged = std::exp(-kLogTail);  // P[Z ≥ z] ≤ e^{−z²/2σ²}
  }
  if (enumerable && dimension == 1) {
    run.upper = std::move(line);
    return run;
  }
  // A continuous Gaussian rounded to the lattice has the same masses up to e^{±η} where ‖z‖ ≤ kσ; beyond is a χ² tail.
  const double d = static_cast<double>(dimension), mu = (dimension == 1 ? shift : distance) / sigma;
  const double k = std::sqrt(d + 2 * std::sqrt(d * kLogTail) + 2 * kLogTail) + mu;
  const double eta = (k * k + d) / (24 * sigma * sigma);
  if (sigma >= 4 && (2 * eta <= 1e-4 * mu || !enumerable)) {
    run.upper = gaussian_law(mu);
    run.upper.shift = 2 * eta;
    run.upper.slack = eta;
    run.upper.charged = std::exp(-kLogTail);
    return run;
  }
  run = concentrated_run(0.5 * mu * mu, kInfinity);
  if (enumerable) run.lower = std::move(line);
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
  run.upper.pieces = {ExponentialPiece{0.25 / std::sinh(0.5 * epsilon), epsilon, 1}};
  run.attained = false;
  // The symmetric two-point mechanism of this range: losses ±ε/2.
  run.lower = approximate_law(0.5 * epsilon, 0);
  // Alone, each point of the curve has its own t; in a composition the t of the largest moment is all but the best for all uses.
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
  // ln of the bound of δ(ε) by one order α; every order is valid, so the minimum need not be exact.
  const auto log_delta = [&](double epsilon, double alpha) {
    return (alpha - 1) * (rho * alpha - epsilon + std::log1p(-1 / alpha)) - std::log(alpha);
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
    return std::min(total_variation, std::exp(best)) * (1 + 1e-12);
  };
  double end = rho + 2 * std::sqrt(rho * 200);
  if (std::isfinite(omega)) end = std::max(end, rho * omega + 200 / (omega - 1));
  constexpr int kKnots = 2048;
  std::vector<double> epsilons, deltas;
  for (int i = -kKnots; i <= kKnots; ++i) {
    const double x = end * i / kKnots, tail = bound(std::abs(x));
    epsilons.push_back(x);
    deltas.push_back(i >= 0 ? tail : -std::expm1(x) + std::exp(x) * tail);
  }
  LawRun run;
  run.upper = law_from_curve(std::move(epsilons), std::move(deltas));
  run.upper.symmetric = true;
  run.attained = false;
  run.lower = gaussian_law(std::sqrt(2 * rho));
  return run;
}

}  // namespace sotto
