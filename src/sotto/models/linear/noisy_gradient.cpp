#include "sotto/models/linear/detail/noisy_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/bent_share.hpp"
#include "sotto/models/linear/detail/slope_kernels.hpp"

namespace sotto {
namespace {

// How many slope norms the sum moves by between neighbours.
double factor(const NoisyGradientOptions& options, Relation relation) {
  return contribution_factor(relation) * static_cast<double>(options.contributions);
}

double slope_norm(std::size_t outputs) { return outputs == 1 ? 1.0 : std::sqrt(2.0); }

// The largest eigenvalue of one record's Hessian: ½ for softmax, else that of the loss.
double curvature(const NoisyGradientOptions& options) {
  const bool softmax = options.outputs > 1 && options.loss == Loss::logistic;
  return softmax ? 0.5 : curvature_bound(options.loss);
}

constexpr int kSigmaBits = 40;  // lattice steps in one standard deviation, about

constexpr double kFewestSteps = 60, kMostSteps = 400;
// Steps over many rows take long: a metric takes their place earlier.
constexpr std::uint64_t kManyRows = 1 << 16;
constexpr double kMostLongSteps = 200;
constexpr std::uint64_t kMetricSteps = 8, kFewMetricSteps = 5;
constexpr std::uint64_t kVeryManyRows = 1 << 18;  // from so many on a few steps are enough
constexpr double kMetricShare = 0.3;              // of ρ
constexpr std::size_t kMetricLimit = 600;         // dimensions: the metric has their square

// The noise of one coordinate of one mean gradient, were the whole ρ spent on it.
double coordinate_noise(const NoisyGradientOptions& options, Relation relation, std::uint64_t rows,
                        double rho) {
  return slope_norm(options.outputs) * factor(options, relation) / std::sqrt(2 * Rho(rho).value()) /
         static_cast<double>(rows);
}

// Steps of full norm that the noise is meant for.
double paid_steps(const NoisyGradientOptions& options) {
  const auto steps = static_cast<double>(options.iterations);
  const double share = options.typical_norm.value_or(1);
  return std::max(1.0, steps * share * share);
}

void check_scale(const NoisyGradientOptions& options, std::size_t dimension) {
  if (!options.scale) return;
  if (options.loss != Loss::squared || options.outputs != 1)
    throw InvalidArgument("`scale` is for the squared loss of one output");
  if (options.typical_norm)
    throw InvalidArgument("`scale` takes no typical norm: it finds the norm of gradients itself");
  if (!(options.scale->farther > 0) || !std::isfinite(options.scale->farther))
    throw InvalidArgument("`farther` must be a finite number above 0");
  for (const GradientScale::Run& run : options.scale->bends) {
    if (run.count == 0 || run.first > dimension || run.count > dimension - run.first)
      throw InvalidArgument("`bends` are runs of coordinates of a row");
  }
}

// The steps before which the norms of gradients are looked at: the first, and when a tenth and
// about a third are done.
std::vector<std::uint64_t> looks_of(const NoisyGradientOptions& options) {
  std::vector<std::uint64_t> looks = {0};
  for (const std::uint64_t next : {options.iterations / 10, options.iterations * 7 / 20})
    if (next > looks.back()) looks.push_back(next);
  return looks;
}

// Checks the options and fills in what is left to the public rule.
NoisyGradientOptions settled(NoisyGradientOptions options, Relation relation, std::uint64_t rows,
                             std::size_t dimension, double rho) {
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (options.contributions == 0)
    throw InvalidArgument("contributions is 0; it must be at least 1");
  if (options.outputs == 0) throw InvalidArgument("outputs is 0; it must be at least 1");
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    throw InvalidArgument(
        fmt::format("momentum is {}; it must be at least 0 and below 1", options.momentum));
  }
  if (options.typical_norm && !(*options.typical_norm > 0 && *options.typical_norm <= 1)) {
    throw InvalidArgument(fmt::format("`typical_norm` is {}; it must be above 0 and at most 1",
                                      *options.typical_norm));
  }
  const auto bad_pace = [](double pace) { return !(pace > 0 && pace <= 1); };
  if (!options.paces.empty() && (options.paces.size() != dimension ||
                                 std::any_of(options.paces.begin(), options.paces.end(), bad_pace)))
    throw InvalidArgument("`paces` are above 0 and at most 1, one for each coordinate");
  check_scale(options, dimension);
  const double noise =
      coordinate_noise(options, relation, rows, rho) * options.typical_norm.value_or(1);
  double distance = options.noise_travel / noise * (1 - options.momentum);  // η·T
  const double stable = 2 * (1 + options.momentum) / curvature(options);
  double wanted = std::ceil(distance / stable);
  const double most = rows >= kManyRows ? kMostLongSteps : kMostSteps;
  const bool possible = options.outputs == 1 && dimension <= kMetricLimit;
  if (options.metric.value_or(false) && !possible) {
    throw InvalidArgument(
        fmt::format("a metric takes one output and at most {} coordinates", kMetricLimit));
  }
  if (!options.metric) {
    // Many steps with noise that fits are better than few in a metric, where they do not take long.
    options.metric = possible && wanted > most && options.iterations == 0 &&
                     !(options.learning_rate > 0) && (!options.scale || rows >= kManyRows);
  }
  if (*options.metric) {
    if (options.iterations == 0)
      options.iterations = rows >= kVeryManyRows ? kFewMetricSteps : kMetricSteps;
    if (!(options.learning_rate > 0)) options.learning_rate = 1;
    return options;
  }
  if (options.scale) {
    distance *= options.scale->farther;
    wanted = std::ceil(distance / stable);
  }
  if (options.iterations == 0) {
    options.iterations = static_cast<std::uint64_t>(
        std::clamp(wanted, kFewestSteps, options.scale ? most : kMostSteps));
  }
  if (!(options.learning_rate > 0)) {
    options.learning_rate = std::min(stable, distance / static_cast<double>(options.iterations));
  }
  return options;
}

double step_rho(const NoisyGradientOptions& options, double rho) {
  constexpr double kRoundedDown =
      1 - 0x1p-50;  // so that the parts add up to no more than the whole
  const double rest = 1 - (*options.metric ? kMetricShare : 0.0) -
                      (options.scale ? ResidualScale::share(looks_of(options).size()) : 0.0);
  return rho * rest / paid_steps(options) * kRoundedDown;
}

// Nesterov's momentum before the step with this number: none before the first two.
double momentum_before(std::uint64_t step) {
  const auto t = static_cast<double>(step);
  return step == 0 ? 0.0 : (t - 1) / (t + 2);
}

// The λ with which all noise together moves a prediction by noise_travel: where nothing pulls back,
// step t moves it by 1 + (t − 1)/4 times η·noise/λ, from t = 1 on.
double ridge(const NoisyGradientOptions& options, double noise) {
  const double less = options.typical_norm.value_or(1);
  const auto steps = static_cast<double>(options.iterations);
  const double moves = steps + std::max(0.0, (steps - 1) * (steps - 2)) / 8;
  return moves * options.learning_rate * noise * less / options.noise_travel;
}

// Of how many iterates at the end the average is taken.
std::uint64_t averaged_iterates(const NoisyGradientOptions& options) {
  if (!options.average) return 1;
  return *options.metric ? std::max<std::uint64_t>(1, (options.iterations + 1) / 3)
                         : options.iterations - options.iterations / 2;
}

// Noise that fits the gradients lets numbers themselves go farther: paces below 1 count twice then.
std::vector<double> paces_of_steps(const NoisyGradientOptions& options) {
  std::vector<double> paces = options.paces;
  if (options.scale) {
    for (double& pace : paces) pace *= pace;
  }
  return paces;
}

// Fewer bits for slopes when the noise is large: the lattice stays fine against it and the integers
// small.
GradientRows::SlopeGrid slope_grid(std::size_t outputs, double factor, double rho_of_a_step) {
  const double norm = slope_norm(outputs);
  const double sigma = norm * factor / std::sqrt(2 * Rho(rho_of_a_step).value());
  const int bits =
      kSigmaBits - GradientRows::kRowBits - static_cast<int>(std::ceil(std::log2(sigma)));
  return {.norm = norm, .bits = std::clamp(bits, 8, GradientRows::kMaximalSlopeBits)};
}

// In lattice steps. ℓ1 is not used by Gaussian noise.
Distance distance(const GradientRows::SlopeGrid& grid, double factor) {
  const double l2 = grid.norm * factor / grid.unit();
  return {.l1 = l2, .l2 = std::nextafter(l2, 2 * l2)};
}

// A symmetric matrix times a vector.
std::vector<double> product(const std::vector<double>& matrix, const std::vector<double>& v) {
  std::vector<double> result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j < v.size(); ++j) result[i] += matrix[i * v.size() + j] * v[j];
  }
  return result;
}

