#include "sotto/mechanisms/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/grid.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

using namespace detail;

constexpr std::int64_t kOneRank = std::int64_t{1} << 32;  // one rank, in units of the score
constexpr double kRoundingCost = 4 * 0x1p-40;             // what inexact segment weights cost in ε
constexpr int kRankExponentBits = 40;
constexpr int128 kLargestExponent = 1 << 20;
constexpr int kProbes = 65;

std::int64_t checked_probability(double p) {
  if (!(p >= 0 && p <= 1)) {
    throw InvalidArgument(fmt::format("probability is {}; it must be between 0 and 1", p),
                          "0.5 is the median");
  }
  return std::llround(std::ldexp(p, 32));
}

std::uint64_t checked_contributions(std::uint64_t records) {
  if (records < 1 || records > (std::uint64_t{1} << 20))
    throw InvalidArgument(
        fmt::format("a unit has {} records; a quantile needs at most 2^20", records));
  return records;
}

double default_granularity(const Bounds& bounds) {
  int exponent = 0;
  std::frexp(bounds.upper() / 2 - bounds.lower() / 2, &exponent);
  return std::ldexp(1.0, std::max(exponent + 1 - 20, -1000));
}

// A run of grid points that share a score.
struct Segment {
  std::int64_t first;
  std::uint64_t length;
  std::int64_t exponent;  // −ln of its weight, in units of 2^-40
};

}  // namespace

QuantilePlan::QuantilePlan(const QuantileOptions& options)
    : relation_(options.relation),
      column_(options.bounds,
              options.granularity != 0 ? options.granularity : default_granularity(options.bounds),
              options.non_finite),
      probability_(checked_probability(options.probability)),
      sensitivity_((relation_ == Relation::replace_one
                        ? kOneRank
                        : std::max(probability_, kOneRank - probability_)) *
                   static_cast<std::int64_t>(checked_contributions(options.contributions))) {
  const double budget = options.budget.bounded_range_epsilon();
  if (!(budget >= 0x1p-20 && budget <= 0x1p20)) {
    throw InvalidArgument(
        fmt::format("epsilon is {}; a quantile needs one between 2^-20 and 2^20", budget));
  }
  const auto twice = static_cast<double>(2 * sensitivity_);
  scale_ = static_cast<std::int64_t>(std::ceil(twice / (budget - kRoundingCost)));
  auto cost = [&] { return add_up(divide_up(twice, static_cast<double>(scale_)), kRoundingCost); };
  while (cost() > budget) ++scale_;
  epsilon_ = cost();
}

Event QuantilePlan::event() const { return ExponentialEvent{epsilon_}; }

std::string QuantilePlan::describe() const {
  return fmt::format(
      "{:.6g}-quantile on a grid of step {:.6g} over [{}, {}]: exponential mechanism, epsilon "
      "{:.6g} under {}",
      std::ldexp(static_cast<double>(probability_), -32), column_.granularity(),
      column_.bounds().lower(), column_.bounds().upper(), epsilon_, name(relation_));
}

double QuantilePlan::ranks_off(double beta) const {
  const double points =
      static_cast<double>(column_.upper()) - static_cast<double>(column_.lower()) + 1;
  return std::ldexp(static_cast<double>(scale_), -32) * std::log(points / beta);
}

int128 QuantilePlan::score(std::uint64_t below, std::uint64_t above, std::uint64_t total) const {
  const int128 n = total, p = probability_;
  const int128 low = static_cast<int128>(below) * kOneRank - p * n;
  const int128 high = static_cast<int128>(above) * kOneRank - (kOneRank - p) * n;
  return std::clamp<int128>(std::max(low, high), 0, kLargestExponent * scale_);
}

QuantileAccumulator QuantilePlan::start() const { return QuantileAccumulator(*this); }

Release<Statistic> QuantilePlan::run(std::span<const double> records, Rng& rng) const {
  QuantileAccumulator accumulator = start();
  for (double x : records) accumulator.add(x);
  return std::move(accumulator).finish(rng);
}

Release<Statistic> QuantilePlan::finish(std::vector<std::int64_t> points, Rng& rng) const {
  std::sort(points.begin(), points.end());
  const std::uint64_t n = points.size();

  // What an observer sees of the score function: its values at fixed points of the grid.
  std::array<int128, kProbes> probes{};
  for (int i = 0; i < kProbes; ++i) {
    const auto at = static_cast<std::int64_t>(
        column_.lower() +
        (static_cast<int128>(column_.upper()) - column_.lower()) * i / (kProbes - 1));
    const auto range = std::equal_range(points.begin(), points.end(), at);
    probes[i] = score(range.first - points.begin(), points.end() - range.second, n);
  }
  // Not a selection among the values announced: an interval is chosen, then a point of it.
  auto scope = rng.query({.mechanism = "exponential_on_a_grid",
                          .values = std::span<const int128>(probes),
                          .sensitivity = static_cast<double>(sensitivity_),
                          .norm = Norm::linf,
                          .scale = static_cast<double>(scale_)});

  std::vector<Segment> segments;
  auto push = [&](std::int64_t first, std::int64_t last, std::uint64_t below, std::uint64_t above) {
    if (first > last) return;
    const auto length = static_cast<std::uint64_t>(last - first) + 1;
    const long double exponent =
        static_cast<long double>(score(below, above, n)) / static_cast<long double>(scale_) -
        std::log(static_cast<long double>(length));
    segments.push_back({first, length, std::llround(std::ldexp(exponent, kRankExponentBits))});
  };
  std::int64_t next = column_.lower();
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && points[end] == points[i]) ++end;
    push(next, points[i] - 1, i, n - i);
    push(points[i], points[i], i, n - end);
    next = points[i] + 1;
    i = end;
  }
  push(next, column_.upper(), n, 0);

  std::int64_t smallest = segments.front().exponent;
  for (const Segment& s : segments) smallest = std::min(smallest, s.exponent);
  for (;;) {
    const Segment& s = segments[uniform_below(rng, segments.size())];
    if (!bernoulli_exp(rng, static_cast<uint128>(s.exponent - smallest),
                       uint128{1} << kRankExponentBits))
      continue;
    std::int64_t point = s.first + static_cast<std::int64_t>(uniform_below(rng, s.length));
    scope.publish(std::span<std::int64_t>(&point, 1));
    const double value = std::clamp(from_grid(point, column_.granularity()),
                                    column_.bounds().lower(), column_.bounds().upper());
    NoiseInfo info{.distribution = "exponential",
                   .scale = std::ldexp(static_cast<double>(scale_), -32)};  // in ranks
    return {Statistic{value, info}, *this};
  }
}

}  // namespace sotto
