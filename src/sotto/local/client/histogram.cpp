#include "sotto/local/client/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/coin.hpp"

namespace sotto::local {

HistogramEncoding::HistogramEncoding(double epsilon, std::uint64_t categories)
    : categories_(categories),
      noise_(next_up(static_cast<double>(2 * kUnit / inner_epsilon(epsilon)))),
      epsilon_(next_up(2 * static_cast<double>(kUnit) / noise_.scale())) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
}

std::int32_t read_signed(Bytes four_bytes) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(read_whole(four_bytes.first(4))));
}

void HistogramEncoding::answer(const Value& value, Memory*, Rng& rng,
                               std::span<std::uint8_t> report) const {
  const std::uint64_t own = category(value, categories_);
  std::vector<std::int64_t> draws(categories_);
  noise_.fill(rng, draws);
  draws[own] += kUnit;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < draws.size(); ++i)
    write_whole(report.subspan(4 * i, 4),
                static_cast<std::uint64_t>(std::clamp(draws[i], -kMost, kMost)));
}

long double HistogramEncoding::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories_);
  const long double r = std::exp(-1 / static_cast<long double>(noise_.scale()));
  long double result = 1;
  for (std::uint64_t i = 0; i < categories_; ++i) {
    const std::int64_t z = read_signed(report.subspan(4 * i, 4)) - (i == own ? kUnit : 0);
    result *= (1 - r) / (1 + r) * std::pow(r, static_cast<long double>(std::abs(z)));
  }
  return result;
}

double HistogramEncoding::noise_variance() const {
  const double r = std::exp(-1 / noise_.scale()), unit = static_cast<double>(kUnit);
  return 2 * r / ((1 - r) * (1 - r)) / (unit * unit);
}

}  // namespace sotto::local
