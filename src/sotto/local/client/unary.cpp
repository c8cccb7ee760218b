#include "sotto/local/client/unary.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/search.hpp"
#include "sotto/local/client/coin.hpp"

namespace sotto::local {

double best_threshold(double epsilon) {
  const auto variance = [&](double theta) {
    const double p = 1 - std::exp(epsilon * (theta - 1) / 2) / 2;
    const double q = std::exp(-epsilon * theta / 2) / 2;
    return q * (1 - q) / ((p - q) * (p - q));
  };
  return minimise(variance, 0.5, 1, 64, 1e-9).x;
}

UnaryEncoding UnaryEncoding::symmetric(double epsilon, std::uint64_t categories) {
  const std::uint64_t q = dyadic_above(1 / (std::exp(inner_epsilon(epsilon) / 2) + 1));
  return {categories, 0 - q, q};
}

UnaryEncoding UnaryEncoding::optimised(double epsilon, std::uint64_t categories) {
  const std::uint64_t q = dyadic_above(1 / (std::exp(inner_epsilon(epsilon)) + 1));
  return {categories, std::uint64_t{1} << 63, q};
}

UnaryEncoding UnaryEncoding::thresholded(double epsilon, std::uint64_t categories,
                                         double threshold) {
  const long double e = inner_epsilon(epsilon), theta = threshold;
  const std::uint64_t q = dyadic_above(std::exp(-e * theta / 2) / 2),
                      not_p = dyadic_above(std::exp(e * (theta - 1) / 2) / 2);
  return {categories, 0 - not_p, q};
}

UnaryEncoding::UnaryEncoding(std::uint64_t categories, std::uint64_t p, std::uint64_t q)
    : categories_(categories), p_(p), q_(q) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
  if (p <= q) throw InvalidArgument("a bit must be likelier for its own value than for others");
  epsilon_ = log_ratio_up(dyadic(p) * dyadic_rest(q), dyadic(q) * dyadic_rest(p));
}

double UnaryEncoding::p() const { return static_cast<double>(dyadic(p_)); }
double UnaryEncoding::q() const { return static_cast<double>(dyadic(q_)); }

void set_bit(std::span<std::uint8_t> report, std::uint64_t i, bool value) {
  const auto mask = static_cast<std::uint8_t>(1u << (i % 8));
  report[i / 8] = static_cast<std::uint8_t>(value ? report[i / 8] | mask : report[i / 8] & ~mask);
}

void UnaryEncoding::answer(const Value& value, Memory*, Rng& rng,
                           std::span<std::uint8_t> report) const {
  const std::uint64_t own = category(value, categories_);
  for (std::size_t at = 0; at < report.size(); at += 8)
    write_whole(report.subspan(at, std::min<std::size_t>(8, report.size() - at)),
                biased_word(rng, q_));
  set_bit(report, own, flip(rng, p_));
  for (std::uint64_t i = categories_; i < 8 * report.size(); ++i) set_bit(report, i, false);
}

long double UnaryEncoding::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories_);
  long double result = 1;
  for (std::uint64_t i = 0; i < categories_; ++i) {
    const std::uint64_t t = i == own ? p_ : q_;
    result *= bit_of(report, i) ? dyadic(t) : dyadic_rest(t);
  }
  return result;
}

}  // namespace sotto::local
