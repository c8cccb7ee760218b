#include "sotto/models/synthesis/detail/synthesis_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/models/synthesis/detail/dependence_search.hpp"
#include "sotto/models/synthesis/detail/pair_shrinkage.hpp"
#include "sotto/models/synthesis/detail/target_check.hpp"
#include "sotto/models/synthesis/detail/trend_queries.hpp"

namespace sotto {
namespace {

constexpr double kSeenBins = 16;
constexpr double kNoBar = std::numeric_limits<double>::infinity();
constexpr double kNoiseShareOfRecords = 0.25;
constexpr double kShrunken = 0.1;    // of the noise is left where pairs were shrunken
constexpr double kHardlyAny = 1e-6;  // of the records: where fitting starts from none
constexpr std::uint64_t kIterations = 400;
constexpr std::size_t kDrawnForCheck = 4096;

// The counts of a column as they are known so far.
struct KnownCounts {
  std::vector<double> counts;
  double deviation = 0;
  double gaps = 0;  // of the records: those between whole numbers, where these have cells
};

// What is counted last, and how often a record counts there.
struct Weights {
  std::vector<std::int64_t> columns;  // steps
  std::vector<ColumnPair> pairs;
  std::vector<std::int64_t> of_pairs;  // steps
  std::vector<ColumnTriple> triples;
  std::vector<std::int64_t> of_triples;  // steps
};

// Trends with the target, as they were released.
struct Trends {
  std::optional<TrendQueries> ask;
  std::vector<std::vector<double>> sums, tables;  // of each column
};

class SynthesisRun {
 public:
  explicit SynthesisRun(const SynthesisSetting& setting) : s_(setting) {}

  SynthesisModel operator()(std::uint32_t bins, Source& source, Rng& rng,
                            RunControl& control) const {
    source.keep();
    SynthesisModel model;
    model.bins = bins;
    std::vector<KnownCounts> known = first_counts(source, rng);
    make_levels(known, model);
    const Trends found = trends(source, rng, model);
    const PairQueries ask(s_.columns, model, found.tables);
    if (!s_.mechanisms.again()) {
      add_told(told_by_trends(ask, {}, model), found, model);
    } else {
      const TripleQueries ask_triples(s_.columns, model, std::max(1u, s_.design.triple_levels));
      const Looked looked = looked_at(s_, ask, ask_triples, source, rng, model);
      count_again(ask, ask_triples, source, rng, weights(looked, known, model), found, known,
                  model);
    }

    MarkovModel markov = markov_of(model);
    if (s_.design.route != PairRoute::many) markov.set_potentials(of_columns_alone(model));
    Progress progress(control.shown(kIterations));
    markov.fit(
        model.measured, model.total, kIterations,
        [&](std::uint64_t done) { progress.advance(done); },
        s_.design.route == PairRoute::many ? MarkovModel::kNoise : kShrunken);
    progress.finish();
    model.potentials = markov.potentials();
    if (s_.mechanisms.check()) check(source, rng, markov, model);
    return model;
  }

 private:
  // Columns as they were counted, independent of each other: there fitting starts.
  static std::vector<std::vector<double>> of_columns_alone(const SynthesisModel& model) {
    std::vector<std::vector<double>> potentials;
    for (const Marginal& m : model.measured) {
      std::vector<double>& own = potentials.emplace_back(m.counts.size());
      if (m.columns.size() > 1) continue;
      for (std::size_t l = 0; l < own.size(); ++l)
        own[l] = std::log(std::max(m.counts[l], kHardlyAny * model.total) / model.total);
    }
    return potentials;
  }
  static MarkovModel markov_of(const SynthesisModel& model) {
    std::vector<std::uint32_t> levels;
    std::vector<std::vector<std::uint32_t>> terms;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    std::vector<LevelGrouping> groups;
    for (const Marginal& m : model.measured) {
      terms.push_back(m.columns);
      groups.push_back(m.groups);
    }
    return {std::move(levels), std::move(terms), groups};
  }

