#include "sotto/models/synthesis/detail/synthesis_design.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/models/synthesis/detail/level_groups.hpp"
#include "sotto/models/synthesis/detail/target_check.hpp"
#include "sotto/models/synthesis/detail/trend_queries.hpp"

namespace sotto {
namespace {

// Of the budget, many: columns, scores.
constexpr double kColumns = 0.22, kScores = 0.04;
// few: columns have kMost of it at first where the records are kHardly deviations of the noise that
// all of it would leave, kLeast where they are kWell; choice and scores have the same everywhere.
constexpr double kMost = 0.6, kLeast = 0.35, kHardly = 40, kWell = 200, kChoice = 0.005,
                 kScoresOfFew = 0.01;
// few with a target: pairs are looked at from so many deviations on; below them columns, trends and
// their check have all.
constexpr double kPairsFrom = 20;
constexpr std::size_t kLookedAt = 12;   // pairs, or one for each column if there are more
constexpr double kSureScores = 0.03;    // of the records: the noise of scores that are trusted
constexpr double kPartOfRecords = 0.5;  // of the records: the noise of a pair in all its cells
// Triples are looked at where one of them, counted with kPartOfTriple of the budget, has noise in
// all its cells that is at most kNoiseOfTriple of the records. Their choice, and their scores, have
// as much of the budget as leaves a score kSureTriples of the records of noise.
constexpr double kPartOfTriple = 0.05, kNoiseOfTriple = 0.2, kSureTriples = 0.01,
                 kLeastForTriples = 0.002, kMostForTriples = 0.015;
constexpr std::size_t kMostTriples = 4;
constexpr std::uint32_t kFewestOfTriple = 4, kMostOfTriple = 6;
// Trends where the records are less than kTrendsUpTo deviations of the noise that all of the budget
// would leave in a column: of more, tables of pairs say more. They have as much as leaves one of
// them kSureTrends of the records of noise, what checks them as much as leaves kSureCheck.
constexpr double kTrendsUpTo = 120, kSureTrends = 0.04, kLeastForTrends = 0.005,
                 kMostForTrends = 0.1, kSureCheck = 0.03, kLeastForCheck = 0.002,
                 kMostForCheck = 0.04;
constexpr double kNoiseOfMean = 0.7978845608028654;  // E|Z| of a standard normal
constexpr std::uint32_t kFewestLevels = 2, kUsualLevels = 4;
constexpr std::uint32_t kFewestCells = 8, kUsualCells = 16, kManyCells = 128;
// How often a record counts in a column where it counts once in a sum of kinds: the larger, the
// less noise these sums cost the counts.
constexpr std::int64_t kBesideKinds = 4, kBesideKindsPure = 8;
constexpr double kSmoothed = 0.7;  // cells for each deviation of noise

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

// About how noisy a count is, for a part of the budget.
class Noise {
 public:
  Noise(const Facts& facts, const Budget& budget)
      : pure_(budget.is_pure()),
        records_((facts.relation == Relation::replace_one ? (pure_ ? 2 : std::sqrt(2.0)) : 1) *
                 static_cast<double>(facts.contributions)),
        whole_(pure_ ? budget.pure_epsilon() : rho_of(budget)) {}
  double operator()(double share, double queries) const {
    return pure_ ? std::sqrt(2.0) * records_ * queries / (whole_ * share)
                 : records_ * std::sqrt(queries / (2 * whole_ * share));
  }

