#include "sotto/models/synthesis/detail/synthesis_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/synthesis/detail/column_counts.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {
namespace {

constexpr std::size_t kCellsAtOnce = 1 << 20;  // of the pairs counted in one pass
constexpr double kTargetWeight = 2;
constexpr double kNoiseShareOfRecords = 0.25;
constexpr double kMeanAbsoluteNormal = 0.7978845608028654;  // E|Z| of a standard normal
constexpr double kLeastDeviation = 0.5;
constexpr double kShrunken = 0.1;  // of the noise is left where pairs were shrunken
constexpr std::uint64_t kIterations = 400;

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
      e.words += fmt::format(" and of {} pairs of them", design_.with_target + design_.others);
    e.words += alone ? ", as if none depended on another"
                     : "; the Markov model that fits them draws records";
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
    measure_columns(source, rng, model);
    const std::vector<Chosen> chosen =
        weighed(design_.route == PairRoute::many ? choose(scores(source, rng, model), model)
                                                 : chosen_few(source, rng, model),
                model);
    measure_pairs(source, rng, chosen, model);

    std::vector<std::uint32_t> levels;
    std::vector<std::vector<std::uint32_t>> terms;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    for (const Marginal& m : model.measured) terms.push_back(m.columns);
    MarkovModel markov(std::move(levels), std::move(terms));
    Progress progress(control.shown(kIterations));
    markov.fit(
        model.measured, model.total, kIterations,
        [&](std::uint64_t done) { progress.advance(done); },
        design_.route == PairRoute::many ? MarkovModel::kNoise : kShrunken);
    progress.finish();
    model.potentials = markov.potentials();
    return finished(synthesis_generator(std::move(model), facts_));
  }

 private:
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

  void measure_columns(Source& source, Rng& rng, SynthesisModel& model) const {
    const std::vector<int128> sums =
        source.sum(counts_.size(), [&](const Table& block, std::span<int128> total) {
          counts_.add(block, design_.target_weight, total);
        });
    const std::vector<double> noisy = noised(mechanisms_.columns(), sums, rng);
    const auto weight_of = [&](std::size_t j) {
      return columns_.target() == j ? static_cast<double>(design_.target_weight) : 1.0;
    };
    const auto counts_of = [&](std::size_t j) {
      const std::span<const double> own = counts_.of(j, noisy);
      std::vector<double> counts(own.begin(), own.end());
      for (double& c : counts) c /= weight_of(j);
      return counts;
    };
    double totals = 0, weights = 0;
    for (std::size_t j = 0; j < columns_.columns(); ++j) {
      const std::vector<double> counts = counts_of(j);
      const double weight = weight_of(j) * weight_of(j) / static_cast<double>(counts.size());
      totals += weight * std::accumulate(counts.begin(), counts.end(), 0.0);
      weights += weight;
    }
    model.total = std::max(1.0, totals / weights);
    const bool few = design_.route == PairRoute::few;
    const std::uint32_t levels = few ? design_.levels : few_levels(model.total);
    for (std::size_t j = 0; j < columns_.columns(); ++j) {
      // Few pairs say something only where levels stay apart, those of the target above all.
      const bool classes = columns_.target() == j && !columns_.is_numeric(j);
      const double bar = few && classes                  ? -std::numeric_limits<double>::infinity()
                         : few && columns_.is_numeric(j) ? model.total / design_.levels
                                                         : std::numeric_limits<double>::infinity();
      ColumnLevels made =
          counts_.levels(j, counts_of(j), deviation(mechanisms_.columns(), weight_of(j)), levels,
                         bar, model.total);
      model.measured.push_back({{static_cast<std::uint32_t>(j)}, made.counts, made.deviation});
      model.columns.push_back(std::move(made));
    }
  }

  // So many levels of a number that the noise of a pair of them, among twice as many pairs as there
  // are columns, is a part of the records.
  std::uint32_t few_levels(double total) const {
    if (!mechanisms_.pairs()) return ColumnLevels::kFewNumbers;
    const double noise =
        kMeanAbsoluteNormal * noise_of_pairs(2 * static_cast<double>(columns_.columns()));
    return static_cast<std::uint32_t>(std::clamp(std::sqrt(kNoiseShareOfRecords * total / noise),
                                                 3.0,
                                                 static_cast<double>(ColumnLevels::kFewNumbers)));
  }
  // The standard deviation of a count of one of so many pairs of equal weight.
  double noise_of_pairs(double pairs) const {
    return deviation(*mechanisms_.pairs(), 1 / (mechanisms_.pure() ? pairs : std::sqrt(pairs)));
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

  // Dependence is taken back by as much as noise alone would show [JS61]; what the columns are by
  // themselves is the mean of what the pair and the columns' own counts say, by their noise.
  static void shrink(Marginal& pair, const Marginal& first, const Marginal& second, double total) {
    const std::size_t rows = first.counts.size(), width = second.counts.size();
    std::vector<double> by_row(rows), by_column(width);
    double sum = 0;
    for (std::size_t i = 0; i < pair.counts.size(); ++i) {
      by_row[i / width] += pair.counts[i];
      by_column[i % width] += pair.counts[i];
      sum += pair.counts[i];
    }
    if (!(sum > 0)) return;
    double square = 0;
    std::vector<double> residual(pair.counts.size());
    for (std::size_t i = 0; i < pair.counts.size(); ++i) {
      residual[i] = pair.counts[i] - by_row[i / width] * by_column[i % width] / sum;
      square += residual[i] * residual[i];
    }
    const double variance = pair.deviation * pair.deviation;
    const double freedom = static_cast<double>((rows - 1) * (width - 1));
    const double kept = square > 0 ? std::max(0.0, 1 - freedom * variance / square) : 0;
    const auto shares = [](std::vector<double>& here, double noise, const Marginal& own) {
      double all = 0;
      for (std::size_t i = 0; i < here.size(); ++i) {
        const double w = 1 / noise, v = 1 / (own.deviation * own.deviation);
        here[i] = std::max(0.0, (w * here[i] + v * own.counts[i]) / (w + v));
        all += here[i];
      }
      for (double& x : here) x = all > 0 ? x / all : 1 / static_cast<double>(here.size());
    };
    shares(by_row, variance * static_cast<double>(width), first);
    shares(by_column, variance * static_cast<double>(rows), second);
    for (std::size_t i = 0; i < pair.counts.size(); ++i)
      pair.counts[i] = total * by_row[i / width] * by_column[i % width] + kept * residual[i];
  }

  // The pairs of the route few: those with the target, all or the best by the exponential
  // mechanism, and the best of the others.
  std::vector<Chosen> chosen_few(Source& source, Rng& rng, const SynthesisModel& model) const {
    std::vector<Chosen> chosen;
    if (design_.route == PairRoute::none) return chosen;
    std::vector<ColumnPair> with, without;
    for (std::uint32_t a = 0; a < columns_.columns(); ++a)
      for (std::uint32_t b = a + 1; b < columns_.columns(); ++b)
        (with_target({a, b}) ? with : without).emplace_back(a, b);
    const auto take = [&](const std::optional<TopKPlan>& plan,
                          const std::vector<ColumnPair>& pairs) {
      if (!plan) return;
      std::vector<double> scores;
      count_pairs(source, model, pairs,
                  [&](std::size_t first, std::size_t last, const std::vector<int128>& counts) {
                    std::size_t at = 0;
                    for (std::size_t i = first; i < last; ++i) {
                      scores.push_back(score(model, pairs[i], counts.data() + at));
                      at += std::size_t{model.columns[pairs[i].first].levels} *
                            model.columns[pairs[i].second].levels;
                    }
                  });
      for (const std::size_t i : plan->run(scores, rng).value) chosen.push_back({pairs[i]});
    };
    if (design_.all_targets)
      for (const ColumnPair& pair : with) chosen.push_back({pair});
    take(mechanisms_.targets(), with);
    take(mechanisms_.others(), without);
    std::vector<std::uint32_t> levels;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    std::vector<ColumnPair> edges;
    std::erase_if(chosen, [&](const Chosen& c) {
      edges.push_back(c.columns);
      const bool large = junction_cells(levels, edges) > MarkovModel::kMostCells;
      if (large) edges.pop_back();
      return large;
    });
    return chosen;
  }

  // How far a pair is from independence (synthesis_design.hpp), in records.
  double score(const SynthesisModel& model, const ColumnPair& pair, const int128* counts) const {
    const std::size_t rows = model.columns[pair.first].levels;
    const std::size_t width = model.columns[pair.second].levels;
    int128 sum = 0;
    const auto far = [&](int128 difference) { sum += difference < 0 ? -difference : difference; };
    if (!with_target(pair)) {
      const std::vector<double> p = shares(model.measured[pair.first], model.total);
      const std::vector<double> q = shares(model.measured[pair.second], model.total);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < width; ++j)
          far(counts[i * width + j] * kScoreSteps -
              std::llround(std::min(model.total * p[i] * q[j], 0x1p40) * kScoreSteps));
    } else {
      const bool second = columns_.target() == pair.second;
      const std::size_t classes = second ? width : rows, others = second ? rows : width;
      const auto count = [&](std::size_t other, std::size_t c) {
        return counts[second ? other * width + c : c * width + other];
      };
      std::vector<std::int64_t> p;  // steps, rounded down: together at most 1
      for (const double x : shares(model.measured[*columns_.target()], model.total))
        p.push_back(static_cast<std::int64_t>(x * kScoreSteps * (1 - 0x1p-30)));
      for (std::size_t i = 0; i < others; ++i) {
        int128 row = 0;
        for (std::size_t c = 0; c < classes; ++c) row += count(i, c);
        for (std::size_t c = 0; c < classes; ++c) far(count(i, c) * kScoreSteps - row * p[c]);
      }
    }
    return static_cast<double>(sum) / kScoreSteps;
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
    const std::vector<double> noisy = noised(*mechanisms_.scores(), sums, rng);
    std::vector<Chosen> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) all.push_back({pairs[i], noisy[i]});
    return all;
  }

  bool with_target(const ColumnPair& pair) const {
    return columns_.target() &&
           (pair.first == *columns_.target() || pair.second == *columns_.target());
  }

  static double cells_of(const Chosen& c, const SynthesisModel& model) {
    return static_cast<double>(model.columns[c.columns.first].levels) *
           model.columns[c.columns.second].levels;
  }

  std::vector<Chosen> choose(std::vector<Chosen> scored, const SynthesisModel& model) const {
    std::vector<std::uint32_t> levels;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    // How noisy a pair is depends on how many there are: a few rounds settle it.
    std::vector<Chosen> chosen;
    double noise = noise_of_pairs(static_cast<double>(columns_.columns()));
    for (int round = 0; round < 3 && !scored.empty(); ++round) {
      const auto gain = [&](const Chosen& c) {
        return c.score - kMeanAbsoluteNormal * noise * cells_of(c, model);
      };
      std::stable_sort(scored.begin(), scored.end(), [&](const Chosen& a, const Chosen& b) {
        if (with_target(a.columns) != with_target(b.columns)) return with_target(a.columns);
        return gain(a) > gain(b);
      });
      std::vector<ColumnPair> edges;
      chosen.clear();
      std::size_t tried = 0;
      for (const Chosen& c : scored) {
        if (gain(c) <= 0 && !with_target(c.columns)) continue;
        if (++tried > SynthesisDesign::kTried * columns_.columns()) break;
        edges.push_back(c.columns);
        if (junction_cells(levels, edges) > MarkovModel::kMostCells)
          edges.pop_back();
        else
          chosen.push_back(c);
      }
      noise = noise_of_pairs(static_cast<double>(std::max<std::size_t>(1, chosen.size())));
    }
    return chosen;
  }

  // The weights with which chosen pairs are counted.
  std::vector<Chosen> weighed(std::vector<Chosen> chosen, const SynthesisModel& model) const {
    double norm = 0;
    std::vector<double> weight;
    for (const Chosen& c : chosen) {
      weight.push_back(
          (mechanisms_.pure() ? std::sqrt(cells_of(c, model)) : std::cbrt(cells_of(c, model))) *
          (with_target(c.columns) ? kTargetWeight : 1));
      norm += mechanisms_.pure() ? weight.back() : weight.back() * weight.back();
    }
    if (!mechanisms_.pure()) norm = std::sqrt(norm);
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
    if (sums.size() > design_.pair_cells()) invariant_broken("more cells than were paid for");
    sums.resize(design_.pair_cells());
    const LatticeNoise& noise = *mechanisms_.pairs();
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
      if (design_.route == PairRoute::few && private_)
        shrink(marginal, model.measured[pairs[i].first], model.measured[pairs[i].second],
               model.total);
      model.measured.push_back(std::move(marginal));
    }
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