void softmax_slopes(std::span<const double> margins, std::size_t i, std::size_t rows,
                    std::size_t outputs, std::size_t target, std::span<double> out) {
  double top = margins[i], total = 0;
  for (std::size_t k = 1; k < outputs; ++k) top = std::max(top, margins[k * rows + i]);
  for (std::size_t k = 0; k < outputs; ++k)
    total += out[k * rows + i] = std::exp(margins[k * rows + i] - top);
  for (std::size_t k = 0; k < outputs; ++k)
    out[k * rows + i] = out[k * rows + i] / total - (k == target ? 1.0 : 0.0);
}

// What a record is charged for its slopes. Its gradient is s ⊗ x on the lattice, of squared norm
// ‖s‖²‖x‖², the former exact and the latter rounded up.
class SlopeCharge {
 public:
  // ‖s‖²‖x‖² ≤ norm²·2^(2·bits + 16) is a full step, where norm² is 1, or 2 for several outputs.
  SlopeCharge(std::size_t outputs, GradientRows::SlopeGrid grid)
      : shift_(2 * grid.bits + GradientRows::kSquareBits - 32 + (outputs == 1 ? 0 : 1)) {
    static_assert(IndividualBudget::kFullStep == std::uint64_t{1} << 32);
  }
  // whole: slopes as whole numbers, every so many of them.
  std::uint64_t of(std::span<const double> whole, std::size_t first, std::size_t every,
                   std::uint32_t row_square) const {
    double square = 0;
    for (std::size_t k = first; k < whole.size(); k += every) square += whole[k] * whole[k];
    const std::uint64_t product = static_cast<std::uint64_t>(square) * row_square;
    return (product + (std::uint64_t{1} << shift_) - 1) >> shift_;
  }

