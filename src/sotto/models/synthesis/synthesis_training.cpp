#include "sotto/models/synthesis/detail/synthesis_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/detail/synthesis_run.hpp"

namespace sotto {
namespace {

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
        mechanisms_(design_, counts_, private_ ? budget_for(request) : Budget::zcdp(1)) {}

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
    if (design_.route == PairRoute::few && design_.most_pairs() > 0)
      e.words += fmt::format(" and of at most {} pairs of them", design_.most_pairs());
    e.words += alone ? ", as if none depended on another"
                     : "; the Markov model that fits them draws records";
    if (design_.triples > 0)
      e.words +=
          fmt::format("; at most {} triples with the target are counted, too", design_.triples);
    if (design_.trends > 0)
      e.words += design_.most_pairs() > 0 ? "; trends with the target say where no pair is counted"
                                          : "; trends of columns with the target, and no pairs";
    if (private_)
      e.words += fmt::format(
          "; discrete {} noise of scale {:.4g} on the counts of columns",
          mechanisms_.columns().gaussian() ? "Gaussian" : "Laplace",
          mechanisms_.columns().scale() / static_cast<double>(mechanisms_.of_columns()));
    e.figures = {{"columns", columns_.columns()}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    const SynthesisSetting setting{columns_, design_, counts_, mechanisms_, private_};
    return finished(
        synthesis_generator(synthesis_run(setting, bins_, source, rng, control), facts_));
  }

 private:
  Budget budget_for(const TrainingRequest& request) const {
    return confirmed(required_budget(request), facts_.relation, [&](const Budget& budget) {
      return SynthesisMechanisms(design_, counts_, budget).event();
    });
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