  std::vector<KnownCounts> first_counts(Source& source, Rng& rng) const {
    const std::int64_t often = s_.mechanisms.of_columns();
    const std::vector<std::int64_t> weight(s_.columns.columns(), often);
    const auto add = [&](const Table& block, std::span<int128> total) {
      s_.counts.add(block, weight, 1, total);
    };
    const std::vector<double> noisy =
        s_.noised(s_.mechanisms.columns(), source.sum(s_.counts.size(), add), rng);
    std::vector<KnownCounts> known(s_.columns.columns());
    for (std::size_t j = 0; j < known.size(); ++j) {
      const std::span<const double> own = s_.counts.of(j, noisy);
      known[j].deviation = s_.deviation(s_.mechanisms.columns(), static_cast<double>(often));
      for (const double x : own) known[j].counts.push_back(x / static_cast<double>(often));
    }
    const double total = total_of(known);
    for (std::size_t j = 0; j < known.size(); ++j)
      known[j].gaps = s_.counts.gaps(j, noisy, s_.deviation(s_.mechanisms.columns()), total);
    return known;
  }

  static double total_of(const std::vector<KnownCounts>& known) {
    double totals = 0, weights = 0;
    for (const KnownCounts& k : known) {
      const double weight = 1 / (k.deviation * k.deviation * static_cast<double>(k.counts.size()));
      totals += weight * std::accumulate(k.counts.begin(), k.counts.end(), 0.0);
      weights += weight;
    }
    // Beyond 2^41 what is expected would make scores that are no doubles.
    return std::clamp(totals / weights, 1.0, 0x1p41);
  }

  void make_levels(const std::vector<KnownCounts>& known, SynthesisModel& model) const {
    model.total = total_of(known);
    const bool small = s_.design.route == PairRoute::few, few = small && s_.mechanisms.again();
    const std::uint32_t levels = few ? s_.design.levels : few_levels(model.total);
    for (std::size_t j = 0; j < s_.columns.columns(); ++j) {
      // Few pairs say something only where levels stay apart, those of the target above all.
      const bool classes = s_.columns.target() == j && !s_.columns.is_numeric(j);
      const double bar = small && classes                  ? -kNoBar
                         : few && s_.columns.is_numeric(j) ? model.total / s_.design.levels
                                                           : kNoBar;
      model.columns.push_back(s_.counts.levels(j, known[j].counts, known[j].deviation,
                                               known[j].gaps, levels, bar, model.total));
      const ColumnLevels& made = model.columns.back();
      model.measured.push_back({{static_cast<std::uint32_t>(j)}, made.counts, made.deviation});
    }
  }

  // So many levels of a number that the noise of a pair of them, among twice as many pairs as there
  // are columns, is a part of the records.
  std::uint32_t few_levels(double total) const {
    if (!s_.mechanisms.again()) return ColumnLevels::kFewNumbers;
    const double noise =
        kMeanAbsoluteNormal * noise_of_pairs(2 * static_cast<double>(s_.columns.columns()));
    return static_cast<std::uint32_t>(std::clamp(std::sqrt(kNoiseShareOfRecords * total / noise),
                                                 3.0,
                                                 static_cast<double>(ColumnLevels::kFewNumbers)));
  }
  // The standard deviation of a count of one of so many pairs of equal weight.
  double noise_of_pairs(double pairs) const {
    return s_.deviation(*s_.mechanisms.again(),
                        1 / (s_.mechanisms.pure() ? pairs : std::sqrt(pairs)));
  }

