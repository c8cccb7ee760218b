#include "sotto/local/client/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

double place_in(const Bounds& bounds, double number) {
  return std::clamp((number - bounds.lower()) / (bounds.upper() - bounds.lower()), 0.0, 1.0);
}

std::uint64_t random_position(double place, std::uint64_t positions, Rng& rng) {
  const double exact = place * static_cast<double>(positions - 1), whole = std::floor(exact);
  // The coin is flipped whether the number lies between two positions or not.
  const double above = exact - whole;
  const bool up = static_cast<double>(rng.next_u64() >> 11) < std::ldexp(above, 53);
  return std::min(static_cast<std::uint64_t>(whole) + (up ? 1 : 0), positions - 1);
}

OneBit::OneBit(double epsilon, Bounds bounds) : bounds_(bounds) {
  q_ = dyadic_above(1 / (std::exp(inner_epsilon(epsilon)) + 1));
  epsilon_ = log_ratio_up(dyadic_rest(q_), dyadic(q_));
}

std::uint64_t OneBit::threshold(double place) const {
  const std::uint64_t range = 0 - q_ - q_;  // from q to 1 − q
  const long double part = std::floor(static_cast<long double>(place) * range);
  return q_ + std::min(range, static_cast<std::uint64_t>(part));
}

double OneBit::q() const { return static_cast<double>(dyadic(q_)); }

void OneBit::answer(const Value& value, Memory*, Rng& rng, std::span<std::uint8_t> report) const {
  report[0] = draw(place_in(bounds_, number(value)), rng) ? 1 : 0;
}

long double OneBit::probability(const Value& value, Bytes report) const {
  const std::uint64_t t = threshold(place_in(bounds_, number(value)));
  return report[0] == 1 ? dyadic(t) : dyadic_rest(t);
}

Window::Window(double epsilon, Bounds bounds, std::uint64_t positions, std::uint64_t window)
    : bounds_(bounds), positions_(positions), window_(window) {
  if (positions < 2 || positions > std::uint64_t{1} << 20 || window < 1 ||
      window > std::uint64_t{1} << 26)
    throw InvalidArgument("a window has 2 to 2^20 `positions`");
  const auto n = static_cast<long double>(places()), w = static_cast<long double>(window);
  blind_ = dyadic_share_above(n, w * std::expm1(inner_epsilon(epsilon)));
  epsilon_ = log_ratio_up(dyadic(blind_) * w + dyadic_rest(blind_) * n, dyadic(blind_) * w);
}

double Window::blind() const { return static_cast<double>(dyadic(blind_)); }

std::uint64_t Window::draw(std::uint64_t position, Rng& rng) const {
  const bool blind = flip(rng, blind_);
  const std::uint64_t anywhere = uniform_below(rng, places()), near = uniform_below(rng, window_);
  return blind ? anywhere : position + near;
}

void Window::answer(const Value& value, Memory*, Rng& rng, std::span<std::uint8_t> report) const {
  const std::uint64_t position = random_position(place_in(bounds_, number(value)), positions_, rng);
  write_whole(report, draw(position, rng));
}

// Of a number that is a position; between two the law is their mixture.
long double Window::probability(const Value& value, Bytes report) const {
  const double exact = place_in(bounds_, number(value)) * static_cast<double>(positions_ - 1);
  const auto low = static_cast<std::uint64_t>(exact), y = read_whole(report);
  const long double up = exact - std::floor(exact);
  const auto at = [&](std::uint64_t d) {
    const long double anywhere = dyadic(blind_) / static_cast<long double>(places());
    const bool inside = y >= d && y < d + window_;
    return anywhere + (inside ? dyadic_rest(blind_) / static_cast<long double>(window_) : 0);
  };
  return (1 - up) * at(low) + (up > 0 ? up * at(low + 1) : 0);
}

std::uint64_t piecewise_window(double epsilon, std::uint64_t positions) {
  const double c = 1 / std::tanh(epsilon / 4), share = (c - 1) / (2 * c);
  const double w = std::round(share / (1 - share) * static_cast<double>(positions - 1));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(w));
}

std::uint64_t square_wave_window(double epsilon, std::uint64_t positions) {
  const double e = std::exp(epsilon);
  const double b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon));
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::round(2 * b * static_cast<double>(positions))));
}

double hybrid_share(double epsilon) {
  constexpr double kFrom = 0.61;
  return epsilon > kFrom ? -std::expm1(-epsilon / 2) : 0;
}

Hybrid::Hybrid(double epsilon, Bounds bounds, std::uint64_t positions)
    : one_bit_(epsilon, bounds),
      window_(epsilon, bounds, positions, piecewise_window(epsilon, positions)),
      share_(hybrid_share(epsilon) > 0 ? dyadic_below(hybrid_share(epsilon)) : 0) {}

