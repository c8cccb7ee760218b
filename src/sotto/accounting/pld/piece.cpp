#include "sotto/accounting/pld/piece.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "sotto/accounting/pld/detail/quadrature.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

const double kInvSqrt2Pi = 1 / std::sqrt(2 * std::numbers::pi);

double phi(double z) { return kInvSqrt2Pi * std::exp(-0.5 * z * z); }

// ∫ (N(μ,1) − e^ε N(0,1))₊ for every ε; the pair is its own mirror image.
double gaussian_stick(double mu, double epsilon) {
  if (epsilon >= 0) return std::exp(gaussian_log_delta(mu, epsilon));
  return -std::expm1(epsilon) + std::exp(epsilon + gaussian_log_delta(mu, -epsilon));
}

// The hockey stick of ((1−γ)B + γA, B) from that of a symmetric base pair, and of the swapped pair.
template <class Base>
double sampled_hockey_stick(double epsilon, double gamma, double mass, const Base& base) {
  if (gamma == 1) return base(epsilon);
  if (epsilon <= std::log1p(-gamma)) return -std::expm1(epsilon) * mass;
  return gamma * base(base_loss(epsilon, gamma));
}

template <class Base>
double sampled_reverse(double epsilon, double gamma, const Base& base) {
  if (gamma == 1) return base(epsilon);
  const double factor = -std::expm1(epsilon + std::log1p(-gamma));
  if (factor <= 0) return 0;
  return factor * base(epsilon + std::log(gamma) - std::log(factor));
}

}  // namespace

double sampled_loss(double l, double gamma) {
  if (gamma == 1) return l;
  if (l > 30) return l + std::log(gamma) + std::log1p((1 - gamma) / gamma * std::exp(-l));
  const double x = gamma * std::expm1(l);
  // Near −1 nothing would be left of what a sample without the record keeps, 1 − γ.
  return x > -0.5 ? std::log1p(x) : std::log((1 - gamma) + gamma * std::exp(l));
}

double base_loss(double sampled, double gamma) {
  if (gamma == 1) return sampled;
  if (sampled > 30)
    return sampled - std::log(gamma) + std::log1p(-(1 - gamma) * std::exp(-sampled));
  const double x = std::expm1(sampled) / gamma;
  return x <= -1 ? -kInfinity : std::log1p(x);
}

// ---- Gaussian ----

double GaussianPiece::low(double tail) const { return -normal_quantile_upper(std::log(tail)); }
double GaussianPiece::high(double tail) const {
  // P above z is at most SF(z) + γ·SF(z − μ): half of the tail each.
  const double half = std::log(tail) - std::numbers::ln2;
  return std::max(normal_quantile_upper(half),
                  mu + normal_quantile_upper(std::min(half - std::log(gamma), -std::numbers::ln2)));
}

PieceNode GaussianPiece::at(double z) const {
  const double l = mu * (z - 0.5 * mu), q = weight * phi(z);
  if (gamma == 1) return {weight * phi(z - mu), q, l};
  if (l > 30) return {weight * gamma * phi(z - mu) + (1 - gamma) * q, q, sampled_loss(l, gamma)};
  const double x = gamma * std::expm1(l);
  if (x > -0.5) return {q + q * x, q, std::log1p(x)};
  const double kept = (1 - gamma) + gamma * std::exp(l);
  return {q * kept, q, std::log(kept)};
}

double GaussianPiece::where(double loss, double) const {
  return base_loss(loss, gamma) / mu + 0.5 * mu;
}
double GaussianPiece::growth(double z) const { return std::abs(z) + mu + 4; }
PieceTail GaussianPiece::below(double z) const {
  const double q = normal_sf(-z);
  return {weight * ((1 - gamma) * q + gamma * normal_sf(mu - z)), weight * q};
}
PieceTail GaussianPiece::above(double z) const {
  const double q = normal_sf(z);
  return {weight * ((1 - gamma) * q + gamma * normal_sf(z - mu)), weight * q};
}

double GaussianPiece::hockey_stick(double epsilon) const {
  return weight *
         sampled_hockey_stick(epsilon, gamma, 1, [&](double e) { return gaussian_stick(mu, e); });
}
double GaussianPiece::reverse_hockey_stick(double epsilon) const {
  return weight * sampled_reverse(epsilon, gamma, [&](double e) { return gaussian_stick(mu, e); });
}

// ---- Exponential ----

PieceNode ExponentialPiece::at(double l) const {
  const double q = top * std::exp(-0.5 * (l + range)), a = top * std::exp(0.5 * (l - range));
  return {(1 - gamma) * q + gamma * a, q, sampled_loss(l, gamma)};
}

double ExponentialPiece::where(double loss, double) const {
  const double l = base_loss(loss, gamma);
  return l < -range ? -kInfinity : l > range ? kInfinity : l;
}

namespace {
// ∫ (dA − e^{l0} dB)₊ over [−range, range]: a square, because ∫ (e^{l/2} − e^{l0 − l/2}) dl
// telescopes.
double exponential_base_stick(const ExponentialPiece& piece, double l0) {
  if (l0 >= piece.range) return 0;
  const double s = std::expm1(0.5 * (std::max(l0, -piece.range) - piece.range));
  double stick = 2 * piece.top * s * s;
  if (l0 < -piece.range) stick += (std::exp(-piece.range) - std::exp(l0)) * piece.mass();
  return stick;
}
}  // namespace