  // Tables of columns with the target that their trends make likely.
  Trends trends(Source& source, Rng& rng, const SynthesisModel& model) const {
    Trends found;
    if (!s_.mechanisms.trends()) return found;
    const TrendQueries& ask = found.ask.emplace(s_.columns, model);
    std::vector<int128> sums = ask.sums(source);
    if (sums.size() > s_.design.trends) invariant_broken("more trends than were paid for");
    for (int128& s : sums) s *= kScoreSteps;
    sums.resize(s_.design.trends);
    const LatticeNoise& noise = *s_.mechanisms.trends();
    found.sums = ask.shrunken(s_.noised(noise, sums, rng), s_.deviation(noise));
    for (std::size_t j = 0; j < found.sums.size(); ++j)
      found.tables.push_back(found.sums[j].empty() ? std::vector<double>()
                                                   : ask.table(j, found.sums[j], model));
    return found;
  }

  // What the model says of the target, taken back to what holds; columns stay as they were counted.
  void check(Source& source, Rng& rng, MarkovModel& markov, SynthesisModel& model) const {
    const TargetCheck ask(s_.columns, model, markov.sample(kDrawnForCheck, rng));
    const LatticeNoise& noise = *s_.mechanisms.check();
    const std::vector<double> sums = s_.noised(noise, ask.sums(source), rng);
    const double slope = checked_slope(sums, s_.deviation(noise), ask.expected());
    std::vector<std::vector<double>> potentials = model.potentials;
    std::vector<Marginal> wanted = model.measured;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      if (wanted[t].columns.size() == 1) continue;
      wanted[t].deviation = kNoBar;
      const auto target = static_cast<std::uint32_t>(*s_.columns.target());
      if (std::ranges::find(wanted[t].columns, target) == wanted[t].columns.end()) continue;
      for (double& x : potentials[t]) x *= slope;
    }
    markov.set_potentials(std::move(potentials));
    markov.fit(wanted, model.total, kIterations, {}, kShrunken);
    model.potentials = markov.potentials();
  }

  // How many of kSeenBins equal bins of a number have records, or values of a category, about:
  // (Σ √p)², as errors by chance add up.
  double bins_of(std::size_t j, const SynthesisModel& model) const {
    const ColumnLevels& c = model.columns[j];
    std::vector<double> cells(c.levels);
    for (const std::uint32_t level : c.level) ++cells[level];
    const std::vector<double> p = level_shares(model.measured[j], model.total);
    double sum = 0;
    for (std::size_t l = 0; l < p.size(); ++l) {
      const double bins =
          s_.columns.is_numeric(j)
              ? std::max(1.0, kSeenBins * cells[l] / static_cast<double>(c.level.size()))
              : 1;
      sum += std::sqrt(p[l] * bins);
    }
    return sum * sum;
  }

  Weights weights(const Looked& looked, const std::vector<KnownCounts>& known,
                  const SynthesisModel& model) const {
    MeasurementFacts facts{.records = model.total,
                           .noise = s_.deviation(*s_.mechanisms.again()),
                           .laplace = s_.mechanisms.pure(),
                           .most = s_.design.most_pairs()};
    for (std::size_t j = 0; j < known.size(); ++j) {
      facts.levels.push_back(model.columns[j].levels);
      facts.cells.push_back(model.columns[j].levels * model.columns[j].deviation /
                            known[j].deviation);
      facts.deviation.push_back(known[j].deviation);
      facts.bins.push_back(bins_of(j, model));
    }
    facts.unknown = kMeanAbsoluteNormal * std::sqrt(model.total) * s_.design.levels;
    const std::vector<PairCandidate>& candidates = looked.pairs;
    const MeasurementPlan plan = planned_measurements(facts, candidates, looked.triples);
    // Rounded down, with room for the rounding of the norm, which is what noise is made for.
    int128 norm = 0;
    const auto steps = [&](double share) {
      const double weight = s_.mechanisms.pure() ? share : std::sqrt(share);
      const auto whole =
          weight > 0
              ? static_cast<std::int64_t>(std::min(weight, 1.0) * kWeightSteps * (1 - 0x1p-30))
              : 0;
      norm += s_.mechanisms.pure() ? int128{whole} : int128{whole} * whole;
      return whole;
    };
    Weights made;
    for (const double share : plan.column_share) made.columns.push_back(steps(share));
    for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
      made.pairs.push_back(candidates[plan.pairs[i]].columns);
      made.of_pairs.push_back(steps(plan.pair_share[i]));
    }
    for (std::size_t i = 0; i < plan.triples.size(); ++i) {
      made.triples.push_back(looked.triples[plan.triples[i]].columns);
      made.of_triples.push_back(steps(plan.triple_share[i]));
    }
    if (norm > int128{kWeightSteps} * (s_.mechanisms.pure() ? 1 : kWeightSteps))
      invariant_broken("more was asked than was paid for");
    return made;
  }

