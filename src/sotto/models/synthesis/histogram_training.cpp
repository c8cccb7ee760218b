#include "sotto/models/synthesis/detail/histogram_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/synthesis/detail/perturbed_histogram.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t kFinest = 64;  // twice as many as a number has bins at most
constexpr double kNever = -1e6;        // the logarithm of a count of 0

class HistogramTraining final : public TrainingPlan {
 public:
  HistogramTraining(const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        fine_(static_cast<std::uint32_t>(
            std::max<std::uint64_t>(kFinest, request.options.whole("bins")))),
        columns_(*facts.encoder, fine_),
        options_{.relation = facts.relation,
                 .budget = budget_for(request),
                 .rows = facts.declared_rows(),
                 .contributions = facts.contributions},
        bins_(static_cast<std::uint32_t>(
            PerturbedHistogram::bins(options_, [&](std::size_t bins) { return cells(bins); }))),
        histogram_(options_, cells(bins_)) {
    for (std::size_t j = 0; j < columns_.columns(); ++j) levels_.push_back(levels(j));
  }

  std::optional<Event> event() const override { return histogram_.event(); }
  Relation relation() const override { return facts_.relation; }
  Explanation explain() const override {
    Explanation e{.method = "histogram"};
    e.words = fmt::format(
        "counts of {:.0f} combinations of values ({} bins a number) with discrete {} noise of "
        "scale {:.4g}; records are drawn from them",
        cells(bins_), bins_, histogram_.noise().gaussian() ? "Gaussian" : "Laplace",
        histogram_.noise().scale());
    e.figures = {{"columns", columns_.columns()}, {"cells", cells(bins_)}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl&) override {
    const auto size = static_cast<std::size_t>(cells(bins_));
    const std::vector<int128> sums =
        source.sum(size, [&](const Table& block, std::span<int128> to) {
          std::vector<std::uint32_t> read(columns_.columns());
          for (std::size_t i = 0; i < block.rows(); ++i) {
            if (block.is_null(i)) continue;
            columns_.read(block, i, read);
            std::size_t at = 0;
            for (std::size_t j = 0; j < read.size(); ++j)
              at = at * levels_[j].levels + levels_[j].level[read[j]];
            to[at] += 1;
          }
        });
    const std::vector<std::uint64_t> exact(sums.begin(), sums.end());
    const std::vector<std::uint64_t> counts = histogram_.run(exact, rng).value;
    SynthesisModel model{.bins = fine_, .columns = levels_};
    model.total = std::accumulate(counts.begin(), counts.end(), 0.0);
    Marginal& all = model.measured.emplace_back();
    all.columns.resize(columns_.columns());
    std::iota(all.columns.begin(), all.columns.end(), 0u);
    all.deviation = *histogram_.noise().info().standard_deviation;
    if (!(all.deviation > 0)) all.deviation = 1e-9;
    std::vector<double>& potential = model.potentials.emplace_back();
    for (const std::uint64_t count : counts) {
      all.counts.push_back(static_cast<double>(count));
      potential.push_back(count > 0 ? std::log(static_cast<double>(count)) : kNever);
    }
    return finished(synthesis_generator(std::move(model), facts_));
  }

 private:
  Budget budget_for(const TrainingRequest& request) const {
    return confirmed(required_budget(request), facts_.relation, [&](const Budget& budget) {
      return PerturbedHistogram({.relation = facts_.relation,
                                 .budget = budget,
                                 .rows = 1,
                                 .contributions = facts_.contributions},
                                1)
          .event();
    });
  }
  double cells(std::size_t bins) const {
    double all = 1;
    for (std::size_t j = 0; j < columns_.columns(); ++j)
      all *= columns_.is_numeric(j) ? static_cast<double>(bins) : columns_.cells(j);
    return all;
  }
  // Equal bins of a number, of whose values none is likelier than another; a level for each value
  // of a category.
  ColumnLevels levels(std::size_t j) const {
    const bool numeric = columns_.is_numeric(j);
    ColumnLevels made{.levels = numeric ? bins_ : columns_.cells(j)};
    for (std::uint32_t cell = 0; cell < columns_.cells(j); ++cell) {
      const double middle = numeric ? columns_.place(j, cell) : 0;
      made.level.push_back(numeric ? std::min(bins_ - 1, static_cast<std::uint32_t>(middle * bins_))
                                   : cell);
      made.share.push_back(numeric ? columns_.width(j, cell) : 1);
    }
    std::vector<double> total(made.levels);
    for (std::size_t c = 0; c < made.level.size(); ++c) total[made.level[c]] += made.share[c];
    for (std::size_t c = 0; c < made.level.size(); ++c) made.share[c] /= total[made.level[c]];
    return made;
  }

  Facts facts_;
  std::uint32_t fine_;
  CellColumns columns_;
  PerturbedHistogram::Options options_;
  std::uint32_t bins_;
  PerturbedHistogram histogram_;
  std::vector<ColumnLevels> levels_;
};

}  // namespace

std::unique_ptr<TrainingPlan> histogram_training(const Facts& facts,
                                                 const TrainingRequest& request) {
  return std::make_unique<HistogramTraining>(facts, request);
}

}  // namespace sotto
