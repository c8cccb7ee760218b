#include "sotto/models/linear/sample_aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/minimiser.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"
#include "sotto/models/linear/detail/row_selection.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

constexpr double kFewestRecords = 4;  // of a part, for each parameter
constexpr std::uint64_t kFewestParts = 8;
constexpr double kTolerance = 1e-7;  // gradient of a part's mean loss; utility only

SampleAggregateOptions settled(SampleAggregateOptions o, std::uint64_t rows, std::size_t dimension,
                               const Budget& budget) {
  if (std::holds_alternative<ApproximateBudget>(budget.kind()))
    throw InvalidArgument("sample and aggregate takes a pure epsilon or a rho");
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (dimension == 0) throw InvalidArgument("the rows have no coordinates; they need at least one");
  if (o.outputs == 0 || o.contributions == 0)
    throw InvalidArgument("outputs or contributions is 0; both must be at least 1");
  if (!(o.radius >= 0 && std::isfinite(o.radius)) ||
      !(o.regularisation >= 0 && std::isfinite(o.regularisation))) {
    throw InvalidArgument(
        fmt::format("radius is {} and regularisation is {}; they must be finite and at least 0",
                    o.radius, o.regularisation));
  }
  const auto n = static_cast<double>(rows);
  if (o.parts == 0) {
    const double most = n / (kFewestRecords * static_cast<double>(dimension * o.outputs));
    o.parts = std::max(kFewestParts, static_cast<std::uint64_t>(std::min(std::sqrt(n), most)));
  }
  if (o.parts > (std::uint64_t{1} << 20))
    throw InvalidArgument(fmt::format("parts is {}; it must be at most 2^20", o.parts));
  if (o.radius == 0) o.radius = o.loss == Loss::squared ? std::sqrt(2.0) : 5.0;
  if (o.regularisation == 0) o.regularisation = 0.01;
  return o;
}

// The numbers of the records of each part, dealt independently of what the records are.
std::vector<std::vector<std::size_t>> deal(std::size_t records, std::uint64_t parts, Rng& rng) {
  Rng dealer = rng.split();  // the main stream does not tell how many records there are
  std::vector<std::vector<std::size_t>> result(parts);
  for (std::size_t i = 0; i < records; ++i) result[uniform_below(dealer, parts)].push_back(i);
  return result;
}

std::vector<double> fit(const ExactRows& part, const SampleAggregateOptions& o) {
  if (part.size() == 0) return std::vector<double>(part.dimension() * o.outputs);
  const auto n = static_cast<double>(part.size());
  const ConvexProblem problem(part, o.loss, o.outputs, o.regularisation * n, {}, 1);
  return minimise(problem, kTolerance * n).theta;
}

}  // namespace

std::string_view name(Aggregate aggregate) {
  return aggregate == Aggregate::mean ? "mean" : "median";
}

Aggregate parse_aggregate(std::string_view text) {
  if (text == "mean") return Aggregate::mean;
  if (text == "median") return Aggregate::median;
  throw InvalidArgument(fmt::format("unknown aggregate '{}'", text), "use mean or median");
}

double ball_step(double radius) { return std::exp2(std::ceil(std::log2(radius)) - 30); }

std::vector<int128> steps_in_ball(std::span<const double> vector, double radius) {
  double square = 0;
  for (const double v : vector) square += v * v;
  std::vector<int128> steps(vector.size());
  if (!std::isfinite(square)) return steps;
  const double norm = std::sqrt(square);
  const double step = ball_step(radius);
  const double factor = (norm > radius ? radius / norm : 1.0) / step;
  for (std::size_t j = 0; j < vector.size(); ++j)
    steps[j] = static_cast<std::int64_t>(std::trunc(vector[j] * factor));
  // The arithmetic above is rounded; the integers decide.
  const auto most = static_cast<std::int64_t>(radius / step);  // exact: a power of two
  for (;;) {
    int128 exact = 0;
    for (const int128 s : steps) exact += s * s;
    if (exact <= static_cast<int128>(most) * most) return steps;
    for (int128& s : steps) s -= s > 0 ? 1 : s < 0 ? -1 : 0;
  }
}

SampleAggregatePlan::SampleAggregatePlan(SampleAggregateOptions options, Relation relation,
                                         std::uint64_t rows, std::size_t dimension,
                                         const Budget& budget)
    : options_(settled(options, rows, dimension, budget)),
      relation_(relation),
      dimension_(dimension) {
  const std::uint64_t changed_fits = std::min(options_.contributions, options_.parts);
  const auto changed = static_cast<double>(changed_fits);
  const auto d = static_cast<double>(size());
  if (options_.aggregate == Aggregate::mean) {
    const double step = ball_step(options_.radius), l2 = 2 * options_.radius / step * changed;
    noise_.emplace(relation, budget, step,
                   Distance{.l1 = std::nextafter(l2 * std::sqrt(d), 2 * l2 * d), .l2 = l2}, size());
    return;
  }
  // One coordinate may cost a D-th of the budget.
  const double whole = budget.part((1 - 0x1p-50) / d).bounded_range_epsilon();
  median_.emplace(QuantileOptions{.relation = Relation::replace_one,
                                  .bounds = Bounds(-options_.radius, options_.radius),
                                  .probability = 0.5,
                                  .budget = Budget::pure(whole),
                                  .contributions = changed_fits});
  median_epsilon_ = std::get<ExponentialEvent>(median_->event().kind()).epsilon;
}

Event SampleAggregatePlan::event() const {
  return noise_ ? noise_->event() : repeat(ExponentialEvent{median_epsilon_}, size());
}

std::string SampleAggregatePlan::describe() const {
  const std::string how =
      noise_ ? fmt::format("mean with discrete {} noise of scale {:.4g}",
                           noise_->gaussian() ? "Gaussian" : "Laplace",
                           noise_->scale() / static_cast<double>(options_.parts))
             : fmt::format("private median of each of {} parameters, epsilon {:.4g} each", size(),
                           median_epsilon_);
  return fmt::format(
      "sample and aggregate: {} random parts fitted by the {} loss with regularisation {:.4g}, "
      "parameters clipped to a ball of radius {:.4g}; {}",
      options_.parts, name(options_.loss), options_.regularisation, options_.radius, how);
}

Release<LinearModel> SampleAggregatePlan::run(const ExactRows& rows, Rng& rng) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  const auto parts = deal(rows.size(), options_.parts, rng);
  std::vector<std::vector<int128>> fits(parts.size());
  parallel_blocks(parts.size(), thread_count(options_.threads), [&](std::size_t k, unsigned) {
    fits[k] = steps_in_ball(fit(select_rows(rows, parts[k]), options_), options_.radius);
  });

  const double unit = ball_step(options_.radius);
  std::vector<double> weights(size());
  if (noise_) {
    std::vector<int128> sum(size());
    for (const auto& f : fits) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += f[j];
    }
    const std::vector<int128> noisy = noise_->add(sum, rng);
    for (std::size_t j = 0; j < weights.size(); ++j)
      weights[j] = static_cast<double>(noisy[j]) * unit / static_cast<double>(options_.parts);
  } else {
    std::vector<double> values(fits.size());
    for (std::size_t j = 0; j < weights.size(); ++j) {
      for (std::size_t k = 0; k < fits.size(); ++k)
        values[k] = static_cast<double>(fits[k][j]) * unit;
      weights[j] = median_->run(values, rng).value.value;
    }
  }
  return {model_for(rows, options_.loss, options_.outputs, std::move(weights)), *this};
}

}  // namespace sotto
