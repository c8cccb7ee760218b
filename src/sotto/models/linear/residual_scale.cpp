#include "sotto/models/linear/detail/residual_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

// So fine that noise is nearly continuous: others take its cost for a Gaussian's (tuning does), and
// no accountant counts its steps.
constexpr double kTargetStep = 0x1p-24, kCountUnit = 0x1p-24;
constexpr int128 kCountSteps = 1 << 24;
constexpr double kTailOfNoise = 2, kTailRoom = 10, kShortestTail = 0.001, kLongestTail = 0.2;
constexpr double kSmallestClip = 0x1p-7;
// What targets in [−1, 1] may be expected to have for a mean: its variance.
constexpr double kMeanVariance = 0.16;

LatticeNoise scale_noise(Relation relation, double rho, double moves, double unit,
                         std::size_t dimension) {
  const double steps = std::nextafter(moves / unit, std::numeric_limits<double>::infinity());
  return {relation, Budget::zcdp(rho), unit, {.l1 = 2 * steps, .l2 = steps}, dimension};
}

// Of a cell: k records of a unit leave one for another.
double count_moves(Relation relation, std::uint64_t contributions) {
  const double each = relation == Relation::replace_one ? std::nextafter(std::sqrt(2.0), 2.0) : 1.0;
  return each * static_cast<double>(contributions);
}

}  // namespace

ResidualScale::ResidualScale(Relation relation, std::uint64_t rows, std::size_t dimension,
                             double rho, std::uint64_t contributions, std::uint64_t looks,
                             double noise)
    : rows_(static_cast<double>(rows)),
      tail_(
          std::clamp(kTailOfNoise * noise * (std::sqrt(static_cast<double>(dimension)) + kTailRoom),
                     kShortestTail, kLongestTail)),
      looks_(looks),
      mean_noise_(scale_noise(relation, rho * kMeanShare,
                              contribution_factor(relation) * static_cast<double>(contributions),
                              kTargetStep, 1)),
      count_noise_(scale_noise(relation, rho * kLookShare, count_moves(relation, contributions),
                               kCountUnit, kBins)) {}

Event ResidualScale::event() const {
  return compose({mean_noise_.event(), repeat(count_noise_.event(), looks_)});
}

double ResidualScale::mean(const GradientRows& rows, std::span<const std::uint32_t> squares,
                           Rng& rng) const {
  int128 sum = 0;
  constexpr std::size_t kPart = GradientRows::kBlockRows;
  for (std::size_t first = 0; first < rows.size(); first += kPart) {
    const std::size_t count = std::min(kPart, rows.size() - first);
    const std::span<const float> targets = rows.targets(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (squares[first + i] == 0) continue;  // null
      const double y = std::clamp(static_cast<double>(targets[i]), -1.0, 1.0);
      sum += static_cast<std::int64_t>(y / kTargetStep);
    }
  }
  const std::array<int128, 1> query = {sum};
  const double noisy =
      static_cast<double>(mean_noise_.add(query, rng).front()) * kTargetStep / rows_;
  const double noise = mean_noise_.scale() / rows_;
  return std::clamp(noisy * kMeanVariance / (kMeanVariance + noise * noise), -1.0, 1.0);
}

double ResidualScale::clip(const GradientRows& rows, std::span<const std::uint32_t> squares,
                           std::span<const double> parameters, Rng& rng, unsigned threads) const {
  std::vector<std::uint8_t> cells(rows.size());
  // The sum itself, of slopes of 0, is not used.
  rows.weighted_sum(
      parameters, 1,
      [&](std::span<const double> margins, std::size_t first, std::size_t count,
          std::span<double> out) {
        const std::span<const float> targets = rows.targets(first, count);
        for (std::size_t i = 0; i < count; ++i) {
          const double norm = std::sqrt(static_cast<double>(squares[first + i])) * 0x1p-8;
          const double length = std::fabs(margins[i] - static_cast<double>(targets[i])) * norm;
          std::uint8_t cell = 0;
          for (double edge = kSmallestClip; cell + 1u < kBins && length >= edge; edge *= 2) ++cell;
          cells[first + i] = squares[first + i] == 0 ? kBins : cell;
          out[i] = 0;
        }
      },
      {.norm = 1, .bits = 8}, threads);
  std::array<int128, kBins + 1> counts{};
  for (const std::uint8_t cell : cells) counts[cell] += kCountSteps;
  const std::vector<int128> noisy =
      count_noise_.add(std::span<const int128>(counts).first(kBins), rng);
  std::array<double, kBins> shares;
  for (std::size_t k = 0; k < kBins; ++k)
    shares[k] = static_cast<double>(noisy[k]) * kCountUnit / rows_;
  return clip_of(shares);
}

double ResidualScale::clip_of(std::span<const double> shares) const {
  // From the top: the lowest edge above which few enough are.
  double above = 0, edge = 1, beyond = 0;
  std::size_t cell = kBins - 1;
  for (; cell > 0; --cell) {
    beyond = above + shares[cell];
    if (!(beyond <= tail_)) break;
    above = beyond;
    edge /= 2;
  }
  if (cell == kBins - 1) return 1;  // many are beyond the last edge, none knows how far
  if (cell == 0) return edge;
  // Between half this edge, which too many pass, and itself: as if shares fell by a power.
  const double fewer = std::clamp(above, tail_ / 8, tail_);
  const double part = beyond > fewer ? std::log(beyond / tail_) / std::log(beyond / fewer) : 1.0;
  return edge / 2 * std::exp2(std::clamp(part, 0.0, 1.0));
}

std::vector<float> private_limits(std::span<const std::uint32_t> squares, int bits) {
  std::vector<float> limits(squares.size());
  const std::uint64_t full = std::uint64_t{1} << (2 * bits + GradientRows::kSquareBits);
  const double longest = std::ldexp(kLongestSlope, bits);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (squares[i] == 0) continue;
    const double root = std::sqrt(static_cast<double>(full) / static_cast<double>(squares[i]));
    auto limit = static_cast<std::uint64_t>(std::min(root, longest));
    while (limit * limit * squares[i] > full) --limit;
    limits[i] = std::ldexp(static_cast<float>(limit), -bits);  // exact: at most 22 bits and a power
  }
  return limits;
}

GradientRows::Slopes clipped_slopes(const GradientRows& rows, std::span<const float> limits,
                                    const double& clip) {
  return [&rows, limits, &clip](std::span<const double> margins, std::size_t first,
                                std::size_t count, std::span<double> out) {
    const std::span<const float> targets = rows.targets(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      const double slope = (margins[i] - static_cast<double>(targets[i])) / clip;
      const auto limit = static_cast<double>(limits[first + i]);
      // Not a number would pass neither test, and is bounded to 0 by whoever sums.
      out[i] = slope > limit ? limit : slope < -limit ? -limit : slope;
    }
  };
}

}  // namespace sotto