  void count_again(const PairQueries& ask, const TripleQueries& ask_triples, Source& source,
                   Rng& rng, const Weights& weights, const Trends& found,
                   std::vector<KnownCounts>& known, SynthesisModel& model) const {
    const auto add = [&](const Table& block, std::span<int128> total) {
      s_.counts.add(block, weights.columns, 0, total);
    };
    std::vector<int128> sums = source.sum(s_.counts.size(), add);
    std::vector<int128> of_pairs = ask.counts(source, weights.pairs);
    const std::vector<int128> of_triples = ask_triples.counts(source, weights.triples);
    of_pairs.insert(of_pairs.end(), of_triples.begin(), of_triples.end());
    if (of_pairs.size() > s_.design.cells_again())
      invariant_broken("more cells than were paid for");
    std::size_t at = 0;
    for (std::size_t i = 0; i < weights.pairs.size(); ++i)
      for (std::size_t c = 0; c < ask.cells(weights.pairs[i]); ++c)
        of_pairs[at++] *= weights.of_pairs[i];
    for (std::size_t i = 0; i < weights.triples.size(); ++i)
      for (std::size_t c = 0; c < ask_triples.cells(weights.triples[i]); ++c)
        of_pairs[at++] *= weights.of_triples[i];
    of_pairs.resize(s_.design.cells_again());
    sums.insert(sums.end(), of_pairs.begin(), of_pairs.end());
    const LatticeNoise& noise = *s_.mechanisms.again();
    const std::vector<double> noisy = s_.noised(noise, sums, rng);

    for (std::size_t j = 0; j < known.size(); ++j) {
      if (weights.columns[j] == 0) continue;
      const double weight = static_cast<double>(weights.columns[j]) / kWeightSteps;
      const double own = std::pow(known[j].deviation, -2),
                   other = std::pow(s_.deviation(noise, weight), -2);
      const std::span<const double> counts = s_.counts.of(j, noisy);
      for (std::size_t c = 0; c < counts.size(); ++c)
        known[j].counts[c] =
            (own * known[j].counts[c] + other * counts[c] / weight) / (own + other);
      known[j].deviation = 1 / std::sqrt(own + other);
    }
    // What is expected is said of the columns as they were when they were looked at.
    std::vector<std::vector<double>> ratios;
    for (const ColumnPair& pair : weights.pairs) ratios.push_back(ask.ratio(pair));
    const std::vector<ColumnPair> told = told_by_trends(ask, weights, model);
    model.total = total_of(known);
    std::vector<bool> paired(known.size());
    for (const ColumnPair& pair : weights.pairs) paired[pair.first] = paired[pair.second] = true;
    for (const ColumnTriple& triple : weights.triples)
      for (const std::uint32_t j : triple) paired[j] = true;
    for (std::size_t j = 0; j < known.size(); ++j) {
      // Levels that no pair was counted in can still be better ones.
      const KnownCounts& k = known[j];
      model.columns[j] =
          paired[j]
              ? s_.counts.levels(j, k.counts, k.deviation, k.gaps, model.columns[j], model.total)
              : s_.counts.levels(j, k.counts, k.deviation, k.gaps, ColumnLevels::kFewNumbers,
                                 kNoBar, model.total);
      model.measured[j].counts = model.columns[j].counts;
      model.measured[j].deviation = model.columns[j].deviation;
    }

    add_told(told, found, model);
    at = s_.counts.size();
    for (std::size_t i = 0; i < weights.pairs.size(); ++i) {
      const ColumnPair& pair = weights.pairs[i];
      const std::size_t cells = ask.cells(pair), from = std::exchange(at, at + cells);
      if (weights.of_pairs[i] == 0) continue;
      const double weight = static_cast<double>(weights.of_pairs[i]) / kWeightSteps;
      Marginal marginal{{pair.first, pair.second}, {}, s_.deviation(noise, weight)};
      for (std::size_t c = 0; c < cells; ++c) marginal.counts.push_back(noisy[from + c] / weight);
      if (s_.design.route == PairRoute::few && s_.is_private)
        shrink(marginal, model.measured[pair.first], model.measured[pair.second], model.total,
               ratios[i]);
      model.measured.push_back(std::move(marginal));
    }
    for (std::size_t i = 0; i < weights.triples.size(); ++i) {
      const ColumnTriple& triple = weights.triples[i];
      const std::size_t cells = ask_triples.cells(triple), from = std::exchange(at, at + cells);
      if (weights.of_triples[i] == 0) continue;
      const double weight = static_cast<double>(weights.of_triples[i]) / kWeightSteps;
      Marginal marginal{{triple.begin(), triple.end()},
                        {},
                        s_.deviation(noise, weight),
                        ask_triples.groups(triple)};
      for (std::size_t c = 0; c < cells; ++c) marginal.counts.push_back(noisy[from + c] / weight);
      if (s_.is_private)
        shrink(marginal,
               {ask_triples.shares(triple[0]), ask_triples.shares(triple[1]),
                ask_triples.shares(triple[2])},
               model.total);
      model.measured.push_back(std::move(marginal));
    }
  }

