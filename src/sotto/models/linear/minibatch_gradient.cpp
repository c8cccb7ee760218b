#include "sotto/models/linear/detail/minibatch_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/noisy_gradient.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"
#include "sotto/models/linear/detail/row_selection.hpp"
#include "sotto/noise/poisson_sample.hpp"

namespace sotto {
namespace {

constexpr double kPasses = 20, kNoiseTravel = 10;
constexpr int kBatchSigmaBits = 40;  // lattice steps in one standard deviation, about

double batch_slope_norm(std::size_t outputs) { return outputs == 1 ? 1.0 : std::sqrt(2.0); }

MinibatchOptions settled(MinibatchOptions o, std::uint64_t rows, std::size_t dimension,
                         double noise_multiplier) {
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (o.outputs == 0) throw InvalidArgument("outputs is 0; it must be at least 1");
  if (!(o.batch > 0)) {
    throw InvalidArgument(
        fmt::format("the batch is {}; its expected size must be above 0", o.batch));
  }
  if (!(o.radius >= 0) || !(o.regularisation >= 0)) {
    throw InvalidArgument(
        fmt::format("radius is {} and regularisation is {}; both must be at "
                    "least 0",
                    o.radius, o.regularisation));
  }
  if (!(noise_multiplier > 0 && std::isfinite(noise_multiplier))) {
    throw InvalidArgument(
        fmt::format("the noise multiplier is {}; it must be a number above 0", noise_multiplier));
  }
  o.batch = std::min(o.batch, static_cast<double>(rows));
  if (o.iterations == 0)
    o.iterations =
        static_cast<std::uint64_t>(std::ceil(kPasses * static_cast<double>(rows) / o.batch));
  if (!(o.learning_rate > 0)) {
    const double noise = noise_multiplier * batch_slope_norm(o.outputs) *
                         std::sqrt(static_cast<double>(dimension * o.outputs)) / o.batch;
    o.learning_rate =
        std::min(1 / curvature_bound(o.loss),
                 kNoiseTravel / (noise * std::sqrt(static_cast<double>(o.iterations))));
  }
  return o;
}

ExactRows::SlopeGrid batch_slope_grid(std::size_t outputs, double noise_multiplier) {
  const double norm = batch_slope_norm(outputs), sigma = norm * noise_multiplier;
  const int bits =
      kBatchSigmaBits - ExactRows::kRowBits - static_cast<int>(std::ceil(std::log2(sigma)));
  return {.norm = norm, .bits = std::clamp(bits, 8, ExactRows::kMaximalSlopeBits)};
}

// In lattice steps. ℓ1 is not used by Gaussian noise.
Distance batch_distance(const ExactRows::SlopeGrid& grid, Relation relation) {
  const double l2 = grid.norm * contribution_factor(relation) / grid.unit();
  return {.l1 = l2, .l2 = std::nextafter(l2, 2 * l2)};
}

Budget step_budget(Relation relation, double noise_multiplier) {
  const double distances = contribution_factor(relation) / noise_multiplier;
  return Budget::zcdp(distances * distances / 2);
}

void project(std::vector<double>& theta, double radius) {
  double square = 0;
  for (const double v : theta) square += v * v;
  if (radius == 0 || !(square > radius * radius)) return;
  for (double& v : theta) v *= radius / std::sqrt(square);
}

}  // namespace

MinibatchGradientPlan::MinibatchGradientPlan(MinibatchOptions options, Relation relation,
                                             std::uint64_t rows, std::size_t dimension,
                                             double noise_multiplier)
    : options_(settled(options, rows, dimension, noise_multiplier)),
      rows_(rows),
      dimension_(dimension),
      rate_(options_.batch / static_cast<double>(rows)),
      grid_(batch_slope_grid(options_.outputs, noise_multiplier)),
      noise_(relation, step_budget(relation, noise_multiplier), grid_.unit(),
             batch_distance(grid_, relation), dimension * options_.outputs) {}

Event MinibatchGradientPlan::event() const {
  return repeat(poisson_sampled(noise_.event(), rate_), options_.iterations);
}

std::string MinibatchGradientPlan::describe() const {
  return fmt::format(
      "{} steps of gradient descent on the {} loss, each on a Poisson sample of rate {:.4g} "
      "(expected size {:.4g}), gradient sums noised by a discrete Gaussian of standard deviation "
      "{:.4g}; step size {:.4g}, {}{}",
      options_.iterations, name(options_.loss), rate_, options_.batch, noise_.scale(),
      options_.learning_rate,
      options_.average ? "average of the second half of the iterates" : "last iterate",
      options_.radius > 0 ? fmt::format(", projected to norm {:.4g}", options_.radius) : "");
}

Release<LinearModel> MinibatchGradientPlan::run(const ExactRows& rows, Rng& rng,
                                                Progress* progress) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  const std::size_t size = dimension_ * options_.outputs;
  const double unit = grid_.unit(), divisor = rate_ * static_cast<double>(rows_);
  std::vector<double> theta(size), sum(size);
  std::vector<std::size_t> numbers;
  std::uint64_t averaged = 0;
  for (std::uint64_t step = 0; step < options_.iterations; ++step) {
    ExactRows::admit(theta, options_.outputs);
    Rng sampler = rng.split();  // the main stream does not tell how many records there are
    poisson_sample(
        rows.size(), rate_, [&] { return sampler.next_u64(); }, numbers);
    const ExactRows batch = select_rows(rows, numbers);
    const std::vector<int128> total = batch.weighted_sum(
        theta, options_.outputs, slopes_of(options_.loss, options_.outputs, batch), grid_,
        options_.threads);
    const std::vector<int128> noisy = noise_.add(total, rng);
    for (std::size_t j = 0; j < size; ++j) {
      const double gradient =
          static_cast<double>(noisy[j]) * unit / divisor + options_.regularisation * theta[j];
      theta[j] -= options_.learning_rate * gradient;
    }
    project(theta, options_.radius);
    if (step >= options_.iterations / 2) {
      for (std::size_t j = 0; j < size; ++j) sum[j] += theta[j];
      ++averaged;
    }
    if (progress != nullptr) progress->advance(step + 1);
  }
  if (options_.average) {
    for (std::size_t j = 0; j < size; ++j) theta[j] = sum[j] / static_cast<double>(averaged);
  }
  return {model_for(rows, options_.loss, options_.outputs, std::move(theta)), *this};
}

}  // namespace sotto
