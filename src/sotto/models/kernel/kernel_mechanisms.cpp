#include "sotto/models/kernel/detail/kernel_mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/models/kernel/detail/kernel_rows.hpp"
#include "sotto/noise/reference_samplers.hpp"

namespace sotto {
namespace {

constexpr double kSmallMu = 0.14, kLargeMu = 0.25;     // about ε = 0.5 and 1 at δ = 1e-5
constexpr double kThreeStages = 1500;                  // records for each unit of noise
constexpr std::uint64_t kFewestRounds = 6;             // of three stages
constexpr double kMainShare = 0.1, kTrialShare = 0.2;  // of the descent, the rest for the third
constexpr double kPairsShare = 0.08, kTrialTest = 0.02, kWorthShare = 0.02;  // of all
// Of the descent of a number, before main effects: slopes, their time for each column, the noise
// that they may add to a prediction as a part of the clip, and the length of their rows for one
// column, 1.3 times the root of its mean square on an even scale.
constexpr std::size_t kMostSlopes = 200;
constexpr double kSlopesShare = 0.06, kSlopesTime = 7, kSlopesNoise = 0.25, kSlopesLength = 0.5;
constexpr double kLongestStep = 150, kLongestOfNumber = 37.5;  // τ of a round
// From so many records per unit of noise on κ grows like the root of their number, up to a limit.
constexpr double kFarSignal = 3500, kFurthest = 2.5;
// Where others would go on instead: of a record's loss. In proportion below so many records per
// unit of noise, where the fall of a trial scatters.
constexpr double kLittleFall = 0.025, kLittleSignal = 4000;
constexpr double kWaveRoom = 1.2e7;  // pairs × records: what a round walks through

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

double share_of_marginals(double mu) { return mu < kSmallMu ? 0.15 : 0.10; }

FeatureSizes sizes_of(const KernelSetting& s, double mu) {
  FeatureSizes sizes;
  if (s.options.main_only) {
    // As many as there are, which the schema says.
    const std::uint64_t d = s.columns.columns();
    sizes.trees = std::min<std::uint64_t>(s.options.pairs, d * (d - 1) / 2);
    sizes.pairs = true;
    if (sizes.trees > 0) sizes.main = 0.6, sizes.tree_part = 0.4;
    return sizes;
  }
  const std::uint64_t room =
      static_cast<std::uint64_t>(std::max(30.0, std::floor(kWaveRoom / std::max(1.0, s.rows))));
  sizes.fourier = s.options.fourier.value_or(
      std::min<std::uint64_t>(s.loss == MarginLoss::classes ? 400 : 200, room));
  sizes.trees = s.options.trees.value_or(s.loss != MarginLoss::classes && mu >= kLargeMu ? 100 : 0);
  if (sizes.trees > 0) {
    sizes.main = 0.3, sizes.fourier_part = 0.3, sizes.tree_part = 0.4;
  } else {
    sizes.main = 0.4, sizes.fourier_part = 0.6;
  }
  if (sizes.fourier == 0) {
    sizes.main += sizes.fourier_part;
    sizes.fourier_part = 0;
  }
  return sizes;
}

double kappa(MarginLoss loss, bool trees) {
  switch (loss) {
    case MarginLoss::two_classes: return trees ? 1.2 : 1.6;
    case MarginLoss::classes: return 1;
    case MarginLoss::number: return trees ? 0.42 : 0.5;
  }
  return 1;
}

// ℓ2 distance in natural units → noise on steps of `unit`.
LatticeNoise noise(const KernelSetting& s, double rho, double distance, double unit,
                   std::size_t size) {
  const double steps = up(up(distance * s.contributions) / unit);
  return {s.relation, Budget::zcdp(rho), unit, {.l1 = steps, .l2 = steps}, size};
}

double root(std::size_t n) { return up(std::sqrt(static_cast<double>(n))); }

// Of a number, before three stages. Rows of slopes have a coordinate for each column and direction.
bool has_slopes(const KernelSetting& s) {
  return s.loss == MarginLoss::number && s.columns.columns() <= kMostSlopes;
}

std::uint64_t slope_rounds(const KernelSetting& s) {
  if (!has_slopes(s)) return 0;
  return s.options.iterations ? std::max<std::uint64_t>(1, *s.options.iterations / 12) : 20;
}

// As many as make short steps, fewer where a round costs much: by the declared rows alone.
std::uint64_t rounds_of(const KernelSetting& s, std::size_t stage, std::size_t stages) {
  if (stages == 1 || stage == 2) {
    const std::uint64_t before =
        stages == 1 ? 0 : slope_rounds(s) + rounds_of(s, 0, 3) + rounds_of(s, 1, 3);
    if (s.options.iterations) return *s.options.iterations - before;
    const auto room = static_cast<std::uint64_t>(8e6 / std::max(1.0, s.rows));
    return std::max<std::uint64_t>(std::min<std::uint64_t>(120, room), 60);
  }
  if (s.options.iterations) return std::max<std::uint64_t>(1, *s.options.iterations / 4);
  const auto room = static_cast<std::uint64_t>(3e6 / std::max(1.0, s.rows));
  return std::max<std::uint64_t>(std::min<std::uint64_t>(stage == 0 ? 60 : 40, room), 25);
}

// Shares of the descent. One for additive models, for few records, for few given rounds, and where
// the noise of the first stage or of slopes, which have the least of the budget for a round, would
// be more than can be sampled. mu: of all releases, for a record at distance 1.
std::vector<double> stage_shares(const KernelSetting& s, const FeatureSizes& sizes, double mu) {
  constexpr double kLeastDescent = 0.5;  // of all
  const auto first_of = [&](std::uint64_t rounds, double share) {
    return std::sqrt(static_cast<double>(rounds) / (kLeastDescent * share)) /
           (mu * KernelRows::kUnit);
  };
  const double first_sigma =
      std::max(first_of(rounds_of(s, 0, 3), kMainShare), first_of(slope_rounds(s), kSlopesShare));
  const bool one = s.options.main_only || sizes.fourier + sizes.trees == 0 ||
                   s.rows * mu < kThreeStages || !(first_sigma < kMaxNoiseScale) ||
                   s.options.iterations.value_or(kFewestRounds) < kFewestRounds;
  if (one) return {1};
  return {kMainShare, kTrialShare, 1 - kMainShare - kTrialShare};
}

// One slope for each column: descent along d even directions of a curvature of about 0.6/d goes
// as far as it can in a time of 7d, and adds noise c·τ/(n·μ): little, d parameters being few. Rows
// are not stretched below a length that most exceed little, so that slopes stay slopes.
KernelStage slopes_of(const KernelSetting& s, double rho) {
  const double d = static_cast<double>(s.columns.columns()),
               moved = contribution_factor(s.relation),
               signal = s.rows * std::sqrt(2 * rho) / (moved * s.contributions);
  KernelStage stage{.sizes = {.fourier = s.columns.columns(),
                              .main = 0,
                              .fourier_part = 1,
                              .main_parts = {1},
                              .slopes = true,
                              .least_length = kSlopesLength * std::sqrt(d)},
                    .rounds = slope_rounds(s)};
  const double rounds = static_cast<double>(stage.rounds);
  stage.time = std::min({kSlopesTime * d, kSlopesNoise * signal, kLongestOfNumber * rounds});
  stage.rho = rho / rounds;
  std::size_t dimension = 1 + 2 * s.columns.columns();
  for (std::size_t j = 0; j < s.columns.columns(); ++j)
    dimension += s.columns.is_numeric(j) ? 1 : s.columns.levels(j);
  stage.gradient = noise(s, stage.rho, moved, KernelRows::kUnit, dimension);
  return stage;
}

}  // namespace

KernelMechanisms::KernelMechanisms(const KernelSetting& s, double rho)
    : sizes(sizes_of(s, std::sqrt(2 * rho / s.share))),
      marginals(s.columns, s.relation, static_cast<std::uint64_t>(s.contributions),
                s.loss != MarginLoss::classes, rho * share_of_marginals(std::sqrt(2 * rho))) {
  const double mu = std::sqrt(2 * rho), moved = contribution_factor(s.relation);
  const bool replaced = s.relation == Relation::replace_one;
  const std::vector<double> shares = stage_shares(s, sizes, mu / (moved * s.contributions));
  const bool three = shares.size() > 1;
  const double designs = three ? 2 : 1;  // with waves and leaves
  const double of_waves = sizes.fourier > 0 ? (mu < kSmallMu ? 0.04 : 0.02) : 0,
               of_leaves = sizes.trees > 0 ? 0.03 : 0;
  const std::size_t looked_at = PairScan::columns_of(s.columns.columns(), s.outputs);
  const double of_pairs = three && sizes.trees > 0 && looked_at > 1 ? kPairsShare : 0,
               of_trial = three ? kTrialTest : 0,
               of_worth = s.loss == MarginLoss::number ? kWorthShare : 0;
  if (of_pairs > 0)
    pairs = noise(s, rho * of_pairs, up(root(PairScan::pairs_of(looked_at)) * moved),
                  PairScan::kUnit, PairScan::pairs_of(looked_at) * PairScan::kCells * s.outputs);
  if (three) trial = noise(s, rho * of_trial, moved, kCountUnit, 1);
  if (of_worth > 0) worth = noise(s, rho * of_worth, up(root(2) * moved), kCountUnit, 2);
  double descent =
      rho * (1 - share_of_marginals(mu) - of_waves - of_leaves - of_pairs - of_trial - of_worth) *
      (1 - 0x1p-40);
  if (s.loss == MarginLoss::number) {
    residuals = noise(s, descent * kResidualShare / kResidualReleases, 1, kCountUnit, 1);
    descent *= 1 - kResidualShare;
  }
  std::size_t main = 0, of_number = 0;
  for (const std::size_t parts : sizes.main_parts) of_number += parts;
  for (std::size_t j = 0; j < s.columns.columns(); ++j)
    main += s.columns.is_numeric(j) ? of_number : s.columns.levels(j);
  if (three && has_slopes(s)) {
    const double own = descent * kSlopesShare;
    slopes = slopes_of(s, own);
    descent -= own;
  }
  const auto stage_of = [&](const FeatureSizes& features, double share, std::uint64_t rounds) {
    KernelStage stage{.sizes = features, .rounds = rounds};
    if (features.fourier > 0)
      stage.waves = noise(s, rho * of_waves / designs, up(root(features.fourier) * moved),
                          kWaveUnit, 2 * features.fourier);
    if (features.trees > 0)
      stage.leaves =
          noise(s, rho * of_leaves / designs, up(root(features.trees) * (replaced ? root(2) : 1)),
                kCountUnit, features.trees << kTreeDepth);
    const double longest = s.loss == MarginLoss::number ? kLongestOfNumber : kLongestStep,
                 steps = static_cast<double>(rounds);
    const double signal = s.rows * std::sqrt(2 * descent) / (moved * s.contributions);
    const double further = three && s.loss != MarginLoss::classes
                               ? std::clamp(std::sqrt(signal / kFarSignal), 1.0, kFurthest)
                               : 1;
    const double whole_time = further * kappa(s.loss, features.trees > 0) * signal;
    stage.time = std::min(share * whole_time, longest * steps);
    const std::size_t dimension = 1 + main + 2 * features.fourier + (features.trees << kTreeDepth);
    stage.rho = descent * share / steps;
    stage.gradient = noise(s, stage.rho, moved, KernelRows::kUnit, dimension * s.outputs);
    return stage;
  };
  for (std::size_t i = 0; i < shares.size(); ++i)
    stages.push_back(stage_of(three && i == 0 ? FeatureSizes{} : sizes, shares[i],
                              rounds_of(s, i, shares.size())));
  if (three) otherwise = stage_of({}, shares.back(), stages.back().rounds);
  const double signal = s.rows * mu / (moved * s.contributions * std::sqrt(s.share));
  little_fall = std::clamp(kLittleFall * signal / kLittleSignal, least_fall, kLittleFall);
}

Event KernelMechanisms::event() const {
  std::vector<Event> all = {marginals.event()};
  if (residuals) all.push_back(repeat(residuals->event(), kResidualReleases));
  if (pairs) all.push_back(pairs->event());
  if (trial) all.push_back(trial->event());
  if (worth) all.push_back(worth->event());
  if (slopes) all.push_back(repeat(slopes->gradient->event(), slopes->rounds));
  for (const KernelStage& stage : stages) {
    if (stage.waves) all.push_back(stage.waves->event());
    if (stage.leaves) all.push_back(stage.leaves->event());
    all.push_back(repeat(stage.gradient->event(), stage.rounds));
  }
  return compose(std::move(all));
}

std::uint64_t KernelMechanisms::rounds() const {
  std::uint64_t all = slopes ? slopes->rounds : 0;
  for (const KernelStage& stage : stages) all += stage.rounds;
  return all;
}

bool KernelMechanisms::measures_residuals_at(std::uint64_t round) const {
  const std::uint64_t before = slopes ? slopes->rounds : 0;
  if (round <= before) return round == 0;
  return measures_residuals(round - before, rounds() - before);
}

std::uint64_t KernelMechanisms::past_residuals() const {
  const std::uint64_t before = slopes ? slopes->rounds : 0;
  return before + (rounds() - before) / 2 + 5;
}

}  // namespace sotto