 private:
  int shift_;
};

// Shortens the slopes of records that would spend more than their allowance for this step, or
// leaves them out.
GradientRows::Slopes filtered(GradientRows::Slopes slopes, std::size_t outputs,
                              GradientRows::SlopeGrid grid,
                              const std::vector<std::uint32_t>& squares, IndividualFilter& filter) {
  const SlopeCharge charge(outputs, grid);
  return [=, &squares, &filter, slopes = std::move(slopes)](std::span<const double> margins,
                                                            std::size_t first, std::size_t rows,
                                                            std::span<double> out) {
    slopes(margins, first, rows, out);
    std::vector<double> whole(out.begin(), out.end()), own(outputs);
    GradientRows::bound_slopes(whole, outputs, grid);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint32_t square = squares[first + i];
      const auto shorten = [&](double factor) {
        for (std::size_t k = 0; k < outputs; ++k) own[k] = out[k * rows + i] *= factor;
        GradientRows::bound_slopes(own, outputs, grid);
        return charge.of(own, 0, 1, square);
      };
      const std::uint64_t asked = charge.of(whole, i, rows, square);
      if (filter.admit(first + i, asked, shorten)) continue;
      for (std::size_t k = 0; k < outputs; ++k) out[k * rows + i] = 0;
    }
  };
}

}  // namespace

GradientRows::Slopes slopes_of(Loss loss, std::size_t outputs, const GradientRows& data) {
  return [loss, outputs, &data](std::span<const double> margins, std::size_t first,
                                std::size_t rows, std::span<double> out) {
    const std::span<const float> targets = data.targets(first, rows);
    if (outputs == 1 && loss == Loss::logistic) {
      detail::logistic_slopes(margins.data(), targets.data(), rows, out.data());
      return;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const double y = targets[i];
      if (outputs == 1) {
        out[i] = loss_slope(loss, margins[i], y);
      } else if (loss == Loss::logistic) {
        softmax_slopes(margins, i, rows, outputs, static_cast<std::size_t>(y), out);
      } else {
        for (std::size_t k = 0; k < outputs; ++k) {
          out[k * rows + i] = loss_slope(loss, margins[k * rows + i],
                                         static_cast<std::size_t>(y) == k ? 1.0 : -1.0);
        }
      }
    }
  };
}

