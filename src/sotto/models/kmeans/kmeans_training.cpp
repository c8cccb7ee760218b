#include "sotto/models/kmeans/detail/kmeans_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/kmeans/detail/kmeans_model.hpp"
#include "sotto/models/kmeans/detail/lloyd.hpp"
#include "sotto/models/rows/detail/ball_sums.hpp"

namespace sotto {
namespace {

constexpr std::size_t kOver = 3;                // centres of a coreset for each one wanted
constexpr std::size_t kRestarts = 30;           // of its clustering
constexpr std::size_t kPooled = 4;              // rounds whose sums the last ones average
constexpr std::size_t kPooling = 3;             // how many rounds do
constexpr double kWithin = 0.95, kRoom = 1.05;  // the radius: of so many records, times this
constexpr double kPacked = 0.5;                 // how far out the first centres lie
constexpr double kFew = 5;                      // standard deviations below which a cluster is none
constexpr double kBeside = 0.1;                 // how far from the largest cluster it starts again
constexpr std::size_t kPartRounds = 10, kRowsOfPart = 5;  // for each centre
constexpr std::size_t kMostParts = 10000;
constexpr double kReference = 0.5;  // of the budget of `aggregate`, for centres that parts start at
constexpr double kReach = 0.125;    // of the way to the next centre: how far a part may move one
constexpr double kLeastReach = 0.02;  // how far a part may move a centre, at least
constexpr double kAggregateStep = 0x1p-30;

enum class Route { coreset, lloyd, aggregate, none };
Route parse_route(std::string_view text) {
  if (text == "lloyd") return Route::lloyd;
  if (text == "aggregate") return Route::aggregate;
  return text == "none" ? Route::none : Route::coreset;
}

struct Setting {
  Facts facts;
  Route route;
  std::size_t width, clusters, rounds, parts;
};

std::size_t first_rounds(const Setting& s) { return s.route == Route::lloyd ? 0 : s.rounds / 2; }

// The mechanisms for a budget: a pure ε or a ρ.
struct Mechanisms {
  PointSumsPlan location;
  RadiusPlan radius;
  std::optional<PointSumsPlan> wide, round;
  std::optional<LatticeNoise> centres;

  Mechanisms(const Setting& s, const Budget& budget)
      : location(location_plan(s.facts, budget.part(kLocation))),
        radius(s.facts, budget.part(kRadius)) {
    double left = 1 - kLocation - kRadius - 0x1p-40;
    if (s.route == Route::aggregate) {
      centres.emplace(aggregate_noise(s, budget.part(left * (1 - kReference))));
      left *= kReference;
    }
    const Budget each = budget.part(left / static_cast<double>(s.rounds));
    const double l1 = std::sqrt(static_cast<double>(s.width));
    if (first_rounds(s) > 0) wide.emplace(s.facts, each, kOver * s.clusters, s.width, l1);
    if (s.rounds > first_rounds(s)) round.emplace(s.facts, each, s.clusters, s.width, l1);
  }

  Event event(const Setting& s) const {
    std::vector<Event> all = {location.event(), radius.event()};
    if (wide) all.push_back(repeat(wide->event(), first_rounds(s)));
    if (round) all.push_back(repeat(round->event(), s.rounds - first_rounds(s)));
    if (centres) all.push_back(centres->event());
    return compose(std::move(all));
  }

