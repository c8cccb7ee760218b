#include "sotto/models/synthesis/detail/synthesis_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/synthesis/detail/column_counts.hpp"
#include "sotto/models/synthesis/detail/measurement_plan.hpp"
#include "sotto/models/synthesis/detail/pair_queries.hpp"
#include "sotto/models/synthesis/detail/pair_shrinkage.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/detail/target_check.hpp"
#include "sotto/models/synthesis/detail/trend_queries.hpp"
#include "sotto/models/synthesis/detail/triple_queries.hpp"

namespace sotto {
namespace {

constexpr double kTargetImportance = 8, kTripleImportance = 8;
constexpr double kDoubt = 1;  // deviations of its noise by which a score is believed less
// few: the same of pairs without the target, the best of many, whose scores are often luck.
constexpr double kDoubtOfOthers = 4;
constexpr double kSeenBins = 16;
constexpr double kNoBar = std::numeric_limits<double>::infinity();
constexpr double kNoiseShareOfRecords = 0.25;
constexpr double kMeanAbsoluteNormal = 0.7978845608028654;  // E|Z| of a standard normal
constexpr double kLeastDeviation = 0.5;
constexpr double kShrunken = 0.1;  // of the noise is left where pairs were shrunken
constexpr std::uint64_t kIterations = 400;
constexpr std::size_t kDrawnForCheck = 4096;

// The counts of a column as they are known so far.
struct KnownCounts {
  std::vector<double> counts;
  double deviation = 0;
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

// What was looked at, and how much each holds.
struct Looked {
  std::vector<PairCandidate> pairs;
  std::vector<TripleCandidate> triples;
};

class SynthesisTraining final : public TrainingPlan {
 public:
  SynthesisTraining(const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        bins_(static_cast<std::uint32_t>(request.options.whole("bins"))),
        columns_(*facts.encoder, bins_),
        private_(request.method != "none"),
        design_(columns_, facts, private_ ? required_budget(request) : Budget::zcdp(0x1p40),
                request.method == "columns"),
        counts_(columns_, design_.coarse),
        mechanisms_(design_, counts_.size(), private_ ? budget_for(request) : Budget::zcdp(1)) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    const bool alone = design_.route == PairRoute::none;
    Explanation e{.method = !private_ ? "none" : alone ? "columns" : "marginals"};
    e.words = fmt::format("counts of {} columns", columns_.columns());
    if (design_.route == PairRoute::many)
      e.words += " and of the pairs of them that depend on each other most";
    if (design_.route == PairRoute::few)
      e.words += fmt::format(" and of at most {} pairs of them", design_.most_pairs());
    e.words += alone ? ", as if none depended on another"
                     : "; the Markov model that fits them draws records";
    if (design_.triples > 0)
      e.words +=
          fmt::format("; at most {} triples with the target are counted, too", design_.triples);
    if (design_.trends > 0) e.words += "; trends with the target say where no pair is counted";
    if (private_)
      e.words += fmt::format("; discrete {} noise of scale {:.4g} on the counts of columns",
                             mechanisms_.columns().gaussian() ? "Gaussian" : "Laplace",
                             mechanisms_.columns().scale());
    e.figures = {{"columns", columns_.columns()}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    source.keep();
    SynthesisModel model;
    model.bins = bins_;
    std::vector<KnownCounts> known = first_counts(source, rng);
    make_levels(known, model);
    if (mechanisms_.again()) {
      const Trends found = trends(source, rng, model);
      const PairQueries ask(columns_, model, found.tables);
      const TripleQueries ask_triples(columns_, model, std::max(1u, design_.triple_levels));
      Looked looked;
      looked.pairs = scored(ask, source, rng, candidates(ask, source, rng), model);
      looked.triples = triples(ask_triples, ask, source, rng, looked.pairs, model.total);
      count_again(ask, ask_triples, source, rng, weights(looked, known, model), found, known,
                  model);
    }

    MarkovModel markov = markov_of(model);
    Progress progress(control.shown(kIterations));
    markov.fit(
        model.measured, model.total, kIterations,
        [&](std::uint64_t done) { progress.advance(done); },
        design_.route == PairRoute::many ? MarkovModel::kNoise : kShrunken);
    progress.finish();
    model.potentials = markov.potentials();
    if (mechanisms_.check()) check(source, rng, markov, model);
    return finished(synthesis_generator(std::move(model), facts_));
  }

 private:
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

  Budget budget_for(const TrainingRequest& request) const {
    return confirmed(required_budget(request), facts_.relation, [&](const Budget& budget) {
      return SynthesisMechanisms(design_, counts_.size(), budget).event();
    });
  }

  // Noise, or none for a run that is NOT PRIVATE.
  std::vector<double> noised(const LatticeNoise& noise, const std::vector<int128>& sums,
                             Rng& rng) const {
    const std::vector<int128> noisy = private_ ? noise.add(sums, rng) : sums;
    std::vector<double> natural(noisy.size());
    for (std::size_t i = 0; i < natural.size(); ++i)
      natural[i] = static_cast<double>(noisy[i]) * noise.granularity();
    return natural;
  }
  // Of a count that was noised after it was multiplied by the weight. Next to none counts as a
  // part of a record: marginals are weighed by it.
  double deviation(const LatticeNoise& noise, double weight = 1) const {
    return std::max(kLeastDeviation, private_ ? *noise.info().standard_deviation / weight : 0);
  }

  std::vector<KnownCounts> first_counts(Source& source, Rng& rng) const {
    const std::vector<std::int64_t> once(columns_.columns(), 1);
    const auto add = [&](const Table& block, std::span<int128> total) {
      counts_.add(block, once, total);
    };
    const std::vector<double> noisy =
        noised(mechanisms_.columns(), source.sum(counts_.size(), add), rng);
    std::vector<KnownCounts> known(columns_.columns());
    for (std::size_t j = 0; j < known.size(); ++j) {
      const std::span<const double> own = counts_.of(j, noisy);
      known[j] = {{own.begin(), own.end()}, deviation(mechanisms_.columns())};
    }
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
    const bool few = design_.route == PairRoute::few;
    const std::uint32_t levels = few ? design_.levels : few_levels(model.total);
    for (std::size_t j = 0; j < columns_.columns(); ++j) {
      // Few pairs say something only where levels stay apart, those of the target above all.
      const bool classes = columns_.target() == j && !columns_.is_numeric(j);
      const double bar = few && classes                  ? -kNoBar
                         : few && columns_.is_numeric(j) ? model.total / design_.levels
                                                         : kNoBar;
      model.columns.push_back(
          counts_.levels(j, known[j].counts, known[j].deviation, levels, bar, model.total));
      const ColumnLevels& made = model.columns.back();
      model.measured.push_back({{static_cast<std::uint32_t>(j)}, made.counts, made.deviation});
    }
  }

  // So many levels of a number that the noise of a pair of them, among twice as many pairs as there
  // are columns, is a part of the records.
  std::uint32_t few_levels(double total) const {
    if (!mechanisms_.again()) return ColumnLevels::kFewNumbers;
    const double noise =
        kMeanAbsoluteNormal * noise_of_pairs(2 * static_cast<double>(columns_.columns()));
    return static_cast<std::uint32_t>(std::clamp(std::sqrt(kNoiseShareOfRecords * total / noise),
                                                 3.0,
                                                 static_cast<double>(ColumnLevels::kFewNumbers)));
  }
  // The standard deviation of a count of one of so many pairs of equal weight.
  double noise_of_pairs(double pairs) const {
    return deviation(*mechanisms_.again(), 1 / (mechanisms_.pure() ? pairs : std::sqrt(pairs)));
  }

  // Tables of columns with the target that their trends make likely.
  Trends trends(Source& source, Rng& rng, const SynthesisModel& model) const {
    Trends found;
    if (!mechanisms_.trends()) return found;
    const TrendQueries& ask = found.ask.emplace(columns_, model);
    std::vector<int128> sums = ask.sums(source);
    if (sums.size() > design_.trends) invariant_broken("more trends than were paid for");
    for (int128& s : sums) s *= kScoreSteps;
    sums.resize(design_.trends);
    const LatticeNoise& noise = *mechanisms_.trends();
    found.sums = ask.shrunken(noised(noise, sums, rng), deviation(noise));
    for (std::size_t j = 0; j < found.sums.size(); ++j)
      found.tables.push_back(found.sums[j].empty() ? std::vector<double>()
                                                   : ask.table(j, found.sums[j], model));
    return found;
  }

  // What the model says of the target, taken back to what holds; columns stay as they were counted.
  void check(Source& source, Rng& rng, MarkovModel& markov, SynthesisModel& model) const {
    const TargetCheck ask(columns_, model, markov.sample(kDrawnForCheck, rng));
    const LatticeNoise& noise = *mechanisms_.check();
    const std::vector<double> sums = noised(noise, ask.sums(source), rng);
    const double slope = checked_slope(sums, deviation(noise), ask.expected());
    std::vector<std::vector<double>> potentials = model.potentials;
    std::vector<Marginal> wanted = model.measured;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      if (wanted[t].columns.size() == 1) continue;
      wanted[t].deviation = kNoBar;
      const auto target = static_cast<std::uint32_t>(*columns_.target());
      if (std::ranges::find(wanted[t].columns, target) == wanted[t].columns.end()) continue;
      for (double& x : potentials[t]) x *= slope;
    }
    markov.set_potentials(std::move(potentials));
    markov.fit(wanted, model.total, kIterations, {}, kShrunken);
    model.potentials = markov.potentials();
  }