NoisyGradientPlan::NoisyGradientPlan(NoisyGradientOptions options, Relation relation,
                                     std::uint64_t rows, std::size_t dimension, double rho)
    : options_(settled(std::move(options), relation, rows, dimension, rho)),
      relation_(relation),
      rows_(rows),
      dimension_(dimension),
      paces_(paces_of_steps(options_)),
      ridge_(ridge(options_, coordinate_noise(options_, relation, rows, rho))),
      grid_(slope_grid(options_.outputs, factor(options_, relation), step_rho(options_, rho))),
      noise_(relation, Budget::zcdp(step_rho(options_, rho)), grid_.unit(),
             distance(grid_, factor(options_, relation)), dimension * options_.outputs) {
  if (options_.typical_norm) individual_.emplace(paid_steps(options_));
  if (*options_.metric)
    metric_.emplace(relation, dimension, rho * kMetricShare, options_.contributions,
                    options_.varied);
  if (options_.scale)
    scale_.emplace(relation, rows, dimension, rho, options_.contributions,
                   looks_of(options_).size(), coordinate_noise(options_, relation, rows, rho));
}

Event NoisyGradientPlan::event() const {
  Event steps = individual_ ? filtered_event() : repeat(noise_.event(), options_.iterations);
  std::vector<Event> events;
  if (scale_) events.push_back(scale_->event());
  if (metric_) events.push_back(metric_->event());
  if (events.empty()) return steps;
  events.push_back(std::move(steps));
  return compose(std::move(events));
}

// √(steps that a record pays for)·(what one of them moves the sum by)/σ, each rounded up.
Event NoisyGradientPlan::filtered_event() const {
  const double moves = distance(grid_, factor(options_, relation_)).l2 / noise_.scale_in_steps();
  const double mu = std::sqrt(individual_->full_steps()) * moves * (1 + 0x1p-50);
  return filtered_gaussian_event(
      mu, noise_.scale_in_steps(),
      static_cast<double>(options_.iterations) * static_cast<double>(noise_.dimension()));
}

std::string NoisyGradientPlan::describe() const {
  return fmt::format(
      "{} steps of full-batch gradient descent on the {} loss, each gradient sum noised by a "
      "discrete "
      "Gaussian of standard deviation {:.4g}{}; {}step size {:.4g}, {}, {}{}",
      options_.iterations, name(options_.loss), noise_.scale(),
      scale_
          ? fmt::format(" times a clip that {} noisy counts of gradients find, from a noisy mean "
                        "of the target on",
                        looks_of(options_).size())
          : "",
      individual_ ? fmt::format("a record has a budget for {:.4g} steps of full norm and {}; ",
                                individual_->full_steps(),
                                options_.over_budget == OverBudget::drop
                                    ? "sits out those that would pass it"
                                    : "its gradients are shortened to what is left of it")
                  : "",
      options_.learning_rate,
      metric_ ? "growing momentum" : fmt::format("momentum {}", options_.momentum),
      metric_ ? fmt::format("in the metric of the second moments, noised by a discrete Gaussian of "
                            "standard deviation {:.4g}, ",
                            metric_->sigma())
              : "",
      !options_.average ? "last iterate"
      : metric_ ? fmt::format("average of the last {} iterates", averaged_iterates(options_))
                : "average of the second half of the iterates");
}

