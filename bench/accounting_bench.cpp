// The privacy loss accountant: milliseconds for an ε with certified bounds on both sides, and the
// ratio to a plain composition (same quadrature, fixed grid of 1e-4, no tilt, upper bound only)
// measured in the same run.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "interleaved.hpp"
#include "sotto/accounting/pld/noise_laws.hpp"
#include "sotto/accounting/pld/pld_accountant.hpp"

namespace {

using namespace sotto;

// Processor time: what other programs do at the same time does not count.
double milliseconds(int repeats, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const double start = bench::process_seconds();
    work();
    best = std::min(best, 1e3 * (bench::process_seconds() - start));
  }
  return best;
}

struct Workload {
  double rate, sigma;
  std::uint64_t steps;
  double delta;
};

Spec dpsgd(const Workload& w) {
  return {Relation::add_remove,
          {repeat(poisson_sampled(GaussianEvent::from_multiplier(w.sigma), w.rate), w.steps)}};
}

// What accountants with a fixed grid do: both directions, no tilt.
double fixed_grid(const Workload& w) {
  const double h = 1e-4;
  const CellGrid grid = discretise(sampled_law(gaussian_law(1 / w.sigma), w.rate), h, 1e-21);
  const std::vector<StepRun> removal{{grid.upper_step(), w.steps}},
      addition{{grid.mirrored().upper_step(), w.steps}};
  const WindowTarget target{4 * std::log(1 / w.delta), std::log(w.delta)};
  constexpr std::size_t kLargest = std::size_t{1} << 22;
  return std::max(TiltedSum(removal, h, 0, BoundSide::upper, kLargest, target).epsilon(w.delta),
                  TiltedSum(addition, h, 0, BoundSide::upper, kLargest, target).epsilon(w.delta));
}

}  // namespace

int main() {
  const Workload workloads[] = {
      {0.01, 1, 1000, 1e-5},      {0.01, 1, 10000, 1e-5},       {0.001, 1, 100000, 1e-6},
      {0.001, 0.6, 100000, 1e-6}, {0.004267, 1.1, 14062, 1e-5}, {0.04, 1.5, 2250, 1e-5},
      {0.1, 3, 512, 1e-6},        {0.1, 5, 10000, 1e-6},        {0.25, 4, 400, 1e-6},
      {0.01, 0.5, 1000, 1e-5},    {0.01, 4, 10000, 1e-60}};
  fmt::print("{:<32}{:>12}{:>12}{:>10}{:>10}{:>12}{:>8}\n", "rate sigma steps delta", "epsilon",
             "lower", "ms 1e-3", "ms 1e-5", "ms fixed", "ratio");
  for (const Workload& w : workloads) {
    Bound b;
    const double fast = milliseconds(7, [&] { b = pld_epsilon(dpsgd(w), Delta(w.delta), 1e-3); });
    const double fine = milliseconds(2, [&] { pld_epsilon(dpsgd(w), Delta(w.delta), 1e-5); });
    double fixed = 0;
    const double slow = milliseconds(2, [&] { fixed = fixed_grid(w); });
    fmt::print("{:<32}{:>12.6f}{:>12.6f}{:>10.2f}{:>10.1f}{:>12.1f}{:>8.1f}\n",
               fmt::format("{} {} {} {}", w.rate, w.sigma, w.steps, w.delta), b.upper, b.lower,
               fast, fine, slow, slow / fast);
  }

  Spec many;
  for (int i = 0; i < 1000; ++i) {
    many.events.push_back(
        poisson_sampled(GaussianEvent::from_multiplier(0.8 + 0.002 * i), 0.005 + 1e-5 * i));
  }
  Bound b;
  const double hetero = milliseconds(1, [&] { b = pld_epsilon(many, Delta(1e-5), 1e-3); });
  fmt::print("1000 different sampled Gaussians: epsilon {:.5f} (lower {:.5f}), {:.0f} ms\n",
             b.upper, b.lower, hetero);

  double low = 1,
         high =
             // σ for (1, 1e-5), q = 0.01, 10 000 steps: coarse questions first, then the tolerance
         // wanted
         20;
  int questions = 0;
  const double calibrate = milliseconds(1, [&] {
    for (double tolerance : {1e-2, 1e-3, 1e-4}) {
      for (int i = 0; i < 5; ++i, ++questions) {
        const double mid = 0.5 * (low + high);
        const Bound at = pld_epsilon(dpsgd({0.01, mid, 10000, 1e-5}), Delta(1e-5), tolerance);
        if (at.upper <= 1) high = mid;
        if (at.lower > 1) low = mid;
      }
    }
  });
  fmt::print("calibration by bisection: sigma in [{:.5f}, {:.5f}] after {} questions, {:.0f} ms\n",
             low, high, questions, calibrate);

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("largest memory {} MB (the fixed grid included)\n", usage.ru_maxrss / 1024);
}