  // The pairs that are looked at: all of them; or, on the route few, those with the target, all or
  // the best by the exponential mechanism, and the best of the others.
  std::vector<ColumnPair> candidates(const PairQueries& ask, Source& source, Rng& rng) const {
    std::vector<ColumnPair> with, without, all;
    for (std::uint32_t a = 0; a < columns_.columns(); ++a) {
      for (std::uint32_t b = a + 1; b < columns_.columns(); ++b) {
        all.emplace_back(a, b);
        (ask.with_target({a, b}) ? with : without).emplace_back(a, b);
      }
    }
    if (design_.route == PairRoute::many) return all;
    std::vector<ColumnPair> chosen;
    const auto take = [&](const TopKPlan& plan, const std::vector<ColumnPair>& pairs,
                          const std::vector<int128>& steps) {
      std::vector<double> scores;
      for (const int128 s : steps) scores.push_back(static_cast<double>(s) / kScoreSteps);
      for (const std::size_t i : plan.run(scores, rng).value) chosen.push_back(pairs[i]);
    };
    if (design_.all_targets) chosen = with;
    if (mechanisms_.targets()) take(*mechanisms_.targets(), with, ask.from_target(source, with));
    if (mechanisms_.others()) take(*mechanisms_.others(), without, ask.apart(source, without));
    return chosen;
  }

