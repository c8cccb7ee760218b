#include "sotto/models/kernel/detail/kernel_descent.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/column_uses.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"

namespace sotto {
namespace {
constexpr double kMomentum = 0.9;
}  // namespace

// Noise, or none for a run that is NOT PRIVATE.
std::vector<double> KernelDescent::noised(const LatticeNoise& noise,
                                          const std::vector<int128>& sums, Rng& rng) const {
  const std::vector<int128> noisy = private_ ? noise.add(sums, rng) : sums;
  std::vector<double> natural(noisy.size());
  for (std::size_t i = 0; i < natural.size(); ++i)
    natural[i] = static_cast<double>(noisy[i]) * noise.granularity();
  return natural;
}

// Releases what features are centred by.
void KernelDescent::centre(const KernelStage& stage, FeatureDesign& design, const FeatureRows& rows,
                           Rng& rng) const {
  if (stage.waves) {
    const std::vector<double> sums = noised(*stage.waves, rows.wave_sums(), rng);
    for (std::size_t w = 0; w < sums.size(); ++w)
      design.fourier_means[w] = static_cast<float>(std::clamp(sums[w] / setting_.rows, -1.0, 1.0));
  }
  if (!stage.leaves) return;
  std::vector<int128> counts = rows.leaf_counts();
  for (int128& count : counts) count *= static_cast<std::int64_t>(1 / KernelMechanisms::kCountUnit);
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

KernelDescent::Reached KernelDescent::run(const BinnedRows& records, Rng& rng, Progress& progress,
                                          bool goes_on) const {
  std::vector<bool> numeric;
  for (std::size_t j = 0; j < setting_.columns.columns(); ++j)
    numeric.push_back(setting_.columns.is_numeric(j));
  Reached reached;
  reached.scales = mechanisms_.marginals.run(records, label_of(setting_.loss), rng).value;
  std::vector<double> uses = drawing_shares(reached.scales);
  State state{.clip = first_clip(setting_.loss)};
  std::vector<float> before;
  for (const KernelStage& stage : mechanisms_.stages) {
    FeatureDesign design =
        FeatureDesign::draw(mechanisms_.sizes, reached.scales, numeric, uses, rng);
    FeatureRows features(records, design);
    centre(stage, design, features, rng);
    const FeatureMap map(std::move(design));
    const KernelRows rows(std::move(features), map, records, before);
    KernelModel::Part& part =
        reached.model.parts.emplace_back(KernelModel::Part{.design = map.design()});
    descend(stage, rows, state, part, rng, progress);
    if (&stage == &mechanisms_.stages.back() && !goes_on) break;
    uses = column_uses(map, part.parameters, part.noise, rng);
    before = rows.margins(part.parameters);
  }
  if (goes_on) {
    reached.uses = std::move(uses);
    reached.margins = std::move(before);
  }
  return reached;
}

void KernelDescent::descend(const KernelStage& stage, const KernelRows& rows, State& state,
                            KernelModel::Part& part, Rng& rng, Progress& progress) const {
  const std::size_t dimension = FeatureMap(part.design).dimension();
  const double whole = 1 + kIntercept * kIntercept;  // rows were scaled down by its root
  const double step = stage.time / static_cast<double>(stage.rounds) * (1 - kMomentum) * whole;
  part.parameters.assign(setting_.outputs, std::vector<double>(dimension));
  std::vector<std::vector<double>>&theta = part.parameters, velocity = theta;
  double variance = 0;  // of what noise adds to a parameter
  for (std::uint64_t i = 0; i < stage.rounds; ++i, ++state.round) {
    if (mechanisms_.residuals && measures_residuals(state.round, mechanisms_.rounds())) {
      const int128 squares = rows.sum_of(
          theta, [](std::span<const double> m, float y) { return quarter_square(m[0], y); });
      state.clip = clip_from(noised(*mechanisms_.residuals, {squares}, rng)[0] / setting_.rows);
    }
    const double clip = state.clip;
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
      const double added = step / (1 - kMomentum) * clip * stage.gradient->scale() / setting_.rows;
      variance += added * added;
    }
    progress.advance(state.round + 1);
  }
  part.noise = std::sqrt(variance);
}

}  // namespace sotto