Release<LinearModel> NoisyGradientPlan::run(const GradientRows& rows, Rng& rng,
                                            Progress* progress) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  const std::size_t size = dimension_ * options_.outputs;
  const double unit = grid_.unit(), n = static_cast<double>(rows_);
  auto slopes = slopes_of(options_.loss, options_.outputs, rows);
  std::vector<std::uint32_t> squares;
  std::optional<IndividualFilter> filter;
  if (individual_) {
    squares = rows.private_squares(options_.threads);
    filter.emplace(*individual_, rows.size(), options_.over_budget);
    slopes = filtered(std::move(slopes), options_.outputs, grid_, squares, *filter);
  }
  double clip = 1;
  std::vector<float> limits;
  GradientRows::SlopeGrid grid = grid_;
  if (scale_) {
    squares = rows.private_squares(options_.threads);
    limits = private_limits(squares, grid_.bits);
    grid.norm = kLongestSlope;
    slopes = clipped_slopes(rows, limits, clip);
  }

  std::vector<double> theta(size), velocity(size), sum(size), admitted(size), gradient(size);
  std::vector<std::uint64_t> looks;
  const auto look = [&](std::uint64_t step) {
    if (std::find(looks.begin(), looks.end(), step) == looks.end()) return;
    clip = std::min(clip, scale_->clip(rows, squares, admitted, rng, options_.threads));
  };
  std::optional<BentShare> bent;
  if (scale_) {
    looks = looks_of(options_);
    if (!metric_)
      bent.emplace(options_.scale->bends, paces_, options_.momentum, options_.learning_rate);
    const double mean = scale_->mean(rows, squares, rng);
    if (rows.intercept() != 0) theta.back() = mean / (rows.intercept() * rows.scale());
    admitted = theta;
    GradientRows::admit(admitted, options_.outputs);
    look(0);
  }
  // The first gradient needs no metric yet: it is summed while the metric is inverted.
  std::vector<double> inverse;
  std::future<std::vector<double>> inverting;
  if (metric_) {
    inverting = std::async(
        thread_count(options_.threads) > 1 ? std::launch::async : std::launch::deferred,
        [this, n, least = ridge_ * clip,
         released = metric_->release(rows, n, rng, options_.threads)] {
          return metric_->inverse(released, curvature(options_), n, least, options_.paces);
        });
  }
  const std::uint64_t averaged = averaged_iterates(options_);
  std::vector<double> latent = theta;
  for (std::uint64_t step = 0; step < options_.iterations; ++step) {
    if (filter) filter->begin_step(options_.iterations - step);
    admitted = theta;
    if (metric_) {  // the gradient is taken where the last move would lead on to
      for (std::size_t j = 0; j < size; ++j) admitted[j] += momentum_before(step) * velocity[j];
    }
    GradientRows::admit(admitted, options_.outputs);
    if (step > 0) look(step);
    const std::vector<int128> total =
        rows.weighted_sum(admitted, options_.outputs, slopes, grid, options_.threads);
    const std::vector<int128> noisy = noise_.add(total, rng);
    if (inverting.valid()) inverse = inverting.get();
    for (std::size_t j = 0; j < size; ++j) {
      gradient[j] =
          static_cast<double>(noisy[j]) * unit * clip / n + options_.regularisation * admitted[j];
      if (!metric_ && !paces_.empty()) gradient[j] *= paces_[j % dimension_];
    }
    if (metric_) gradient = product(inverse, gradient);
    for (std::size_t j = 0; j < size; ++j) {
      const double before = theta[j];
      if (!metric_) velocity[j] = options_.momentum * velocity[j] + gradient[j];
      theta[j] = admitted[j] - options_.learning_rate * (metric_ ? gradient[j] : velocity[j]);
      if (metric_) velocity[j] = theta[j] - before;
    }
    if (bent) {
      for (std::size_t j = 0; j < size; ++j) latent[j] -= options_.learning_rate * velocity[j];
      theta = bent->of(latent, noise_.scale() * clip / n);
    }
    if (step + averaged >= options_.iterations) {
      for (std::size_t j = 0; j < size; ++j) sum[j] += theta[j];
    }
    if (progress != nullptr) progress->advance(step + 1);
  }

  LinearModel model{.loss = options_.loss,
                    .features = dimension_ - (rows.intercept() != 0 ? 1 : 0),
                    .outputs = options_.outputs,
                    .norm_bound = rows.norm_bound(),
                    .scale = rows.scale(),
                    .intercept = rows.intercept(),
                    .weights = std::move(sum)};
  for (double& weight : model.weights) weight /= static_cast<double>(averaged);
  return {std::move(model), *this};
}

}  // namespace sotto