  // The triples that are looked at, by the exponential mechanism, and how much each of them holds
  // that neither columns nor pairs do, by a noisy score.
  std::vector<TripleCandidate> triples(const TripleQueries& ask, const PairQueries& ask_pairs,
                                       Source& source, Rng& rng,
                                       const std::vector<PairCandidate>& pairs,
                                       double total) const {
    std::vector<TripleCandidate> made;
    if (!mechanisms_.triples()) return made;
    const std::size_t d = columns_.columns();
    std::vector<double> dependence(d * d);
    for (const PairCandidate& c : pairs)
      dependence[c.columns.first * d + c.columns.second] = c.dependence;
    for (const ColumnPair& pair : ask_pairs.with_trend())
      dependence[pair.first * d + pair.second] =
          std::hypot(dependence[pair.first * d + pair.second], ask_pairs.trend_apart(pair));
    // Two columns that depend on each other, and the target on one of them: that looks like
    // something of all three. The records of it, about.
    const auto chained = [&](const ColumnTriple& t) {
      double own = 0, with_target = 0;
      for (const auto& [a, b] : {std::pair{t[0], t[1]}, {t[0], t[2]}, {t[1], t[2]}})
        (columns_.target() == a || columns_.target() == b ? with_target : own) +=
            dependence[a * d + b];
      return own * with_target / total;
    };
    const std::vector<ColumnTriple> all = ask.all();
    const std::vector<int128> exact = ask.together(source, all);
    std::vector<double> scores;
    for (std::size_t i = 0; i < all.size(); ++i)
      scores.push_back(less_public_part(exact[i], chained(all[i]) / ask.scale(all[i])));
    std::vector<ColumnTriple> chosen;
    for (const std::size_t i : mechanisms_.triples()->run(scores, rng).value)
      chosen.push_back(all[i]);

    const LatticeNoise& noise = *mechanisms_.triple_scores();
    const std::vector<double> noisy = noised(noise, ask.together(source, chosen), rng);
    const double doubt = private_ ? kDoubt * *noise.info().standard_deviation : 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      // What chance leaves between the records is nothing that a model could learn.
      const double seen =
          std::max(0.0, (noisy[i] - doubt) * ask.scale(chosen[i]) - chained(chosen[i]));
      const double chance = chance_of(chosen[i], ask, total);
      made.push_back({.columns = chosen[i],
                      .dependence = std::sqrt(std::max(0.0, seen * seen - chance * chance)),
                      .cells = static_cast<double>(ask.cells(chosen[i])),
                      .importance = kTripleImportance});
    }
    return made;
  }

