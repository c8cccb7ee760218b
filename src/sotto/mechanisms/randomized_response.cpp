#include "sotto/mechanisms/randomized_response.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {

RandomizedResponse::RandomizedResponse(Epsilon epsilon, std::uint64_t categories)
    : epsilon_(epsilon.value()), categories_(categories) {
  if (categories < 2 || categories > (std::uint64_t{1} << 32)) {
    throw InvalidArgument(
        fmt::format("categories is {}; it must be between 2 and 2^32", categories));
  }
}

std::string RandomizedResponse::describe() const {
  return fmt::format(
      "randomized response over {} categories, epsilon {:.6g} for each person's answer",
      categories_, epsilon_);
}

double RandomizedResponse::probability_of_truth() const {
  return 1 / (1 + static_cast<double>(categories_ - 1) * std::exp(-epsilon_));
}
double RandomizedResponse::probability_of_other() const {
  return probability_of_truth() * std::exp(-epsilon_);
}

Release<std::uint64_t> RandomizedResponse::run(std::uint64_t category, Rng& rng) const {
  if (category >= categories_) {
    throw InvalidArgument(fmt::format("a category is outside 0 to {}", categories_ - 1));
  }
  const auto value = static_cast<std::int64_t>(category);
  const auto scope = rng.query({.mechanism = "randomized_response",
                                .values = std::span(&value, 1),
                                .sensitivity = static_cast<double>(categories_ - 1),
                                .norm = Norm::linf,
                                .scale = 1 / epsilon_});
  for (;;) {
    const std::uint64_t proposal = uniform_below(rng, categories_);
    if (proposal == category || bernoulli_exp(rng, epsilon_)) return {proposal, *this};
  }
}

std::vector<double> RandomizedResponse::estimate(std::span<const std::uint64_t> reports) const {
  if (reports.size() != categories_) {
    throw InvalidArgument(
        fmt::format("there are {} report counts; there must be one for each of {} categories",
                    reports.size(), categories_));
  }
  const double p = probability_of_truth(), q = probability_of_other();
  const double n =
      static_cast<double>(std::accumulate(reports.begin(), reports.end(), std::uint64_t{0}));
  std::vector<double> result;
  result.reserve(reports.size());
  for (std::uint64_t r : reports) result.push_back((static_cast<double>(r) - n * q) / (p - q));
  return result;
}

double RandomizedResponse::estimate_deviation(std::uint64_t persons) const {
  const double p = probability_of_truth(), q = probability_of_other();
  // A report is a coin of bias p or q: variance at most the larger of the two.
  return std::sqrt(static_cast<double>(persons) * std::max(p * (1 - p), q * (1 - q))) / (p - q);
}

}  // namespace sotto
