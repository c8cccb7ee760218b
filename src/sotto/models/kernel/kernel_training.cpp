#include "sotto/models/kernel/detail/kernel_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/kernel_descent.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"

namespace sotto {
namespace {

constexpr double kFreeRho = 8;  // sizes and steps of a run without noise

class KernelTraining final : public TrainingPlan {
 public:
  KernelTraining(const Facts& facts, const TrainingRequest& request, const KernelOptions& options)
      : facts_(facts),
        columns_(*facts.encoder),
        private_(request.method != "none"),
        setting_{facts.relation,
                 static_cast<double>(facts.declared_rows()),
                 static_cast<double>(facts.contributions),
                 margin_loss(facts),
                 margins_of(facts),
                 columns_,
                 options},
        mechanisms_(setting_, private_ ? rho_for(request) : kFreeRho) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    const FeatureSizes& sizes = mechanisms_.sizes;
    const std::vector<KernelStage>& stages = mechanisms_.stages;
    Explanation e{.method = private_ ? "gradient" : "none"};
    e.words = fmt::format("{} steps of full-batch descent on main effects", mechanisms_.rounds());
    if (sizes.fourier > 0) e.words += fmt::format(", {} random waves", 2 * sizes.fourier);
    if (sizes.trees > 0)
      e.words += sizes.pairs ? fmt::format(" and {} pairs of columns", sizes.trees)
                             : fmt::format(" and the leaves of {} random trees", sizes.trees);
    if (stages.size() > 1) {
      e.words += "; the first ";
      if (mechanisms_.slopes)
        e.words += fmt::format("{} on one slope for each column, ", mechanisms_.slopes->rounds);
      e.words += fmt::format(
          "{} on main effects alone, {} more to see whether all features lower the "
          "loss, and main effects alone again where they do not",
          stages[0].rounds, stages[1].rounds);
    }
    if (private_)
      e.words += fmt::format(
          "; each gradient sum of norm 1 a record noised by a discrete Gaussian "
          "of standard deviation {:.4g}, noisy marginals of all columns before",
          stages.back().gradient->scale());
    if (private_ && mechanisms_.trial)
      e.words += fmt::format("; between stages noisy sums of {}what the loss fell by",
                             mechanisms_.pairs ? "residuals in pairs of columns and of " : "");
    if (private_ && mechanisms_.worth)
      e.words += "; in the end two noisy sums that say how far predictions are to be shrunk";
    e.figures = {
        {"steps", mechanisms_.rounds()}, {"waves", 2 * sizes.fourier}, {"trees", sizes.trees}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    Progress progress(control.shown(mechanisms_.rounds()));
    KernelModel model = KernelDescent(setting_, mechanisms_, private_)
                            .run(BinnedRows(source, columns_), rng, progress)
                            .model;
    progress.finish();
    return finished(kernel_predictor(std::move(model), facts_));
  }

 private:
  double rho_for(const TrainingRequest& request) const {
    return confirmed_rho(request, facts_.relation,
                         [&](double rho) { return KernelMechanisms(setting_, rho).event(); });
  }

  Facts facts_;
  BinnedColumns columns_;
  bool private_;
  KernelSetting setting_;
  KernelMechanisms mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> kernel_training(const Facts& facts, const TrainingRequest& request,
                                              const KernelOptions& options) {
  return std::make_unique<KernelTraining>(facts, request, options);
}

}  // namespace sotto