  // How far each of these is from independence, by a noisy score.
  std::vector<PairCandidate> scored(const PairQueries& ask, Source& source, Rng& rng,
                                    const std::vector<ColumnPair>& pairs,
                                    const SynthesisModel& model) const {
    const std::vector<double> noisy = noised(*mechanisms_.scores(), ask.apart(source, pairs), rng);
    const double noise = private_ ? *mechanisms_.scores()->info().standard_deviation : 0;
    std::vector<PairCandidate> made;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      // What the noise of the columns alone would show is no dependence.
      const bool lucky = design_.route == PairRoute::few && !ask.with_target(pairs[i]);
      const double seen = std::max(0.0, noisy[i] - (lucky ? kDoubtOfOthers : kDoubt) * noise),
                   blur = blur_of(pairs[i], model);
      made.push_back({.columns = pairs[i],
                      .dependence = std::sqrt(std::max(0.0, seen * seen - blur * blur)),
                      .cells = static_cast<double>(ask.cells(pairs[i])),
                      .importance = ask.with_target(pairs[i]) ? kTargetImportance : 1});
    }
    return made;
  }

  // Σ |M − n·p·q·r| that is expected of independent records.
  static double chance_of(const ColumnTriple& triple, const TripleQueries& ask, double total) {
    double roots = 1;
    for (const std::uint32_t j : triple) {
      double sum = 0;
      for (const double p : ask.shares(j)) sum += std::sqrt(p);
      roots *= sum;
    }
    return kMeanAbsoluteNormal * std::sqrt(total) * roots;
  }

  // Σ |n·p·q − E| that the noise of p and q makes expected.
  static double blur_of(const ColumnPair& pair, const SynthesisModel& model) {
    const Marginal &a = model.measured[pair.first], &b = model.measured[pair.second];
    double sum = 0;
    const std::vector<double> q = level_shares(b, model.total);
    for (const double x : level_shares(a, model.total))
      for (const double y : q) sum += std::hypot(y * a.deviation, x * b.deviation);
    return kMeanAbsoluteNormal * sum;
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
          columns_.is_numeric(j)
              ? std::max(1.0, kSeenBins * cells[l] / static_cast<double>(c.level.size()))
              : 1;
      sum += std::sqrt(p[l] * bins);
    }
    return sum * sum;
  }