  // The tables that trends make of these pairs, with the levels that the columns have now.
  void add_told(const std::vector<ColumnPair>& told, const Trends& found,
                SynthesisModel& model) const {
    for (const auto& [a, b] : told) {
      const std::uint32_t column = s_.columns.target() == a ? b : a;
      std::vector<double> counts = found.ask->table(column, found.sums[column], model);
      for (double& x : counts) x *= model.total;
      // The noise of one sum of all cells, in each of them.
      const double noise_of_cell =
          s_.deviation(*s_.mechanisms.trends()) / std::sqrt(static_cast<double>(counts.size()));
      model.measured.push_back({{a, b}, std::move(counts), noise_of_cell});
    }
  }

  // The pairs whose trend is all that is known of them, as many as the tree has room for.
  std::vector<ColumnPair> told_by_trends(const PairQueries& ask, const Weights& weights,
                                         const SynthesisModel& model) const {
    std::vector<std::uint32_t> levels;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    std::vector<ColumnPair> edges = weights.pairs, all = ask.with_trend(), told;
    for (const ColumnTriple& triple : weights.triples) add_edges(triple, edges);
    std::ranges::stable_sort(all, std::greater<>(),
                             [&](const ColumnPair& pair) { return ask.trend_apart(pair); });
    for (const ColumnPair& pair : all) {
      if (std::ranges::find(weights.pairs, pair) != weights.pairs.end()) continue;
      edges.push_back(pair);
      if (junction_cells(levels, edges) > MarkovModel::kMostCells / 2)
        edges.pop_back();
      else
        told.push_back(pair);
    }
    return told;
  }

  const SynthesisSetting& s_;
};

}  // namespace

SynthesisModel synthesis_run(const SynthesisSetting& setting, std::uint32_t bins, Source& source,
                             Rng& rng, RunControl& control) {
  return SynthesisRun(setting)(bins, source, rng, control);
}

}  // namespace sotto
