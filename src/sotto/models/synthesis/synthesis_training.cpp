#include "sotto/models/synthesis/detail/synthesis_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {
namespace {

// Of the budget.
constexpr double kShareOfColumns = 0.22, kShareOfScores = 0.04, kShareOfPairs = 0.74;
constexpr std::int64_t kScoreSteps = 1 << 10;   // of one record
constexpr std::int64_t kWeightSteps = 1 << 20;  // of weight 1
constexpr std::size_t kCellsAtOnce = 1 << 20;   // of the pairs counted in one pass
constexpr std::size_t kTried = 8;               // pairs for each column that the tree is tried with
constexpr double kTargetWeight = 2;
constexpr double kPartOfRecords = 0.25;
constexpr double kNoiseOfMean = 0.7978845608028654;  // E|Z| of a standard normal
constexpr double kLeastDeviation = 0.5;
constexpr std::uint64_t kIterations = 400;

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

struct Setting {
  Relation relation;
  std::uint64_t contributions;
  std::size_t columns, cells;  // of all columns

  std::size_t pairs() const { return columns * (columns - 1) / 2; }
  // Of the pairs that are measured, whichever they are.
  std::size_t pair_cells() const {
    constexpr std::size_t kMost =
        std::max(ColumnLevels::kMostNumbers, ColumnLevels::kMostCategories);
    return std::max<std::size_t>(1, std::min(pairs(), kTried * columns)) * kMost * kMost;
  }
};

// What is noised by how much; a function of the budget.
struct Mechanisms {
  LatticeNoise columns;
  std::optional<LatticeNoise> scores;  // none without a pair
  Budget rest;

  Mechanisms(const Setting& s, const Budget& budget)
      : columns(counting_noise(s.relation, budget.part(kShareOfColumns),
                               many(histogram_distance(s.relation), s.columns, s), s.cells)),
        rest(budget.part(kShareOfPairs)) {
    if (s.pairs() == 0) return;
    const double moved = (s.relation == Relation::replace_one ? 2.0 : 1.0) * kScoreSteps;
    scores.emplace(s.relation, budget.part(kShareOfScores), 1.0 / kScoreSteps,
                   many({moved, moved}, s.pairs(), s), s.pairs());
  }
  // Of the chosen pairs. How many cells they have is not known before; the noise and its event are
  // those of as many as there can be, and what is left of them is noise on nothing.
  LatticeNoise pairs(const Setting& s) const {
    const Distance one = histogram_distance(s.relation);
    const double steps = kWeightSteps;
    return {s.relation, rest, 1.0 / kWeightSteps,
            times({one.l1 * steps, up(one.l2 * steps)}, s.contributions), s.pair_cells()};
  }
  Event event(const Setting& s) const {
    if (!scores) return columns.event();
    return compose({columns.event(), scores->event(), pairs(s).event()});
  }

 private:
  // So many queries of that distance each, of a unit's records.
  static Distance many(const Distance& one, std::size_t queries, const Setting& s) {
    const auto q = static_cast<double>(queries);
    return times({up(one.l1 * q), up(one.l2 * up(std::sqrt(q)))}, s.contributions);
  }
};

struct Chosen {
  ColumnPair columns;
  double score = 0;
  std::int64_t weight = 0;  // steps
};

class SynthesisTraining final : public TrainingPlan {
 public:
  SynthesisTraining(const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        bins_(static_cast<std::uint32_t>(request.options.whole("bins"))),
        columns_(*facts.encoder, bins_),
        private_(request.method != "none"),
        setting_{facts.relation, facts.contributions, columns_.columns(), columns_.size()},
        mechanisms_(setting_, private_ ? budget_for(request) : Budget::zcdp(1)) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event(setting_)) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = private_ ? "marginals" : "none"};
    e.words = fmt::format(
        "counts of {} columns and of the pairs of them that depend on each other most; the Markov "
        "model that fits them draws records",
        columns_.columns());
    if (private_)
      e.words += fmt::format("; discrete {} noise of scale {:.4g} on the counts of columns",
                             mechanisms_.columns.gaussian() ? "Gaussian" : "Laplace",
                             mechanisms_.columns.scale());
    e.figures = {{"columns", columns_.columns()}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    source.keep();
    SynthesisModel model;
    model.bins = bins_;
    measure_columns(source, rng, model);
    std::vector<Chosen> chosen = choose(scores(source, rng, model), model);
    measure_pairs(source, rng, chosen, model);

    std::vector<std::uint32_t> levels;
    std::vector<std::vector<std::uint32_t>> terms;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    for (const Marginal& m : model.measured) terms.push_back(m.columns);
    MarkovModel markov(std::move(levels), std::move(terms));
    Progress progress(control.shown(kIterations));
    markov.fit(model.measured, model.total, kIterations,
               [&](std::uint64_t done) { progress.advance(done); });
    progress.finish();
    model.potentials = markov.potentials();
    return finished(synthesis_generator(std::move(model), facts_));
  }