  static constexpr double kLocation = 0.04, kRadius = 0.03;
  static LatticeNoise aggregate_noise(const Setting& s, const Budget& budget) {
    const auto k = static_cast<double>(s.clusters), d = static_cast<double>(s.width);
    const double parts =
        std::min(static_cast<double>(s.facts.contributions) * contribution_factor(s.facts.relation),
                 static_cast<double>(s.parts));
    const double moved = 2 * parts * (1 + 0x1p-40) / kAggregateStep;
    return {s.facts.relation,
            budget,
            kAggregateStep,
            {.l1 = moved * k * std::sqrt(d), .l2 = moved * std::sqrt(k)},
            s.clusters * s.width};
  }
};

// A centre in the unit ball.
void clip(std::span<double> centre) {
  double square = 0;
  for (const double x : centre) square += x * x;
  if (square > 1)
    for (double& x : centre) x /= std::sqrt(square);
}

std::vector<PointSums> pooled(const std::vector<std::vector<PointSums>>& past, std::size_t rounds) {
  std::vector<PointSums> mean = past.back();
  for (std::size_t r = 1; r < rounds; ++r) {
    const std::vector<PointSums>& other = past[past.size() - 1 - r];
    for (std::size_t c = 0; c < mean.size(); ++c) {
      mean[c].count += other[c].count;
      for (std::size_t j = 0; j < mean[c].point.size(); ++j) mean[c].point[j] += other[c].point[j];
    }
  }
  const auto n = static_cast<double>(rounds);
  for (PointSums& sums : mean) {
    sums.count /= n;
    for (double& x : sums.point) x /= n;
  }
  return mean;
}

// 64 bits of a keyed hash of a row; equal rows are equal.
std::uint64_t hash_of(const float* row, std::size_t width, std::uint64_t key) {
  std::uint64_t h = key;
  for (std::size_t j = 0; j < width; ++j) {
    h ^= static_cast<std::uint64_t>(static_cast<std::int64_t>(row[j]) + (1 << 20));
    h *= 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  h *= 0xbf58476d1ce4e5b9;
  return h ^ (h >> 32);
}

class KmeansTraining final : public TrainingPlan {
 public:
  KmeansTraining(Setting setting, std::optional<Budget> budget)
      : setting_(std::move(setting)),
        private_(budget.has_value()),
        mechanisms_(setting_, budget.value_or(Budget::zcdp(1))) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event(setting_)) : std::nullopt;
  }
  Relation relation() const override { return setting_.facts.relation; }