double ExponentialPiece::mass() const { return -2 * top * std::expm1(-range); }
// A above l is 2·top·(1 − e^{(l−range)/2}), and B the same times e^{−(l+range)/2}; below −l both
// have changed places.
PieceTail ExponentialPiece::above(double l) const {
  if (!(l < range)) return {};
  const double from = std::max(l, -range), a = -2 * top * std::expm1(0.5 * (from - range));
  const double b = a * std::exp(-0.5 * (from + range));
  return {(1 - gamma) * b + gamma * a, b};
}
PieceTail ExponentialPiece::below(double l) const {
  if (!(l > -range)) return {};
  const double to = std::min(l, range), b = -2 * top * std::expm1(-0.5 * (to + range));
  const double a = b * std::exp(0.5 * (to - range));
  return {(1 - gamma) * b + gamma * a, b};
}
double ExponentialPiece::hockey_stick(double epsilon) const {
  return sampled_hockey_stick(epsilon, gamma, mass(),
                              [&](double e) { return exponential_base_stick(*this, e); });
}
double ExponentialPiece::reverse_hockey_stick(double epsilon) const {
  return sampled_reverse(epsilon, gamma,
                         [&](double e) { return exponential_base_stick(*this, e); });
}

// ---- Mixture ----

double MixturePiece::mass() const {
  double sum = 0;
  for (double w : p_weights) sum += w;
  return sum;
}

double MixturePiece::low(double tail) const {
  return *std::min_element(q_means.begin(), q_means.end()) - normal_quantile_upper(std::log(tail));
}
double MixturePiece::high(double tail) const {
  return *std::max_element(p_means.begin(), p_means.end()) + normal_quantile_upper(std::log(tail));
}

namespace {
// A mixture beside N(0,1): Σ w_i (e^{m_i(z − m_i/2)} − 1), its derivative, and Σ w_i.
struct Excess {
  double above = 0, slope = 0, mass = 0;
};
Excess excess_of(const std::vector<double>& weights, const std::vector<double>& means, double z) {
  Excess x;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double m = means[i], w = weights[i];
    x.mass += w;
    if (m == 0) continue;
    const double e = w * std::expm1(m * (z - 0.5 * m));
    x.above += e;
    x.slope += m * (w + e);
  }
  return x;
}

// ln of a mixture by its largest term.
double log_mixture(const std::vector<double>& w, const std::vector<double>& m, double z) {
  double best = -kInfinity, sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (w[i] > 0) best = std::max(best, std::log(w[i]) - 0.5 * (z - m[i]) * (z - m[i]));
  for (std::size_t i = 0; i < m.size(); ++i)
    if (w[i] > 0) sum += std::exp(std::log(w[i]) - 0.5 * (z - m[i]) * (z - m[i]) - best);
  return best + std::log(sum);
}

double posterior_mean(const std::vector<double>& w, const std::vector<double>& m, double z) {
  double best = -kInfinity, sum = 0, mean = 0;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (w[i] > 0) best = std::max(best, m[i] * (z - 0.5 * m[i]));
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double weight = w[i] * std::exp(m[i] * (z - 0.5 * m[i]) - best);
    sum += weight;
    mean += weight * m[i];
  }
  return mean / sum;
}

// Both densities relative to N(0,1): ratios stay moderate where the density does. Near 0 a ratio
// would be what is left of 1. Weights of P and of Q have one sum, which is below 1 in a part of a
// law.
struct Ratios {
  Excess p, q;
  Ratios(const MixturePiece& x, double z)
      : p(excess_of(x.p_weights, x.p_means, z)), q(excess_of(x.q_weights, x.q_means, z)) {}
  bool moderate() const {
    return p.above > -0.5 * p.mass && p.above < kInfinity && q.above > -0.5 * q.mass &&
           q.above < kInfinity;
  }
  double loss() const {
    const double of_p = std::log1p(p.above / p.mass);
    return q.above == 0 ? of_p : of_p - std::log1p(q.above / q.mass);
  }
  // The loss is ln of a ratio of mixtures, so its slope is the difference of two posterior means.
  double slope() const { return p.slope / (p.mass + p.above) - q.slope / (q.mass + q.above); }
};
}  // namespace

PieceNode MixturePiece::at(double z) const {
  const Ratios ratios(*this, z);
  const double base = phi(z);
  if (ratios.moderate() && base > 0)
    return {base * (ratios.p.mass + ratios.p.above), base * (ratios.q.mass + ratios.q.above),
            ratios.loss()};
  double pp = 0, qq = 0;
  for (std::size_t i = 0; i < p_means.size(); ++i) pp += p_weights[i] * phi(z - p_means[i]);
  for (std::size_t i = 0; i < q_means.size(); ++i) qq += q_weights[i] * phi(z - q_means[i]);
  return {pp, qq, log_mixture(p_weights, p_means, z) - log_mixture(q_weights, q_means, z)};
}