 private:
  Budget budget_for(const TrainingRequest& request) const {
    return confirmed(required_budget(request), facts_.relation, [&](const Budget& budget) {
      return Mechanisms(setting_, budget).event(setting_);
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

  void measure_columns(Source& source, Rng& rng, SynthesisModel& model) const {
    const std::vector<int128> sums =
        source.sum(columns_.size(), [&](const Table& block, std::span<int128> total) {
          std::vector<std::uint32_t> cells(columns_.columns());
          for (std::size_t i = 0; i < block.rows(); ++i) {
            if (block.is_null(i)) continue;
            columns_.read(block, i, cells);
            for (std::size_t j = 0; j < cells.size(); ++j)
              total[columns_.offset(j) + cells[j]] += 1;
          }
        });
    const std::vector<double> noisy = noised(mechanisms_.columns, sums, rng);
    const double sigma = deviation(mechanisms_.columns);
    double totals = 0, weights = 0;
    const auto counts_of = [&](std::size_t j) {
      return std::span<const double>(noisy.data() + columns_.offset(j), columns_.cells(j));
    };
    for (std::size_t j = 0; j < columns_.columns(); ++j) {
      const std::span<const double> counts = counts_of(j);
      const double weight = 1 / static_cast<double>(counts.size());
      totals += weight * std::accumulate(counts.begin(), counts.end(), 0.0);
      weights += weight;
    }
    model.total = std::max(1.0, totals / weights);
    const std::uint32_t few = few_levels(model.total);
    for (std::size_t j = 0; j < columns_.columns(); ++j) {
      const std::span<const double> counts = counts_of(j);
      ColumnLevels levels = grouped(
          counts, sigma, columns_.is_numeric(j) ? CellOrder::numbers : CellOrder::categories,
          columns_.stride(j), few);
      model.measured.push_back({{static_cast<std::uint32_t>(j)}, levels.counts, levels.deviation});
      model.columns.push_back(std::move(levels));
    }
  }

  // So many levels of a number that the noise of a pair of them, among twice as many pairs as there
  // are columns, is a part of the records.
  std::uint32_t few_levels(double total) const {
    const double noise = kNoiseOfMean * noise_of_pairs(2 * static_cast<double>(columns_.columns()));
    return static_cast<std::uint32_t>(std::clamp(std::sqrt(kPartOfRecords * total / noise), 3.0,
                                                 static_cast<double>(ColumnLevels::kFewNumbers)));
  }
  // The standard deviation of a count of one of so many pairs of equal weight.
  double noise_of_pairs(double pairs) const {
    return deviation(mechanisms_.pairs(setting_),
                     1 / (mechanisms_.rest.is_pure() ? pairs : std::sqrt(pairs)));
  }

  // visit(first pair, last pair, counts of their cells one after the other), as many pairs at once
  // as kCellsAtOnce allows.
  template <class Visit>
  void count_pairs(Source& source, const SynthesisModel& model,
                   const std::vector<ColumnPair>& pairs, Visit&& visit) const {
    const auto cells = [&](const ColumnPair& p) {
      return std::size_t{model.columns[p.first].levels} * model.columns[p.second].levels;
    };
    for (std::size_t first = 0, last = 0; first < pairs.size(); first = last) {
      std::vector<std::size_t> offset;
      std::size_t size = 0;
      for (last = first; last < pairs.size(); ++last) {
        if (last > first && size + cells(pairs[last]) > kCellsAtOnce) break;
        offset.push_back(size);
        size += cells(pairs[last]);
      }
      visit(first, last, source.sum(size, [&](const Table& block, std::span<int128> total) {
        std::vector<std::uint32_t> read(columns_.columns());
        for (std::size_t i = 0; i < block.rows(); ++i) {
          if (block.is_null(i)) continue;
          columns_.read(block, i, read);
          for (std::size_t j = 0; j < read.size(); ++j) read[j] = model.columns[j].level[read[j]];
          for (std::size_t p = first; p < last; ++p)
            total[offset[p - first] +
                  std::size_t{read[pairs[p].first]} * model.columns[pairs[p].second].levels +
                  read[pairs[p].second]] += 1;
        }
      }));
    }
  }

  // The share of each level, none of them 0.
  static std::vector<double> shares(const Marginal& marginal, double total) {
    std::vector<double> p;
    for (const double count : marginal.counts)
      p.push_back(std::max(count, 1e-3 * total / static_cast<double>(marginal.counts.size())));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
    return p;
  }

  std::vector<Chosen> scores(Source& source, Rng& rng, const SynthesisModel& model) const {
    std::vector<ColumnPair> pairs;
    for (std::uint32_t a = 0; a < columns_.columns(); ++a)
      for (std::uint32_t b = a + 1; b < columns_.columns(); ++b) pairs.emplace_back(a, b);
    if (pairs.empty()) return {};
    std::vector<std::vector<double>> p;
    for (const Marginal& marginal : model.measured) p.push_back(shares(marginal, model.total));
    std::vector<int128> sums;
    count_pairs(source, model, pairs,
                [&](std::size_t first, std::size_t last, const std::vector<int128>& counts) {
                  std::size_t at = 0;
                  for (std::size_t i = first; i < last; ++i) {
                    int128 score = 0;
                    for (const double pa : p[pairs[i].first]) {
                      for (const double pb : p[pairs[i].second]) {
                        const int128 expected =
                            std::llround(std::min(model.total * pa * pb, 0x1p50) * kScoreSteps);
                        const int128 difference = counts[at++] * kScoreSteps - expected;
                        score += difference < 0 ? -difference : difference;
                      }
                    }
                    sums.push_back(score);
                  }
                });
    const std::vector<double> noisy = noised(*mechanisms_.scores, sums, rng);
    std::vector<Chosen> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) all.push_back({pairs[i], noisy[i]});
    return all;
  }

  bool with_target(const ColumnPair& pair) const {
    return columns_.target() &&
           (pair.first == *columns_.target() || pair.second == *columns_.target());
  }

  std::vector<Chosen> choose(std::vector<Chosen> scored, const SynthesisModel& model) const {
    const auto cells = [&](const Chosen& c) {
      return static_cast<double>(model.columns[c.columns.first].levels) *
             model.columns[c.columns.second].levels;
    };
    std::vector<std::uint32_t> levels;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    // How noisy a pair is depends on how many there are: a few rounds settle it.
    std::vector<Chosen> chosen;
    double noise = noise_of_pairs(static_cast<double>(columns_.columns()));
    for (int round = 0; round < 3 && !scored.empty(); ++round) {
      const auto gain = [&](const Chosen& c) { return c.score - kNoiseOfMean * noise * cells(c); };
      std::stable_sort(scored.begin(), scored.end(), [&](const Chosen& a, const Chosen& b) {
        if (with_target(a.columns) != with_target(b.columns)) return with_target(a.columns);
        return gain(a) > gain(b);
      });
      std::vector<ColumnPair> edges;
      chosen.clear();
      std::size_t tried = 0;
      for (const Chosen& c : scored) {
        if (gain(c) <= 0 && !with_target(c.columns)) continue;
        if (++tried > kTried * columns_.columns()) break;
        edges.push_back(c.columns);
        if (junction_cells(levels, edges) > MarkovModel::kMostCells)
          edges.pop_back();
        else
          chosen.push_back(c);
      }
      noise = noise_of_pairs(static_cast<double>(std::max<std::size_t>(1, chosen.size())));
    }
    double norm = 0;
    std::vector<double> weight;
    for (const Chosen& c : chosen) {
      weight.push_back((mechanisms_.rest.is_pure() ? std::sqrt(cells(c)) : std::cbrt(cells(c))) *
                       (with_target(c.columns) ? kTargetWeight : 1));
      norm += mechanisms_.rest.is_pure() ? weight.back() : weight.back() * weight.back();
    }
    if (!mechanisms_.rest.is_pure()) norm = std::sqrt(norm);
    // Rounded down, with room for the rounding of the norm.
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i].weight = std::max<std::int64_t>(
          0, static_cast<std::int64_t>(weight[i] / norm * kWeightSteps * (1 - 0x1p-30)));
    return chosen;
  }

  void measure_pairs(Source& source, Rng& rng, const std::vector<Chosen>& chosen,
                     SynthesisModel& model) const {
    if (chosen.empty()) return;
    std::vector<ColumnPair> pairs;
    for (const Chosen& c : chosen) pairs.push_back(c.columns);
    std::vector<int128> sums;
    std::vector<std::size_t> size;
    count_pairs(source, model, pairs,
                [&](std::size_t first, std::size_t last, const std::vector<int128>& counts) {
                  std::size_t at = 0;
                  for (std::size_t i = first; i < last; ++i) {
                    size.push_back(std::size_t{model.columns[pairs[i].first].levels} *
                                   model.columns[pairs[i].second].levels);
                    for (std::size_t c = 0; c < size.back(); ++c)
                      sums.push_back(counts[at++] * chosen[i].weight);
                  }
                });
    if (sums.size() > setting_.pair_cells()) invariant_broken("more cells than were paid for");
    sums.resize(setting_.pair_cells());
    const LatticeNoise noise = mechanisms_.pairs(setting_);
    const std::vector<double> noisy = noised(noise, sums, rng);
    std::size_t at = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const double weight = static_cast<double>(chosen[i].weight) / kWeightSteps;
      Marginal marginal{{pairs[i].first, pairs[i].second}, {}, 0};
      for (std::size_t c = 0; c < size[i]; ++c)
        marginal.counts.push_back(weight > 0 ? noisy[at + c] / weight : 0);
      at += size[i];
      if (weight == 0) continue;
      marginal.deviation = deviation(noise, weight);
      model.measured.push_back(std::move(marginal));
    }
  }

  Facts facts_;
  std::uint32_t bins_;
  CellColumns columns_;
  bool private_;
  Setting setting_;
  Mechanisms mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> synthesis_training(const Facts& facts,
                                                 const TrainingRequest& request) {
  return std::make_unique<SynthesisTraining>(facts, request);
}

}  // namespace sotto