  Explanation explain() const override {
    const Setting& s = setting_;
    Explanation e;
    switch (s.route) {
      case Route::coreset: e.method = "coreset"; break;
      case Route::lloyd: e.method = "lloyd"; break;
      case Route::aggregate: e.method = "aggregate"; break;
      case Route::none: e.method = "none"; break;
    }
    e.words = fmt::format("{} clusters by {} rounds", s.clusters, s.rounds);
    if (mechanisms_.wide)
      e.words += fmt::format(", the first {} with {} centres that are then clustered",
                             first_rounds(s), kOver * s.clusters);
    if (private_)
      e.words += fmt::format(
          "; in each round {}",
          (mechanisms_.round ? mechanisms_.round : mechanisms_.wide)->noise().describe());
    if (mechanisms_.centres)
      e.words += fmt::format(
          "; then {} parts move them, each by at most an eighth of the way to the next; the "
          "mean of that with {}",
          s.parts, mechanisms_.centres->describe());
    e.figures = {{"clusters", s.clusters}, {"rounds", s.rounds}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    const double bound = setting_.facts.encoder->norm_bound();
    std::optional<EncodedRows> encoded(std::in_place, source, *setting_.facts.encoder);
    const Location where = locate(mechanisms_.location, *encoded, bound, private_, rng);
    double square = 0;
    for (const double m : where.mean) square += m * m;
    const double largest = bound + std::sqrt(square);
    const double radius =
        std::min(largest, kRoom * mechanisms_.radius.run(*encoded, where.mean, largest,
                                                         private_ ? kWithin : 1, private_, rng));
    const BallRows rows(*encoded, where.mean, radius);
    encoded.reset();
    Matrix centres = rounds(rows, rng, control);
    if (setting_.route == Route::aggregate) average_parts(rows, centres, rng);
    for (std::size_t c = 0; c < centres.rows; ++c)
      for (std::size_t j = 0; j < centres.columns; ++j)
        centres.row(c)[j] = where.mean[j] + radius * centres.row(c)[j];
    return finished(kmeans_model(std::move(centres), setting_.facts));
  }

 private:
  std::vector<PointSums> released(const PointSumsPlan& plan, const ClusterSums& sums,
                                  Rng& rng) const {
    return private_ ? plan.release(sums.points, sums.counts, rng)
                    : plan.exact(sums.points, sums.counts);
  }

  Matrix rounds(const BallRows& rows, Rng& rng, RunControl& control) const {
    const std::size_t first = first_rounds(setting_);
    const std::size_t start = first > 0 ? kOver * setting_.clusters : setting_.clusters;
    Matrix centres = packed_centres(start, setting_.width, kPacked, rng);
    std::vector<std::vector<PointSums>> past;
    Progress progress(control.shown(setting_.rounds));
    for (std::size_t t = 0; t < setting_.rounds; ++t) {
      const PointSumsPlan& plan = t < first ? *mechanisms_.wide : *mechanisms_.round;
      past.push_back(released(plan, cluster_sums(rows, centres), rng));
      const bool last = t + kPooling >= setting_.rounds && t >= first;
      const std::size_t pool = last ? std::min(kPooled, past.size()) : 1;
      const double deviation =
          private_ ? plan.count_deviation() / std::sqrt(static_cast<double>(pool)) : 0.1;
      const std::vector<PointSums> sums = pooled(past, pool);
      const std::vector<double> weights = move(centres, sums, kFew * deviation, rng);
      if (t + 1 == first) {
        centres = merged(centres, weights, rng);
        past.clear();
      }
      progress.advance(t + 1);
    }
    progress.finish();
    return centres;
  }

  // To the noisy means; returns noisy counts, 0 of those that are too small to say anything.
  std::vector<double> move(Matrix& centres, const std::vector<PointSums>& sums, double few,
                           Rng& rng) const {
    std::vector<double> weights(centres.rows);
    std::size_t largest = 0;
    for (std::size_t c = 0; c < centres.rows; ++c) {
      if (sums[c].count > sums[largest].count) largest = c;
      if (!(sums[c].count > few)) continue;
      weights[c] = sums[c].count;
      for (std::size_t j = 0; j < centres.columns; ++j)
        centres.row(c)[j] = sums[c].point[j] / sums[c].count;
      clip(centres.row(c));
    }
    for (std::size_t c = 0; c < centres.rows; ++c) {
      if (weights[c] > 0) continue;
      const std::vector<double> beside = random_direction(centres.columns, rng);
      for (std::size_t j = 0; j < centres.columns; ++j)
        centres.row(c)[j] = centres.row(largest)[j] + kBeside * beside[j];
      clip(centres.row(c));
    }
    return weights;
  }

  // The centres of a coreset, clustered: released figures go in, so it costs nothing.
  Matrix merged(const Matrix& centres, const std::vector<double>& weights, Rng& rng) const {
    const auto used = static_cast<std::size_t>(
        std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
    if (used > setting_.clusters)
      return weighted_clusters(centres, weights, setting_.clusters, kRestarts, rng);
    // No more than wanted: they, and of the others as many as are missing.
    Matrix few(setting_.clusters, setting_.width);
    std::size_t at = 0;
    for (const bool wanted : {true, false})
      for (std::size_t c = 0; c < centres.rows && at < few.rows; ++c)
        if ((weights[c] > 0) == wanted)
          std::copy_n(centres.row(c).begin(), few.columns, few.row(at++).begin());
    return few;
  }

  // How far a part may move each centre: a part of the way to the next. A rule on released centres.
  static std::vector<double> reaches(const Matrix& centres) {
    std::vector<double> reach(centres.rows, 1);
    for (std::size_t a = 0; a < centres.rows; ++a) {
      for (std::size_t b = 0; b < centres.rows; ++b) {
        if (a == b) continue;
        double square = 0;
        for (std::size_t j = 0; j < centres.columns; ++j)
          square += std::pow(centres.row(a)[j] - centres.row(b)[j], 2);
        reach[a] = std::min(reach[a], kReach * std::sqrt(square));
      }
      reach[a] = std::max(reach[a], kLeastReach);
    }
    return reach;
  }

  // Moves released centres by the noisy mean of where the parts would move them.
  void average_parts(const BallRows& rows, Matrix& centres, Rng& rng) const {
    const std::size_t k = setting_.clusters, d = setting_.width;
    const std::vector<double> reach = reaches(centres);
    const std::uint64_t key = rng.next_u64();
    std::vector<std::vector<std::uint32_t>> parts(setting_.parts);
    for (std::size_t i = 0; i < rows.size(); ++i)
      parts[hash_of(rows.row(i), d, key) % parts.size()].push_back(static_cast<std::uint32_t>(i));
    const unsigned workers = thread_count(0);
    std::vector<std::vector<int128>> partial(workers, std::vector<int128>(k * d));
    parallel_blocks(parts.size(), workers, [&](std::size_t p, unsigned thread) {
      const Matrix own = clusters_of(rows, parts[p], centres);
      std::vector<double> moved(d);
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t j = 0; j < d; ++j)
          moved[j] = (own.row(c)[j] - centres.row(c)[j]) / reach[c];
        add_in_ball(moved, &partial[thread][c * d]);
      }
    });
    std::vector<int128> sum(k * d);
    for (const std::vector<int128>& part : partial)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    const std::vector<int128> noisy = mechanisms_.centres->add(sum, rng);
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t j = 0; j < d; ++j)
        centres.row(c)[j] += reach[c] * static_cast<double>(noisy[c * d + j]) * kAggregateStep /
                             static_cast<double>(setting_.parts);
      clip(centres.row(c));
    }
  }

  // Private: of one part, without noise. A centre nobody is near to stays.
  Matrix clusters_of(const BallRows& rows, const std::vector<std::uint32_t>& part,
                     Matrix centres) const {
    for (std::size_t t = 0; t < kPartRounds && !part.empty(); ++t) {
      const ClusterSums sums = cluster_sums(rows, part, centres);
      for (std::size_t c = 0; c < centres.rows; ++c) {
        if (sums.counts[c] == 0) continue;
        for (std::size_t j = 0; j < centres.columns; ++j)
          centres.row(c)[j] = static_cast<double>(sums.points[c * centres.columns + j]) /
                              (static_cast<double>(sums.counts[c]) * kBallSteps);
      }
    }
    return centres;
  }

  // A vector on the grid, within the unit ball as integers and not only on paper.
  static void add_in_ball(std::span<const double> centre, int128* sums) {
    double square = 0;
    for (const double x : centre) square += x * x;
    const double factor = (1 - 0x1p-40) / (kAggregateStep * std::max(1.0, std::sqrt(square)));
    for (std::size_t j = 0; j < centre.size(); ++j)
      sums[j] += static_cast<std::int64_t>(std::trunc(centre[j] * factor));
  }

  Setting setting_;
  bool private_;
  Mechanisms mechanisms_;
};