MixturePiece::Slope MixturePiece::loss_and_slope(double z) const {
  const Ratios ratios(*this, z);
  if (ratios.moderate()) return {ratios.loss(), ratios.slope()};
  return {log_mixture(p_weights, p_means, z) - log_mixture(q_weights, q_means, z),
          posterior_mean(p_weights, p_means, z) - posterior_mean(q_weights, q_means, z)};
}

double MixturePiece::where(double loss, double hint) const {
  // Newton's method kept inside a bracket; a cell of the grid takes two or three steps from its
  // neighbour. The loss may be flat for a long way before it rises, so a step that leads out of
  // reach says nothing: the end of the reach is asked.
  const double reach = 2 * (45 + *std::max_element(p_means.begin(), p_means.end()) -
                            *std::min_element(q_means.begin(), q_means.end()));
  double low = -kInfinity, high = kInfinity, z = std::clamp(hint, -reach, reach);
  for (int i = 0; i < 200; ++i) {
    const auto [here, slope] = loss_and_slope(z);
    const double miss = here - loss;
    if (miss == 0) return z;
    if (miss < 0 && z >= reach) return kInfinity;
    if (miss > 0 && z <= -reach) return -kInfinity;
    (miss < 0 ? low : high) = z;
    double next = z - miss / slope;
    if (!(next > low && next < high)) {
      next = std::isinf(low)    ? high - 1 - std::abs(high)
             : std::isinf(high) ? low + 1 + std::abs(low)
                                : 0.5 * (low + high);
    }
    next = std::clamp(next, -reach, reach);
    if (std::abs(next - z) <= 1e-15 * (1 + std::abs(z))) return next;
    z = next;
  }
  return z;
}

double MixturePiece::growth(double z) const {
  double reach = 0;
  for (double m : p_means) reach = std::max(reach, std::abs(z - m));
  for (double m : q_means) reach = std::max(reach, std::abs(z - m));
  return reach + 4;
}

PieceTail MixturePiece::below(double z) const {
  PieceTail t;
  for (std::size_t i = 0; i < p_means.size(); ++i) t.p += p_weights[i] * normal_sf(p_means[i] - z);
  for (std::size_t i = 0; i < q_means.size(); ++i) t.q += q_weights[i] * normal_sf(q_means[i] - z);
  return t;
}
PieceTail MixturePiece::above(double z) const {
  PieceTail t;
  for (std::size_t i = 0; i < p_means.size(); ++i) t.p += p_weights[i] * normal_sf(z - p_means[i]);
  for (std::size_t i = 0; i < q_means.size(); ++i) t.q += q_weights[i] * normal_sf(z - q_means[i]);
  return t;
}

namespace {
// Calls f(from, to) for the parts of [from, to] that are near one of the means: elsewhere a density
// is below the smallest double, and means may be thousands of standard deviations apart.
template <class F>
void near_means(std::vector<double> means, double from, double to, F&& f) {
  constexpr double kNear = 39;
  std::ranges::sort(means);
  for (const double m : means) {
    const double end = std::min(to, m + kNear);
    from = std::max(from, m - kNear);
    if (!(from < end)) continue;
    f(from, end);
    from = end;
  }
}
constexpr double kFar = 45;  // e^−45 is below half a rounding

// a − e^ε b where it keeps enough digits; nothing where it would cancel or leave the range of
// doubles.
std::optional<double> difference(double a, double b, double epsilon) {
  if (epsilon > 600 || b < 1e-290) return std::nullopt;
  const double d = a - std::exp(epsilon) * b;
  return d > 0.02 * a ? std::optional(d) : std::nullopt;
}
}  // namespace

double MixturePiece::hockey_stick(double epsilon) const {
  const double top = high(1e-300);
  const double from = std::clamp(where(epsilon), low(1e-300), top);
  // P exceeds e^ε Q exactly above `from`.
  const PieceTail tail = above(from);
  if (const auto d = difference(tail.p, tail.q, epsilon)) return *d;
  // Where the loss is far above ε, e^ε Q is nothing beside P.
  const double far = std::clamp(where(epsilon + kFar, from), from, top);
  double sum = above(far).p;
  near_means(p_means, from, far, [&](double a, double b) {
    for_each_node(*this, a, b, [&](const PieceNode& n, double w) {
      sum += w * n.p * std::max(0.0, -std::expm1(epsilon - n.loss));
    });
  });
  return sum;
}
double MixturePiece::reverse_hockey_stick(double epsilon) const {
  const double bottom = low(1e-300);
  const double to = std::clamp(where(-epsilon), bottom, high(1e-300));
  const PieceTail tail = below(to);
  if (const auto d = difference(tail.q, tail.p, epsilon)) return *d;
  const double far = std::clamp(where(-epsilon - kFar, to), bottom, to);
  double sum = below(far).q;
  near_means(q_means, far, to, [&](double a, double b) {
    for_each_node(*this, a, b, [&](const PieceNode& n, double w) {
      sum += w * n.q * std::max(0.0, -std::expm1(epsilon + n.loss));
    });
  });
  return sum;
}

}  // namespace sotto