  Weights weights(const Looked& looked, const std::vector<KnownCounts>& known,
                  const SynthesisModel& model) const {
    MeasurementFacts facts{.records = model.total,
                           .noise = deviation(*mechanisms_.again()),
                           .laplace = mechanisms_.pure(),
                           .most = design_.most_pairs()};
    for (std::size_t j = 0; j < known.size(); ++j) {
      facts.levels.push_back(model.columns[j].levels);
      facts.cells.push_back(model.columns[j].levels * model.columns[j].deviation /
                            known[j].deviation);
      facts.deviation.push_back(known[j].deviation);
      facts.bins.push_back(bins_of(j, model));
    }
    facts.unknown = kMeanAbsoluteNormal * std::sqrt(model.total) * design_.levels;
    const std::vector<PairCandidate>& candidates = looked.pairs;
    const MeasurementPlan plan = planned_measurements(facts, candidates, looked.triples);
    // Rounded down, with room for the rounding of the norm, which is what noise is made for.
    int128 norm = 0;
    const auto steps = [&](double share) {
      const double weight = mechanisms_.pure() ? share : std::sqrt(share);
      const auto whole =
          weight > 0
              ? static_cast<std::int64_t>(std::min(weight, 1.0) * kWeightSteps * (1 - 0x1p-30))
              : 0;
      norm += mechanisms_.pure() ? int128{whole} : int128{whole} * whole;
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
    if (norm > int128{kWeightSteps} * (mechanisms_.pure() ? 1 : kWeightSteps))
      invariant_broken("more was asked than was paid for");
    return made;
  }

  void count_again(const PairQueries& ask, const TripleQueries& ask_triples, Source& source,
                   Rng& rng, const Weights& weights, const Trends& found,
                   std::vector<KnownCounts>& known, SynthesisModel& model) const {
    const auto add = [&](const Table& block, std::span<int128> total) {
      counts_.add(block, weights.columns, total);
    };
    std::vector<int128> sums = source.sum(counts_.size(), add);
    std::vector<int128> of_pairs = ask.counts(source, weights.pairs);
    const std::vector<int128> of_triples = ask_triples.counts(source, weights.triples);
    of_pairs.insert(of_pairs.end(), of_triples.begin(), of_triples.end());
    if (of_pairs.size() > design_.cells_again()) invariant_broken("more cells than were paid for");
    std::size_t at = 0;
    for (std::size_t i = 0; i < weights.pairs.size(); ++i)
      for (std::size_t c = 0; c < ask.cells(weights.pairs[i]); ++c)
        of_pairs[at++] *= weights.of_pairs[i];
    for (std::size_t i = 0; i < weights.triples.size(); ++i)
      for (std::size_t c = 0; c < ask_triples.cells(weights.triples[i]); ++c)
        of_pairs[at++] *= weights.of_triples[i];
    of_pairs.resize(design_.cells_again());
    sums.insert(sums.end(), of_pairs.begin(), of_pairs.end());
    const LatticeNoise& noise = *mechanisms_.again();
    const std::vector<double> noisy = noised(noise, sums, rng);

    for (std::size_t j = 0; j < known.size(); ++j) {
      if (weights.columns[j] == 0) continue;
      const double weight = static_cast<double>(weights.columns[j]) / kWeightSteps;
      const double own = std::pow(known[j].deviation, -2),
                   other = std::pow(deviation(noise, weight), -2);
      const std::span<const double> counts = counts_.of(j, noisy);
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
          paired[j] ? counts_.levels(j, k.counts, k.deviation, model.columns[j], model.total)
                    : counts_.levels(j, k.counts, k.deviation, ColumnLevels::kFewNumbers, kNoBar,
                                     model.total);
      model.measured[j].counts = model.columns[j].counts;
      model.measured[j].deviation = model.columns[j].deviation;
    }

    for (const auto& [a, b] : told) {
      const std::uint32_t column = columns_.target() == a ? b : a;
      std::vector<double> counts = found.ask->table(column, found.sums[column], model);
      for (double& x : counts) x *= model.total;
      // The noise of one sum of all cells, in each of them.
      const double noise_of_cell =
          deviation(*mechanisms_.trends()) / std::sqrt(static_cast<double>(counts.size()));
      model.measured.push_back({{a, b}, std::move(counts), noise_of_cell});
    }
    at = counts_.size();
    for (std::size_t i = 0; i < weights.pairs.size(); ++i) {
      const ColumnPair& pair = weights.pairs[i];
      const std::size_t cells = ask.cells(pair), from = std::exchange(at, at + cells);
      if (weights.of_pairs[i] == 0) continue;
      const double weight = static_cast<double>(weights.of_pairs[i]) / kWeightSteps;
      Marginal marginal{{pair.first, pair.second}, {}, deviation(noise, weight)};
      for (std::size_t c = 0; c < cells; ++c) marginal.counts.push_back(noisy[from + c] / weight);
      if (design_.route == PairRoute::few && private_)
        shrink(marginal, model.measured[pair.first], model.measured[pair.second], model.total,
               ratios[i]);
      model.measured.push_back(std::move(marginal));
    }
    for (std::size_t i = 0; i < weights.triples.size(); ++i) {
      const ColumnTriple& triple = weights.triples[i];
      const std::size_t cells = ask_triples.cells(triple), from = std::exchange(at, at + cells);
      if (weights.of_triples[i] == 0) continue;
      const double weight = static_cast<double>(weights.of_triples[i]) / kWeightSteps;
      Marginal marginal{
          {triple.begin(), triple.end()}, {}, deviation(noise, weight), ask_triples.groups(triple)};
      for (std::size_t c = 0; c < cells; ++c) marginal.counts.push_back(noisy[from + c] / weight);
      if (private_)
        shrink(marginal,
               {ask_triples.shares(triple[0]), ask_triples.shares(triple[1]),
                ask_triples.shares(triple[2])},
               model.total);
      model.measured.push_back(std::move(marginal));
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

  Facts facts_;
  std::uint32_t bins_;
  CellColumns columns_;
  bool private_;
  SynthesisDesign design_;
  ColumnCounts counts_;
  SynthesisMechanisms mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> synthesis_training(const Facts& facts,
                                                 const TrainingRequest& request) {
  return std::make_unique<SynthesisTraining>(facts, request);
}

}  // namespace sotto