std::size_t default_rounds(Route route, bool pure) {
  if (route == Route::none) return 40;
  if (route == Route::lloyd) return pure ? 5 : 8;
  if (route == Route::aggregate) return pure ? 4 : 6;
  return pure ? 6 : 12;
}

}  // namespace

std::unique_ptr<TrainingPlan> kmeans_training(const Facts& facts, const TrainingRequest& request) {
  const Route route = parse_route(request.method);
  if (route != Route::none) required_budget(request);
  const bool pure = request.budget && request.budget->is_pure();
  const std::size_t clusters = request.options.whole("clusters");
  Setting setting{facts,
                  route,
                  facts.encoder->width(),
                  clusters,
                  request.options.maybe_whole("iterations").value_or(default_rounds(route, pure)),
                  request.options.maybe_whole("parts").value_or(0)};
  if ((route == Route::coreset || route == Route::aggregate) && setting.rounds < 2)
    throw InvalidArgument(fmt::format("the method {} needs at least two rounds", request.method),
                          "raise `iterations`, or use `method` lloyd");
  if (route == Route::aggregate && setting.parts == 0)
    setting.parts =
        std::clamp<std::uint64_t>(facts.declared_rows() / (kRowsOfPart * clusters), 8, kMostParts);
  if (route == Route::none)
    return std::make_unique<KmeansTraining>(std::move(setting), std::nullopt);
  const Budget share = confirmed(*request.budget, facts.relation, [&](const Budget& b) {
    return Mechanisms(setting, b).event(setting);
  });
  return std::make_unique<KmeansTraining>(std::move(setting), share);
}

}  // namespace sotto
