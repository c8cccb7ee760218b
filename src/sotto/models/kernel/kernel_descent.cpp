#include "sotto/models/kernel/detail/kernel_descent.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/column_uses.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"
#include "sotto/models/kernel/detail/row_parts.hpp"

namespace sotto {
namespace {
constexpr double kMomentum = 0.9;
constexpr double kSureFall = 3;        // standard deviations of noise
constexpr double kLeftToOthers = 0.9;  // of the third stage, where a trial found little
constexpr double kWideClip = 1.5;      // of the clip: where figures for the worth are cut
// What of the measured worth counts as nothing and as all: it is measured on the records that the
// model was fitted to, and is too high where the model is mostly noise.
constexpr double kNoWorth = 0.35, kFullWorth = 0.7;

// The same with fewer rounds.
KernelStage shortened(KernelStage stage, std::uint64_t rounds) {
  stage.time *= static_cast<double>(rounds) / static_cast<double>(stage.rounds);
  stage.rounds = rounds;
  return stage;
}
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
                                          GoesOn goes_on) const {
  const std::vector<bool> numeric = numeric_columns();
  Reached reached;
  reached.scales = mechanisms_.marginals.run(records, label_of(setting_.loss), rng).value;
  std::vector<double> uses = drawing_shares(reached.scales);
  State state{.clip = first_clip(setting_.loss)};
  std::vector<float> before;
  std::vector<PairCredit> found;
  const std::vector<KernelStage>& stages = mechanisms_.stages;
  std::vector<float> straight;  // what slopes alone say
  if (mechanisms_.slopes) {
    const FeatureMap map(
        FeatureDesign::draw(mechanisms_.slopes->sizes, reached.scales, numeric, uses, {}, rng));
    const KernelRows rows(FeatureRows(records, map.design()), map, records, before);
    KernelModel::Part& part =
        reached.model.parts.emplace_back(KernelModel::Part{.design = map.design()});
    descend(*mechanisms_.slopes, rows, state, part, rng, progress);
    before = straight = rows.margins(part.parameters);
  }
  bool speaks_for_all = true;  // the trial, for all features
  FeatureSizes shared;         // as the trial found them worth
  for (std::size_t i = 0; i < stages.size(); ++i) {
    KernelStage stage = i == 2 && !speaks_for_all ? *mechanisms_.otherwise : stages[i];
    if (i == 2 && !speaks_for_all && goes_on == GoesOn::instead) {
      reached.left = static_cast<std::uint64_t>(kLeftToOthers * static_cast<double>(stage.rounds));
      stage = shortened(stage, stage.rounds - reached.left);
    }
    const FeatureSizes& sizes = i == 2 && speaks_for_all ? shared : stage.sizes;
    FeatureDesign design = FeatureDesign::draw(sizes, reached.scales, numeric, uses, found, rng);
    FeatureRows features(records, design);
    centre(stage, design, features, rng);
    const FeatureMap map(std::move(design));
    const KernelRows rows(std::move(features), map, records, before);
    KernelModel::Part& part =
        reached.model.parts.emplace_back(KernelModel::Part{.design = map.design()});
    const double noise = descend(stage, rows, state, part, rng, progress);
    if (i + 1 == stages.size() && goes_on == GoesOn::no && !mechanisms_.worth) break;
    std::vector<float> reached_margins = rows.margins(part.parameters);
    if (i + 1 == stages.size() && goes_on == GoesOn::no) {
      before = std::move(reached_margins);
      break;
    }
    if (i == 1 && stages.size() > 2) {
      const double least =
          goes_on == GoesOn::instead ? mechanisms_.little_fall : mechanisms_.least_fall;
      speaks_for_all = improves(records, before, reached_margins, state.clip, least, rng);
      if (!speaks_for_all) {
        reached.model.parts.pop_back();
        continue;
      }
      shared = shared_by_worth(map, part.parameters, noise);
    }
    uses = column_uses(map, part.parameters, part.noise, rng);
    before = std::move(reached_margins);
    if (i == 0 && mechanisms_.pairs)
      found = found_pairs(records, reached.scales, uses, before, state.clip, rng);
  }
  if (mechanisms_.worth)
    reached.believed = believe(records, state.clip, reached.model, straight, before, rng);
  if (goes_on != GoesOn::no) {
    reached.uses = std::move(uses);
    reached.margins = std::move(before);
    reached.found = std::move(found);
    reached.clip = state.clip;
  }
  return reached;
}

void KernelDescent::go_on(const BinnedRows& records, std::uint64_t rounds, Reached& reached,
                          Rng& rng, Progress& progress) const {
  const KernelStage stage = shortened(*mechanisms_.otherwise, rounds);
  State state{.clip = reached.clip,
              .round = std::max(mechanisms_.rounds() - rounds, mechanisms_.past_residuals())};
  const FeatureMap map(
      FeatureDesign::draw(stage.sizes, reached.scales, numeric_columns(), reached.uses, {}, rng));
  const KernelRows rows(FeatureRows(records, map.design()), map, records, reached.margins);
  KernelModel::Part& part =
      reached.model.parts.emplace_back(KernelModel::Part{.design = map.design()});
  descend(stage, rows, state, part, rng, progress);
  reached.margins = rows.margins(part.parameters);
}

std::vector<bool> KernelDescent::numeric_columns() const {
  std::vector<bool> numeric;
  for (std::size_t j = 0; j < setting_.columns.columns(); ++j)
    numeric.push_back(setting_.columns.is_numeric(j));
  return numeric;
}

// λ = 1 + Σ f·e/Σ f², f what the model says beyond its intercept and slopes and e what is left of a
// target, is how far f is to be believed: with λ·f squared residuals are the smallest. A record
// adds f·e and f² in units of (1.5·clip)², each cut at 1: ℓ2 ≤ √2. Features are centred, so that
// intercepts stay as they are, and where nothing was found a prediction is the mean, or what slopes
// (margins: straight) say.
double KernelDescent::believe(const BinnedRows& records, double clip, KernelModel& model,
                              std::span<const float> straight, std::span<float> margins,
                              Rng& rng) const {
  constexpr double kSteps = 1 / KernelMechanisms::kCountUnit;
  double base = 0;
  // Not by straight.empty(): that would tell a table without records.
  const std::size_t after = mechanisms_.slopes ? 1 : 0;
  for (std::size_t p = after; p < model.parts.size(); ++p)
    base += model.parts[p].parameters[0][0] * FeatureMap::intercept();
  struct Sums {
    std::int64_t left = 0, squares = 0;
  };
  std::vector<Sums> partial(thread_count(0));
  const double wide = kWideClip * clip;
  const auto cut = [&](double x) { return std::isfinite(x) ? std::clamp(x / wide, -1.0, 1.0) : 0; };
  records.for_parts([&](std::size_t first, std::size_t end, unsigned thread) {
    for (std::size_t i = first; i < end; ++i) {
      const double m = std::clamp(static_cast<double>(margins[i]), -1.0, 1.0);  // as predicted
      const double f = cut(m - base - (after > 0 ? static_cast<double>(straight[i]) : 0)),
                   e = cut(static_cast<double>(records.target(i)) - m);
      partial[thread].left += static_cast<std::int64_t>(f * e * kSteps);
      partial[thread].squares += static_cast<std::int64_t>(f * f * kSteps);
    }
  });
  int128 left = 0, squares = 0;
  for (const Sums& part : partial) left += part.left, squares += part.squares;
  const std::vector<double> noisy = noised(*mechanisms_.worth, {left, squares}, rng);
  const double measured =
      1 + noisy[0] / std::max(noisy[1], std::max(1.0, mechanisms_.worth->scale()));
  const double worth = std::clamp((measured - kNoWorth) / (kFullWorth - kNoWorth), 0.0, 1.0);
  for (std::size_t p = after; p < model.parts.size(); ++p) {
    KernelModel::Part& part = model.parts[p];
    for (std::size_t c = 1; c < part.parameters[0].size(); ++c) part.parameters[0][c] *= worth;
    part.noise *= worth;
  }
  for (std::size_t i = 0; i < margins.size(); ++i) {
    const double at = base + (after > 0 ? static_cast<double>(straight[i]) : 0);
    margins[i] = static_cast<float>(at + worth * (static_cast<double>(margins[i]) - at));
  }
  return worth;
}

// Σ of what each record's loss falls by, at most 1 up or down.
bool KernelDescent::improves(const BinnedRows& records, std::span<const float> before,
                             std::span<const float> after, double clip, double least,
                             Rng& rng) const {
  constexpr double kSteps = 1 / KernelMechanisms::kCountUnit;
  const std::size_t outputs = setting_.outputs;
  std::vector<std::int64_t> partial(thread_count(0));
  records.for_parts([&](std::size_t first, std::size_t end, unsigned thread) {
    std::vector<double> m(outputs);
    for (std::size_t i = first; i < end; ++i) {
      const auto loss = [&](std::span<const float> margins) {
        std::copy_n(margins.begin() + static_cast<std::ptrdiff_t>(i * outputs), outputs, m.begin());
        return loss_of(setting_.loss, clip, m, records.target(i));
      };
      const double fall = loss(before) - loss(after);
      if (std::isfinite(fall))
        partial[thread] += static_cast<std::int64_t>(std::clamp(fall, -1.0, 1.0) * kSteps);
    }
  });
  int128 total = 0;
  for (const std::int64_t part : partial) total += part;
  const double fall = noised(*mechanisms_.trial, {total}, rng)[0];
  const double noise = private_ ? mechanisms_.trial->scale() : 0;
  return fall > std::max(least * setting_.rows, kSureFall * noise);
}

std::vector<PairCredit> KernelDescent::found_pairs(const BinnedRows& records,
                                                   const std::vector<ColumnScale>& scales,
                                                   const std::vector<double>& uses,
                                                   std::span<const float> margins, double clip,
                                                   Rng& rng) const {
  const std::size_t outputs = setting_.outputs;
  const PairScan scan(scales, uses, PairScan::columns_of(scales.size(), outputs), outputs);
  return scan.credits(
      noised(*mechanisms_.pairs, scan.sums(records, margins, setting_.loss, clip), rng),
      private_ ? mechanisms_.pairs->scale() : 0, setting_.rows);
}

double KernelDescent::descend(const KernelStage& stage, const KernelRows& rows, State& state,
                              KernelModel::Part& part, Rng& rng, Progress& progress) const {
  const std::size_t dimension = FeatureMap(part.design).dimension();
  const double whole = 1 + kIntercept * kIntercept;  // rows were scaled down by its root
  const double step = stage.time / static_cast<double>(stage.rounds) * (1 - kMomentum) * whole;
  part.parameters.assign(setting_.outputs, std::vector<double>(dimension));
  std::vector<std::vector<double>>&theta = part.parameters, velocity = theta;
  double variance = 0, arrived = 0;  // of what noise adds to a parameter
  for (std::uint64_t i = 0; i < stage.rounds; ++i, ++state.round) {
    if (mechanisms_.residuals && mechanisms_.measures_residuals_at(state.round)) {
      const double reach = reach_of(state.clip);
      const int128 parts = rows.sum_of(
          theta, [&](std::span<const double> m, float y) { return part_of_reach(m[0], y, reach); });
      state.clip =
          next_clip(state.clip, noised(*mechanisms_.residuals, {parts}, rng)[0] / setting_.rows);
    }
    const double clip = state.clip;
    const std::vector<double> sums =
        noised(*stage.gradient,
               rows.weighted_sum(
                   theta,
                   [&](std::span<const double> m, std::span<const float> y, std::span<double> out) {
                     residuals_of_all(setting_.loss, clip, m, y, out);
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
      // θ has moved by (1 − β^m)/(1 − β) times a velocity of m rounds ago.
      const double moved = added * (1 - std::pow(kMomentum, static_cast<double>(stage.rounds - i)));
      arrived += moved * moved;
    }
    progress.advance(state.round + 1);
  }
  part.noise = std::sqrt(variance);
  return std::sqrt(arrived);
}

}  // namespace sotto