double Hybrid::epsilon() const { return std::max(one_bit_.epsilon(), window_.epsilon()); }

void Hybrid::answer(const Value& value, Memory* memory, Rng& rng,
                    std::span<std::uint8_t> report) const {
  const bool wide = flip(rng, share_);
  std::fill(report.begin(), report.end(), 0);
  report[0] = wide ? 1 : 0;
  if (wide) {
    window_.answer(value, memory, rng, report.subspan(1));
  } else {
    one_bit_.answer(value, memory, rng, report.subspan(1, 1));
  }
}

long double Hybrid::probability(const Value& value, Bytes report) const {
  return report[0] == 1 ? dyadic(share_) * window_.probability(value, report.subspan(1))
                        : (1 - dyadic(share_)) * one_bit_.probability(value, report.subspan(1, 1));
}

LaplaceNumber::LaplaceNumber(double epsilon, Bounds bounds, std::uint64_t positions)
    : bounds_(bounds),
      positions_(positions),
      noise_(next_up(
          static_cast<double>(static_cast<long double>(positions - 1) / inner_epsilon(epsilon)))),
      epsilon_(next_up(static_cast<double>(positions - 1) / noise_.scale())) {}

void LaplaceNumber::answer(const Value& value, Memory*, Rng& rng,
                           std::span<std::uint8_t> report) const {
  const std::uint64_t position = random_position(place_in(bounds_, number(value)), positions_, rng);
  constexpr std::int64_t kMost = std::int64_t{1} << 20;  // beyond is cut: post-processing
  write_whole(report,
              static_cast<std::uint64_t>(std::clamp(
                  static_cast<std::int64_t>(position) + noise_.sample(rng), -kMost, kMost)));
}

long double LaplaceNumber::probability(const Value& value, Bytes report) const {
  const double exact = place_in(bounds_, number(value)) * static_cast<double>(positions_ - 1);
  const auto y = static_cast<std::int64_t>(read_whole(report));
  const long double r = std::exp(-1 / static_cast<long double>(noise_.scale())),
                    up = exact - std::floor(exact);
  const auto at = [&](double d) {
    const std::int64_t z = std::abs(y - static_cast<std::int64_t>(d));
    return (1 - r) / (1 + r) * std::pow(r, static_cast<long double>(z));
  };
  return (1 - up) * at(std::floor(exact)) + (up > 0 ? up * at(std::floor(exact) + 1) : 0);
}

Coordinates::Coordinates(double epsilon, Bounds bounds, std::uint64_t dimensions,
                         std::uint64_t sampled, std::uint64_t positions)
    : dimensions_(dimensions),
      sampled_(sampled),
      window_(epsilon / static_cast<double>(std::max<std::uint64_t>(1, sampled)), bounds, positions,
              piecewise_window(epsilon / static_cast<double>(std::max<std::uint64_t>(1, sampled)),
                               positions)) {
  if (dimensions < 1 || dimensions > 1'000'000 || sampled < 1 || sampled > dimensions)
    throw InvalidArgument("a report speaks of at least one and at most all `dimensions`");
}

double Coordinates::epsilon() const {
  return multiply_up(static_cast<double>(sampled_), window_.epsilon());
}

void Coordinates::answer(const Value& value, Memory* memory, Rng& rng,
                         std::span<std::uint8_t> report) const {
  const auto* numbers = std::get_if<std::span<const double>>(&value);
  if (numbers == nullptr || numbers->size() != dimensions_)
    throw InvalidArgument("the value does not have the declared number of coordinates");
  for (const double x : *numbers) (void)number(x);  // also those that are not chosen
  std::vector<std::uint64_t> chosen;
  while (chosen.size() < sampled_) {
    const std::uint64_t c = uniform_below(rng, dimensions_);
    if (std::find(chosen.begin(), chosen.end(), c) == chosen.end()) chosen.push_back(c);
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::uint64_t i = 0; i < sampled_; ++i) {
    const auto part = report.subspan(i * part_bytes(), part_bytes());
    write_whole(part.first(bytes_for(dimensions_)), chosen[i]);
    window_.answer((*numbers)[chosen[i]], memory, rng, part.subspan(bytes_for(dimensions_)));
  }
}

long double Coordinates::probability(const Value& value, Bytes report) const {
  const auto& numbers = std::get<std::span<const double>>(value);
  long double result = 1;
  for (std::uint64_t i = 0; i < sampled_; ++i) {
    const auto part = report.subspan(i * part_bytes(), part_bytes());
    result *= window_.probability(numbers[read_whole(part.first(bytes_for(dimensions_)))],
                                  part.subspan(bytes_for(dimensions_)));
  }
  return result;
}

}  // namespace sotto::local
