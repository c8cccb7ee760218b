#include "sotto/mechanisms/sparse_vector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

using namespace detail;

int128 floor_divide(int128 a, int128 b) {
  const int128 q = a / b;
  return q * b > a ? q - 1 : q;
}

// (value − threshold)/sensitivity in steps of 1/unit, so that a change of `sensitivity` moves it by
// at most `unit`.
int128 normalised_gap(const SparseQuery& query, std::int64_t unit) {
  constexpr int128 limit = static_cast<int128>(1) << 62;
  const double g = granularity_for(query.sensitivity);
  const auto sensitivity = static_cast<int128>(grid_sensitivity(query.sensitivity, g, Norm::l1, 1));
  const int128 gap =
      std::clamp(to_grid(query.value, g) - to_grid(query.threshold, g), -limit, limit);
  return floor_divide(gap * unit, sensitivity);
}

}  // namespace

SparseVectorPlan::SparseVectorPlan(const SparseVectorOptions& options) : options_(options) {
  const auto c = static_cast<double>(options.answers);
  if (options.answers == 0 || options.answers > (1u << 16)) {
    throw InvalidArgument(
        fmt::format("answers is {}; it must be between 1 and 65536", options.answers));
  }
  const double epsilon = options.budget.pure_epsilon();
  if (!(epsilon >= 0x1p-20 && epsilon <= 0x1p20)) {
    throw InvalidArgument(
        fmt::format("epsilon is {}; a sparse vector needs one between 2^-20 and 2^20", epsilon));
  }
  double comparison = epsilon;
  if (options.numeric) {
    if (!(options.numeric_share > 0 && options.numeric_share < 1)) {
      throw InvalidArgument(fmt::format("numeric_share is {}; it must be above 0 and below 1",
                                        options.numeric_share));
    }
    numeric_epsilon_ = divide_down(multiply_down(epsilon, options.numeric_share), c);
    comparison = down(epsilon - multiply_up(numeric_epsilon_, c));
  }
  const double factor = options.monotonic ? 1 : 2;
  unit_ = std::int64_t{1} << std::clamp(28 + std::ilogb(epsilon), 4, 50);
  const auto m = static_cast<double>(unit_);
  const double first = comparison / (1 + std::pow(factor * c, 2.0 / 3));
  // Rounded so that the two parts, evaluated upwards, stay within the whole.
  const double threshold_scale = divide_up(m, first);
  const double first_cost = divide_up(m, threshold_scale);
  double query_scale = divide_up(factor * c * m, down(comparison - first_cost));
  auto cost = [&] { return add_up(first_cost, divide_up(factor * c * m, query_scale)); };
  while (cost() > comparison) query_scale = up(query_scale);
  comparison_epsilon_ = cost();
  threshold_noise_.emplace(threshold_scale);
  query_noise_.emplace(query_scale);
}

Event SparseVectorPlan::event() const {
  if (!options_.numeric) return PureEvent{comparison_epsilon_};
  return compose(
      {PureEvent{comparison_epsilon_}, repeat(PureEvent{numeric_epsilon_}, options_.answers)});
}

std::string SparseVectorPlan::describe() const {
  return fmt::format(
      "sparse vector, at most {} positive answers{}: epsilon {:.6g}{} under {}", options_.answers,
      options_.numeric ? " with values" : "", comparison_epsilon_,
      options_.numeric ? fmt::format(" + {} x {:.6g}", options_.answers, numeric_epsilon_) : "",
      name(options_.relation));
}

SparseVectorStream SparseVectorPlan::start(Rng& rng) const {
  return SparseVectorStream(*this, rng);
}

Release<std::vector<SparseAnswer>> SparseVectorPlan::run(std::span<const SparseQuery> queries,
                                                         Rng& rng) const {
  SparseVectorStream stream = start(rng);
  std::vector<SparseAnswer> answers;
  for (const SparseQuery& query : queries) {
    if (stream.exhausted()) break;
    answers.push_back(stream.ask(query, rng));
  }
  return {std::move(answers), *this};
}

SparseVectorStream::SparseVectorStream(const SparseVectorPlan& plan, Rng& rng)
    : plan_(plan), left_(plan.options_.answers) {
  const std::int64_t zero = 0;  // the threshold is public: its noise alone is private
  const auto scope = rng.query({.mechanism = "sparse_vector_threshold",
                                .values = std::span(&zero, 1),
                                .sensitivity = static_cast<double>(plan.unit_),
                                .norm = Norm::l1,
                                .scale = plan.threshold_noise_->scale()});
  threshold_ = plan.threshold_noise_->sample(rng);
}

SparseAnswer SparseVectorStream::ask(const SparseQuery& query, Rng& rng) {
  if (exhausted()) {
    throw BudgetExceeded(fmt::format("the {} positive answers of this sparse vector are used up",
                                     plan_.options_.answers),
                         "start a new one, at a new cost");
  }
  if (!std::isfinite(query.value) || !std::isfinite(query.threshold)) {
    throw InvalidArgument("a query or threshold is not a finite number");
  }
  const Sensitivity sensitivity(query.sensitivity, Norm::l1);
  const int128 gap = normalised_gap(query, plan_.unit_);
  SparseAnswer answer;
  {
    const auto scope = rng.query({.mechanism = "sparse_vector",
                                  .values = std::span(&gap, 1),
                                  .sensitivity = static_cast<double>(plan_.unit_),
                                  .norm = Norm::l1,
                                  .scale = plan_.query_noise_->scale()});
    answer.above = gap + plan_.query_noise_->sample(rng) >= threshold_;
  }
  if (!answer.above) return answer;
  --left_;
  if (plan_.options_.numeric) {
    const AdditiveMechanism value(plan_.options_.relation, sensitivity,
                                  Budget::pure(plan_.numeric_epsilon_));
    answer.value = value.run(query.value, rng).value;
  }
  return answer;
}

}  // namespace sotto
