#include "sotto/models/rows/detail/ball_sums.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/rows/detail/ball_kernels.hpp"

namespace sotto {
namespace {

constexpr double kUnit = 0x1p-20;
constexpr std::int64_t kPoint = 15;  // of the 16 steps of kUnit in one of kBallSteps
constexpr std::int64_t kCount = 364889;  // ⌊2^20·√(1 − (15/16)²)⌋: 364889² + (15·2^16)² ≤ 2^40
static_assert(kCount * kCount + (kPoint << kBallBits) * (kPoint << kBallBits) <= (1LL << 40));
constexpr std::size_t kRadiusBins = 64;
constexpr double kPerOctave = 8;
constexpr double kSlack = 1 + 0x1p-40;

double times(const Facts& facts) {
  return contribution_factor(facts.relation) * static_cast<double>(facts.contributions);
}

double deviation(const LatticeNoise& noise) { return noise.info().standard_deviation.value(); }

}  // namespace

PointSumsPlan::PointSumsPlan(const Facts& facts, const Budget& budget, std::size_t groups,
                             std::size_t width, double l1)
    : groups_(groups),
      width_(width),
      noise_(facts.relation, budget, kUnit,
             {.l1 = (l1 * kSlack * static_cast<double>(kPoint << kBallBits) + kCount + 1) *
                    times(facts),
              .l2 = times(facts) / kUnit},
             groups * (width + 1)) {}

double PointSumsPlan::point_deviation() const {
  return deviation(noise_) * 16 / static_cast<double>(kPoint);
}
double PointSumsPlan::count_deviation() const {
  return deviation(noise_) / (static_cast<double>(kCount) * kUnit);
}

std::vector<int128> PointSumsPlan::query(std::span<const int128> sums,
                                         std::span<const int128> counts) const {
  std::vector<int128> all;
  all.reserve(noise_.dimension());
  for (const int128 s : sums) all.push_back(s * kPoint);
  for (const int128 c : counts) all.push_back(c * kCount);
  return all;
}

std::vector<PointSums> PointSumsPlan::read(const std::vector<int128>& answer) const {
  std::vector<PointSums> result(groups_);
  for (std::size_t g = 0; g < groups_; ++g) {
    for (std::size_t j = 0; j < width_; ++j)
      result[g].point.push_back(static_cast<double>(answer[g * width_ + j]) * kUnit * 16 /
                                static_cast<double>(kPoint));
    result[g].count =
        static_cast<double>(answer[groups_ * width_ + g]) / static_cast<double>(kCount);
  }
  return result;
}

std::vector<PointSums> PointSumsPlan::release(std::span<const int128> sums,
                                              std::span<const int128> counts, Rng& rng) const {
  return read(noise_.add(query(sums, counts), rng));
}
std::vector<PointSums> PointSumsPlan::exact(std::span<const int128> sums,
                                            std::span<const int128> counts) const {
  return read(query(sums, counts));
}

RadiusPlan::RadiusPlan(const Facts& facts, const Budget& budget)
    : noise_(facts.relation, budget, kUnit,
             {.l1 = (facts.relation == Relation::replace_one ? 2 : 1) *
                    static_cast<double>(facts.contributions) / kUnit,
              .l2 = (facts.relation == Relation::replace_one ? std::sqrt(2.0) * kSlack : 1) *
                    static_cast<double>(facts.contributions) / kUnit},
             kRadiusBins) {}

double RadiusPlan::run(const EncodedRows& rows, std::span<const double> centre, double largest,
                       double share, bool noised, Rng& rng) const {
  const auto top = [&](std::size_t bin) {  // the upper edge
    return largest * std::exp2((static_cast<double>(bin) + 1 - kRadiusBins) / kPerOctave);
  };
  std::vector<int128> counts =
      rows.distances(centre, kRadiusBins, [&](double distance) -> std::size_t {
        if (!(distance > top(0))) return 0;
        const double at = std::ceil(std::log2(distance / largest) * kPerOctave) + kRadiusBins - 1;
        return static_cast<std::size_t>(std::clamp(at, 0.0, double{kRadiusBins - 1}));
      });
  for (int128& c : counts) c *= static_cast<std::int64_t>(1 / kUnit);
  if (noised) counts = noise_.add(counts, rng);
  const double threshold = noised ? 2 * deviation(noise_) : 0;
  std::vector<double> cells;
  double total = 0;
  for (const int128 c : counts) {
    const double n = static_cast<double>(c) * kUnit;
    cells.push_back(n > threshold ? n : 0);
    total += cells.back();
  }
  double below = 0;
  for (std::size_t b = 0; b < kRadiusBins && total > 0; ++b) {
    below += cells[b];
    if (below >= share * total) return top(b);
  }
  return largest;
}

PointSumsPlan location_plan(const Facts& facts, const Budget& budget) {
  const Encoder& encoder = *facts.encoder;
  // A row has at most one coordinate other than 0 for each column: ‖y‖₁ ≤ √columns·‖y‖₂.
  return {facts, budget, 1, encoder.width(),
          std::sqrt(static_cast<double>(encoder.features().size()))};
}

Location locate(const PointSumsPlan& plan, const EncodedRows& rows, double norm_bound, bool noised,
                Rng& rng) {
  const std::size_t d = rows.width();
  const std::vector<double> origin(d);
  const std::vector<int128> sums =
      rows.sum(d + 1, [&](std::size_t first, std::size_t count, std::span<int128> total) {
        std::vector<double> local(d);
        std::vector<float> steps(d), room;
        const std::vector<std::uint32_t> same(1);
        for (std::size_t i = first; i < first + count; ++i) {
          to_ball(rows.row(i, room), origin, norm_bound, steps);
          detail::add_to_nearest(steps.data(), 1, d, same.data(), local.data());
        }
        for (std::size_t j = 0; j < d; ++j) total[j] += static_cast<std::int64_t>(local[j]);
        total[d] += static_cast<std::int64_t>(count);
      });
  const std::span<const int128> all(sums);
  const PointSums answer = noised ? plan.release(all.first(d), all.subspan(d), rng)[0]
                                  : plan.exact(all.first(d), all.subspan(d))[0];
  Location where{{}, std::max(1.0, answer.count)};
  double square = 0;
  for (const double s : answer.point) {
    where.mean.push_back(s / where.count * norm_bound);
    square += where.mean.back() * where.mean.back();
  }
  // The mean of rows within the norm bound is within it too.
  if (square > norm_bound * norm_bound)
    for (double& m : where.mean) m *= norm_bound / std::sqrt(square);
  return where;
}

}  // namespace sotto