 private:
  bool pure_;
  double records_, whole_;
};

}  // namespace

SynthesisDesign::SynthesisDesign(const CellColumns& cells, const Facts& facts, const Budget& budget,
                                 bool alone)
    : relation(facts.relation), contributions(facts.contributions), columns(cells.columns()) {
  const double n = facts.rows ? static_cast<double>(*facts.rows) : 0x1p40;
  const Noise noise(facts, budget);
  if (alone || pairs() == 0) {
    route = PairRoute::none;
  } else if (noise(kScores, static_cast<double>(pairs())) <= kSureScores * n) {
    share_of_columns = kColumns, share_of_scores = kScores;
  } else {
    route = PairRoute::few;
    const double seen = n / noise(1, static_cast<double>(columns));
    share_of_columns =
        std::clamp(kMost - (kMost - kLeast) * std::log(seen / kHardly) / std::log(kWell / kHardly),
                   kLeast, kMost);
    share_of_choice = kChoice, share_of_scores = kScoresOfFew;
    const double share_of_pairs = 1 - share_of_columns - share_of_choice - share_of_scores;
    const bool classes = cells.target() && !cells.is_numeric(*cells.target());
    // The noise of one of m pairs in all its cells, as a part of the records.
    const auto part = [&](std::uint32_t l, std::size_t m) {
      const double other = classes ? cells.cells(*cells.target()) : l;
      return kNoiseOfMean * l * other * noise(share_of_pairs, static_cast<double>(m)) / n;
    };
    const std::size_t targets = cells.target() ? columns - 1 : 0;
    const std::size_t most = std::min(pairs(), std::max(kLookedAt, columns));
    levels = kUsualLevels;
    while (levels > kFewestLevels && part(levels, 1) > kPartOfRecords) --levels;
    std::size_t m = 1;
    while (m < most && part(levels, m + 1) <= kPartOfRecords) ++m;
    while (levels < ColumnLevels::kFewNumbers && part(levels + 1, m) <= kPartOfRecords) ++levels;
    const bool hardly = cells.target() && seen < kPairsFrom;
    if (part(levels, m) > 1) route = PairRoute::none;
    if (route == PairRoute::none || hardly) {
      share_of_columns = 1, share_of_choice = share_of_scores = 0;
    } else {
      with_target = std::min(m, targets);
      all_targets = targets > 0 && with_target == targets;
      others = m > targets ? m - targets : 0;
      if (all_targets && others == 0) share_of_choice = 0;
    }
  }
  if (scored() > 0 && cells.target() && columns > 2) {
    const auto part = [&](std::uint32_t l) {
      return kNoiseOfMean * std::pow(l, 3) * noise(kPartOfTriple, 1) / n;
    };
    triple_levels = kFewestOfTriple;
    while (triple_levels < kMostOfTriple && part(triple_levels + 1) <= kNoiseOfTriple)
      ++triple_levels;
    if (part(triple_levels) > kNoiseOfTriple) {
      triple_levels = 0;
    } else {
      triples = std::min(kMostTriples, all_triples());
      const double far = noise(1, static_cast<double>(triples)) / (kSureTriples * n);
      share_of_triples =
          std::clamp(budget.is_pure() ? far : far * far, kLeastForTriples, kMostForTriples);
    }
  }
  if (route == PairRoute::few && cells.target() &&
      n < kTrendsUpTo * noise(1, static_cast<double>(columns))) {
    trends = TrendQueries::most(cells);
    const auto share = [&](double queries, double sure, double least, double most) {
      const double far = noise(1, queries) / (sure * n);
      return std::clamp(budget.is_pure() ? far : far * far, least, most);
    };
    share_of_trends =
        share(static_cast<double>(columns - 1), kSureTrends, kLeastForTrends, kMostForTrends);
    share_of_check = share(TargetCheck::kSums, kSureCheck, kLeastForCheck, kMostForCheck);
    share_of_columns *= 1 - share_of_trends - share_of_check;
  }
  share_of_rest = std::max(0.0, 1 - share_of_trends - share_of_check - share_of_columns -
                                    share_of_choice - share_of_scores - 2 * share_of_triples);
  // few: what pairs do not need comes back to the columns.
  const double sigma = noise(share_of_columns + (route == PairRoute::few ? share_of_rest : 0),
                             static_cast<double>(columns));
  // As many cells as each can be told from noise, and halves of them together well. Where that
  // would be few, some more: they are smoothed, and two bells are not one.
  const double ratio = n / sigma;
  const double told = std::min(ratio / 2, 2 * std::pow(ratio / 6, 2));
  const double smoothed = std::min(kSmoothed * ratio, double{kUsualCells});
  double wanted = std::clamp(std::max(told, smoothed), double{kFewestCells}, 65535.0);
  // Where they are few, powers of two: parts then have as many cells as each other.
  if (wanted < kManyCells)
    wanted = std::max({std::exp2(std::floor(std::log2(std::max(told, 1.0)))),
                       std::exp2(std::round(std::log2(smoothed))), double{kFewestCells}});
  coarse = static_cast<std::uint32_t>(wanted);
}

std::size_t SynthesisDesign::most_pairs() const {
  return route == PairRoute::many ? std::min(pairs(), kTried * columns) : with_target + others;
}

std::size_t SynthesisDesign::cells_again() const {
  constexpr std::size_t kWidest =
      std::max(ColumnLevels::kMostNumbers, ColumnLevels::kMostCategories);
  return most_pairs() * kWidest * kWidest + triples * triple_levels * triple_levels * triple_levels;
}

namespace {

LatticeNoise column_noise(const SynthesisDesign& d, const ColumnCounts& counts, double often,
                          const Budget& budget) {
  const double moved = histogram_distance(d.relation).l1;  // entries that one record changes
  const auto columns = static_cast<double>(d.columns), kinds = static_cast<double>(counts.kinds());
  const Distance all = {moved * (often * columns + kinds),
                        up(std::sqrt(moved * often * often * columns + moved * moved * kinds))};
  return counting_noise(d.relation, budget.part(d.share_of_columns), times(all, d.contributions),
                        counts.size());
}

// Of so many scores, each of which a record moves by at most 1; or of so many blocks of sums, of
// which it moves each by at most 1 in both norms.
LatticeNoise score_noise(const SynthesisDesign& d, std::size_t scores, const Budget& budget,
                         std::size_t sums = 0) {
  const auto queries = static_cast<double>(scores);
  const double moved = (d.relation == Relation::replace_one ? 2.0 : 1.0) * kScoreSteps;
  return {d.relation, budget, 1.0 / kScoreSteps,
          times({up(moved * queries), up(moved * up(std::sqrt(queries)))}, d.contributions),
          std::max(scores, sums)};
}

SelectionOptions selection(const SynthesisDesign& d, const Budget& budget, double moved) {
  return {.relation = d.relation,
          .sensitivity = moved * (d.relation == Relation::replace_one ? 2 : 1) *
                         static_cast<double>(d.contributions),
          .budget = budget};
}

}  // namespace

SynthesisMechanisms::SynthesisMechanisms(const SynthesisDesign& d, const ColumnCounts& counts,
                                         const Budget& budget)
    : pure_(budget.is_pure()),
      of_columns_(counts.kinds() == 0 ? 1
                  : pure_             ? kBesideKindsPure
                                      : kBesideKinds),
      columns_(column_noise(d, counts, static_cast<double>(of_columns_), budget)) {
  if (d.route == PairRoute::none) return;
  const Distance one = histogram_distance(d.relation);
  if (d.trends > 0) {
    trends_.emplace(score_noise(d, d.columns - 1, budget.part(d.share_of_trends), d.trends));
    check_.emplace(score_noise(d, TargetCheck::kSums, budget.part(d.share_of_check)));
  }
  if (d.scored() == 0) return;
  scores_.emplace(score_noise(d, d.scored(), budget.part(d.share_of_scores)));
  if (d.share_of_choice > 0) {
    const std::size_t chosen = d.all_targets ? 0 : d.with_target;
    const double each = d.share_of_choice / static_cast<double>(chosen + d.others);
    if (chosen > 0)
      targets_.emplace(chosen, selection(d, budget.part(each * static_cast<double>(chosen)), 2));
    if (d.others > 0)
      others_.emplace(d.others, selection(d, budget.part(each * static_cast<double>(d.others)), 1));
  }
  if (d.triples > 0) {
    triples_.emplace(d.triples, selection(d, budget.part(d.share_of_triples), 1));
    triple_scores_.emplace(score_noise(d, d.triples, budget.part(d.share_of_triples)));
  }
  // How many cells the chosen pairs have is not known before; the noise and its event are those of
  // as many as there can be, and what is left of them is noise on nothing.
  const double steps = kWeightSteps;
  again_.emplace(d.relation, budget.part(d.share_of_rest), 1.0 / kWeightSteps,
                 times({one.l1 * steps, up(one.l2 * steps)}, d.contributions),
                 counts.size() + d.cells_again());
}

Event SynthesisMechanisms::event() const {
  std::vector<Event> all = {columns_.event()};
  if (trends_) all.push_back(trends_->event());
  if (targets_) all.push_back(targets_->event());
  if (others_) all.push_back(others_->event());
  if (scores_) all.push_back(scores_->event());
  if (triples_) all.push_back(triples_->event());
  if (triple_scores_) all.push_back(triple_scores_->event());
  if (again_) all.push_back(again_->event());
  if (check_) all.push_back(check_->event());
  return all.size() == 1 ? all.front() : compose(std::move(all));
}

}  // namespace sotto
