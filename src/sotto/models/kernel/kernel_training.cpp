#include "sotto/models/kernel/detail/kernel_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/column_uses.hpp"
#include "sotto/models/kernel/detail/kernel_mechanisms.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"

namespace sotto {
namespace {

constexpr double kMomentum = 0.9;
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
    if (stages.size() > 1)
      e.words += fmt::format("; after {} of them anew on columns that matter", stages[0].rounds);
    if (private_)
      e.words += fmt::format(
          "; each gradient sum of norm 1 a record noised by a discrete Gaussian "
          "of standard deviation {:.4g}, noisy marginals of all columns before",
          stages.back().gradient->scale());
    e.figures = {
        {"steps", mechanisms_.rounds()}, {"waves", 2 * sizes.fourier}, {"trees", sizes.trees}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    return finished(kernel_predictor(fit(BinnedRows(source, columns_), rng, control), facts_));
  }

 private:
  double rho_for(const TrainingRequest& request) const {
    return confirmed_rho(request, facts_.relation,
                         [&](double rho) { return KernelMechanisms(setting_, rho).event(); });
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

  // Releases what features are centred by.
  void centre(const KernelStage& stage, FeatureDesign& design, const FeatureRows& rows,
              Rng& rng) const {
    if (stage.waves) {
      const std::vector<double> sums = noised(*stage.waves, rows.wave_sums(), rng);
      for (std::size_t w = 0; w < sums.size(); ++w)
        design.fourier_means[w] =
            static_cast<float>(std::clamp(sums[w] / setting_.rows, -1.0, 1.0));
    }
    if (!stage.leaves) return;
    std::vector<int128> counts = rows.leaf_counts();
    for (int128& count : counts)
      count *= static_cast<std::int64_t>(1 / KernelMechanisms::kCountUnit);
    const std::vector<double> noisy = noised(*stage.leaves, counts, rng);
    for (std::size_t t = 0; t < design.leaf_shares.size(); ++t) {
      std::vector<double>& shares = design.leaf_shares[t];
      double total = 0;
      for (std::size_t l = 0; l < shares.size(); ++l)
        total += shares[l] = std::max(0.0, noisy[(t << kTreeDepth) + l]);
      for (double& share : shares)
        share = total > 0 ? share / total : 1 / static_cast<double>(shares.size());
    }
  }

  KernelModel fit(const BinnedRows& records, Rng& rng, RunControl& control) const {
    std::vector<bool> numeric;
    for (std::size_t j = 0; j < columns_.columns(); ++j) numeric.push_back(columns_.is_numeric(j));
    const std::vector<ColumnScale> scales =
        mechanisms_.marginals.run(records, label_of(setting_.loss), rng).value;
    std::vector<double> uses = drawing_shares(scales);
    Progress progress(control.shown(mechanisms_.rounds()));
    Descent descent{.clip = first_clip(setting_.loss)};
    KernelModel model;
    std::vector<float> before;
    for (const KernelStage& stage : mechanisms_.stages) {
      FeatureDesign design = FeatureDesign::draw(mechanisms_.sizes, scales, numeric, uses, rng);
      FeatureRows features(records, design);
      centre(stage, design, features, rng);
      const FeatureMap map(std::move(design));
      const KernelRows rows(std::move(features), map, records, before);
      KernelModel::Part& part = model.parts.emplace_back(KernelModel::Part{.design = map.design()});
      run_stage(stage, rows, descent, part, rng, progress);
      if (&stage == &mechanisms_.stages.back()) break;
      uses = column_uses(map, part.parameters, part.noise, rng);
      before = rows.margins(part.parameters);
    }
    progress.finish();
    return model;
  }

  struct Descent {
    double clip = 1;
    std::uint64_t round = 0;  // over all stages
  };

  void run_stage(const KernelStage& stage, const KernelRows& rows, Descent& descent,
                 KernelModel::Part& part, Rng& rng, Progress& progress) const {
    const std::size_t dimension = FeatureMap(part.design).dimension();
    const double whole = 1 + kIntercept * kIntercept;  // rows were scaled down by its root
    const double step = stage.time / static_cast<double>(stage.rounds) * (1 - kMomentum) * whole;
    part.parameters.assign(setting_.outputs, std::vector<double>(dimension));
    std::vector<std::vector<double>>&theta = part.parameters, velocity = theta;
    double variance = 0;  // of what noise adds to a parameter
    for (std::uint64_t i = 0; i < stage.rounds; ++i, ++descent.round) {
      if (mechanisms_.residuals && measures_residuals(descent.round, mechanisms_.rounds())) {
        const int128 squares = rows.sum_of(
            theta, [](std::span<const double> m, float y) { return quarter_square(m[0], y); });
        descent.clip = clip_from(noised(*mechanisms_.residuals, {squares}, rng)[0] / setting_.rows);
      }
      const double clip = descent.clip;
      const std::vector<double> sums =
          noised(*stage.gradient,
                 rows.weighted_sum(theta,
                                   [&](std::span<const double> m, float y, std::span<double> out) {
                                     residuals(setting_.loss, clip, m, y, out);
                                   }),
                 rng);
      for (std::size_t k = 0; k < theta.size(); ++k) {
        for (std::size_t c = 0; c < dimension; ++c) {
          velocity[k][c] =
              kMomentum * velocity[k][c] + clip * sums[k * dimension + c] / setting_.rows;
          theta[k][c] =
              std::clamp(theta[k][c] - step * velocity[k][c], -kMostParameter, kMostParameter);
        }
      }
      if (private_) {
        const double added =
            step / (1 - kMomentum) * clip * stage.gradient->scale() / setting_.rows;
        variance += added * added;
      }
      progress.advance(descent.round + 1);
    }
    part.noise = std::sqrt(variance);
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
