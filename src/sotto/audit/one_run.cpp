#include "sotto/audit/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::audit {
namespace {

void check(const OneRun& run) {
  if (run.canaries == 0 || run.guesses > run.canaries || run.correct > run.guesses)
    throw InvalidArgument(
        fmt::format("{} canaries, {} guesses, {} of them right", run.canaries, run.guesses,
                    run.correct),
        "there is at least one canary, at most as many guesses as canaries, at most as many right "
        "ones as guesses");
}

// P[X ≥ k] of a binomial law.
double at_least(std::uint64_t k, std::uint64_t trials, double p) {
  if (k == 0) return 1;
  if (k > trials) return 0;
  return boost::math::ibeta(static_cast<double>(k), static_cast<double>(trials - k) + 1, p);
}

double log_mass(std::uint64_t k, std::uint64_t trials, double epsilon) {
  const auto n = static_cast<double>(trials), x = static_cast<double>(k);
  return std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * epsilon -
         n * (epsilon > 30 ? epsilon + std::log1p(std::exp(-epsilon))
                           : std::log1p(std::exp(epsilon)));
}

// The largest x in [0, most] with good(x), which holds below some point only; 0 when not even
// there.
template <class Good>
double last_good(double most, const Good& good) {
  if (!good(0.0)) return 0;
  double low = 0, high = 1;
  while (high < most && good(high)) low = high, high *= 2;
  for (int i = 0; i < 100 && high - low > 1e-13 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (good(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double one_run_p_value(const OneRun& run, double epsilon, double delta) {
  check(run);
  const double p = 1 / (1 + std::exp(-epsilon));
  const double beta = at_least(run.correct, run.guesses, p);
  if (delta == 0) return beta;
  // (1/i)·P[v − i ≤ X < v]: a mean of masses that grow towards the mode, so i stops mattering
  // where the next mass is below the mean.
  double mass = 0, worst = 0;
  for (std::uint64_t i = 1; i <= run.correct; ++i) {
    const double next = std::exp(log_mass(run.correct - i, run.guesses, epsilon));
    mass += next;
    worst = std::max(worst, mass / static_cast<double>(i));
    if (next < 1e-3 * worst && i > 10) break;
  }
  return std::min(1.0, beta + 2 * static_cast<double>(run.canaries) * delta * worst);
}

double one_run_epsilon(const OneRun& run, double delta, double alpha) {
  check(run);
  return last_good(1e3, [&](double e) { return one_run_p_value(run, e, delta) < alpha; });
}

double one_run_ceiling(const OneRun& run, double delta, double alpha) {
  return one_run_epsilon({run.canaries, run.guesses, run.guesses}, delta, alpha);
}

namespace {

// Whether more than alpha can be put on v or more right guesses of r, among m canaries, when
// whatever happens with probability x without a canary happens with at most 1 − f(x) with it.
bool refuted(const OneRun& run, double mu, double alpha) {
  const auto m = static_cast<double>(run.canaries), r = static_cast<double>(run.guesses),
             v = static_cast<double>(run.correct);
  double right = alpha * v / m, wrong = alpha * (r - v) / m;
  for (double i = v - 1; i >= 0; --i) {
    // What one wrong guess may have while a right one has `right`: the trade-off read backwards.
    const double next = std::max(wrong, gaussian_tradeoff(mu, 1 - std::min(1.0, right)));
    if (r - i > 0) right += i / (r - i) * (next - wrong);
    wrong = next;
    if (right + wrong > r / m) return true;
  }
  return false;
}

}  // namespace

GaussianEstimate one_run_gaussian_estimate(const OneRun& run, double delta, double alpha) {
  check(run);
  const double mu = last_good(100, [&](double x) {
    return x == 0 ? one_run_p_value(run, 0, 0) < alpha : refuted(run, x, alpha);
  });
  if (mu == 0) return {0, 0};
  return {mu, delta == 0 ? HUGE_VAL : gaussian_epsilon_lower(mu, Delta(delta))};
}

}  // namespace sotto::audit
