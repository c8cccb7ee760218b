#include "sotto/models/boosting/detail/boosting_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/models/boosting/detail/boosting_model.hpp"
#include "sotto/models/boosting/detail/boosting_rows.hpp"
#include "sotto/models/boosting/detail/tree_choice.hpp"
#include "sotto/models/kernel/detail/kernel_descent.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"
#include "sotto/noise/reference_samplers.hpp"

namespace sotto {
namespace {

constexpr std::size_t kLeaves = 32;
constexpr double kShrink = 2;      // standard deviations of noise that a leaf's weight is raised by
constexpr double kTime = 0.55;     // τ = kTime·√(n·μ)
constexpr double kTreesRule = 10;  // T = kTreesRule·√(n·μ), within limits
constexpr double kTreesAfter = 5;  // the same after a kernel model
constexpr double kMarginalShare = 0.1;
// Of a kernel model that trees go on from; from kManyRecords per unit of noise on it has said all
// it can with less and less.
constexpr double kMostOfStart = 0.85, kLeastOfStart = 0.4, kManyRecords = 12000;
// Of two classes, below so many records per unit of noise, it has all: trees come only instead.
constexpr double kAllOfStart = 10000;
// Trees that go on instead: so often of three columns, since pairs were looked at. Where the share
// of signal in their gains has at no time, from some rounds on, been so large when they have had
// kTried/signal of the rounds, within limits and at least kRoundsToTell, they find nothing, and
// main effects take the rest.
constexpr double kThreeInstead = 0.7, kFinds = 0.1;
constexpr double kTried = 2700, kLeastTried = 0.25, kMostTried = 0.75;
constexpr std::uint64_t kRoundsToKnow = 16, kRoundsToTell = 24;
constexpr std::uint64_t kFewestTrees = 100, kMostTrees = 800, kMostTreesOfClasses = 400;
constexpr double kWorthwhile = 0.5;  // of the step that lowers the loss the most
constexpr double kFreeRho = 8;       // sizes and steps of a run without noise

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

// What is fixed before the budget is known.
struct Setting {
  Relation relation;
  double rows, contributions;
  MarginLoss loss;
  std::size_t margins;
  const BinnedColumns& columns;
  BoostingOptions options;
};

double signal_of(const Setting& s, double rho) {
  return s.rows * std::sqrt(2 * rho) / (contribution_factor(s.relation) * s.contributions);
}

double share_of_start(const Setting& s, double rho) {
  const double signal = signal_of(s, rho);
  return std::clamp(kMostOfStart * std::sqrt(kManyRecords / signal), kLeastOfStart, kMostOfStart);
}

KernelSetting start_of(const Setting& s, double share) {
  return {s.relation, s.rows, s.contributions, s.loss, s.margins, s.columns, {}, share};
}

// Everything that depends on the budget ρ.
struct Mechanisms {
  std::optional<KernelMechanisms> start;   // what the trees go on from
  double start_share = 0;                  // of ρ
  std::optional<MarginalsPlan> marginals;  // without it
  std::optional<LatticeNoise> squares;
  std::uint64_t rounds = 0;  // of trees
  std::optional<LatticeNoise> leaves;
  // Where the kernel model may leave rounds of its third stage to trees: the noise of a round, at
  // what one of the third stage costs.
  std::optional<LatticeNoise> instead;
  double tried = 0;  // the share of those after which trees have found something or do not
  double left = 0;   // ρ of the trees that come in any case

  Mechanisms(const Setting& s, double rho);
  bool start_with(const Setting& s, double rho, double share);
  double step_with(const Setting& s, std::uint64_t extra) const;
  Event event() const;
  std::uint64_t all_rounds() const { return rounds + (start ? start->rounds() : 0); }
};

LatticeNoise noise(const Setting& s, double rho, double distance, std::size_t size) {
  const double steps = up(up(distance * s.contributions) / BoostingRows::kUnit);
  return {s.relation, Budget::zcdp(rho), BoostingRows::kUnit, {.l1 = steps, .l2 = steps}, size};
}

// A record: one leaf of each tree of a batch.
double distance_of(const Setting& s) {
  const double weight = BoostingRows::kWeight, batch = static_cast<double>(s.options.batch);
  return up(up(std::sqrt(up((1 + weight * weight) * batch))) * contribution_factor(s.relation));
}

std::size_t sums_of(const Setting& s) { return s.options.batch * kLeaves * (s.margins + 1); }

Mechanisms::Mechanisms(const Setting& s, double rho)
    : tried(std::clamp(kTried / signal_of(s, rho), kLeastTried, kMostTried)) {
  double first = kMarginalShare;
  if (s.options.after_kernel) {
    const bool all =
        s.loss == MarginLoss::two_classes && !s.options.trees && signal_of(s, rho) < kAllOfStart;
    if (all && start_with(s, rho, 1)) return;
    first = share_of_start(s, rho);
    start_with(s, rho, first);
  } else {
    marginals.emplace(s.columns, s.relation, static_cast<std::uint64_t>(s.contributions),
                      s.loss != MarginLoss::classes, rho * first);
  }
  left = rho * (1 - first) * (1 - 0x1p-40);
  if (s.loss == MarginLoss::number) {
    squares = noise(s, left * kResidualShare / kResidualReleases, 1, 1);
    left *= 1 - kResidualShare;
  }
  const double size = std::sqrt(signal_of(s, left));
  const std::uint64_t batch = s.options.batch,
                      most = s.loss == MarginLoss::classes ? kMostTreesOfClasses : kMostTrees;
  const std::uint64_t trees = s.options.trees.value_or(std::clamp(
      static_cast<std::uint64_t>((start ? kTreesAfter : kTreesRule) * size), kFewestTrees, most));
  rounds = (trees + batch - 1) / batch;
  leaves = noise(s, left / static_cast<double>(rounds), distance_of(s), sums_of(s));
}

// A kernel model with this share of ρ; whether trees may go on instead of it, for which rounds of
// trees have the noise of rounds of the third stage relative to what a record adds, on no more
// coordinates and in steps as fine: what the event says of the third stage covers them.
bool Mechanisms::start_with(const Setting& s, double rho, double share) {
  start_share = share;
  start.emplace(start_of(s, share), rho * share);
  if (!start->otherwise || s.loss == MarginLoss::classes) return false;
  const KernelStage& third = start->stages.back();
  const double of_round = third.rho * (1 - 0x1p-40), unit = KernelRows::kUnit;
  const double sigma = distance_of(s) * s.contributions / std::sqrt(2 * of_round) / unit;
  if (sums_of(s) > third.gradient->dimension() || !(1.01 * sigma < kMaxNoiseScale)) return false;
  const double steps = up(up(distance_of(s) * s.contributions) / unit);
  instead.emplace(s.relation, Budget::zcdp(of_round), unit, Distance{.l1 = steps, .l2 = steps},
                  sums_of(s));
  return true;
}

// η of all trees, of which `extra` rounds are taken from the kernel model.
double Mechanisms::step_with(const Setting& s, std::uint64_t extra) const {
  const double all = left + (extra > 0 ? start->stages.back().rho * static_cast<double>(extra) : 0);
  return std::min(0.5, kTime * std::sqrt(signal_of(s, all)) /
                           static_cast<double>((rounds + extra) * s.options.batch));
}

Event Mechanisms::event() const {
  std::vector<Event> all = {start ? start->event() : marginals->event()};
  if (squares) all.push_back(repeat(squares->event(), kResidualReleases));
  if (leaves) all.push_back(repeat(leaves->event(), rounds));
  return compose(std::move(all));
}

class BoostingTraining final : public TrainingPlan {
 public:
  BoostingTraining(const Facts& facts, const TrainingRequest& request,
                   const BoostingOptions& options)
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
        mechanisms_(setting_, private_ ? confirmed_rho(request, facts.relation,
                                                       [&](double rho) {
                                                         return Mechanisms(setting_, rho).event();
                                                       })
                                       : kFreeRho) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    const std::uint64_t trees = mechanisms_.rounds * setting_.options.batch;
    Explanation e{.method = !private_ ? "none" : mechanisms_.start ? "after_kernel" : "random"};
    const std::string shape =
        fmt::format("trees of up to {} leaves, {} at a time, on random intervals", kLeaves,
                    setting_.options.batch);
    const std::uint64_t steps = mechanisms_.start ? mechanisms_.start->rounds() : 0;
    const char* const where = " where a trial of all features finds little";
    if (trees > 0) {
      e.words = fmt::format("{} {}", trees, shape);
      if (steps > 0) e.words += fmt::format(", after {} steps of a kernel model", steps);
      if (mechanisms_.instead) e.words += std::string(", and in the place of the last") + where;
    } else {
      e.words = fmt::format("{} steps of a kernel model; in the place of the last {}{}", steps,
                            shape, where);
    }
    if (private_)
      e.words += fmt::format(
          "; the sums of each leaf noised by a discrete Gaussian of standard deviation {:.4g}, "
          "noisy "
          "marginals of all columns before",
          (mechanisms_.leaves ? mechanisms_.leaves : mechanisms_.instead)->scale());
    e.figures = {{"trees", trees}, {"steps", mechanisms_.all_rounds()}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    return finished(boosting_predictor(fit(BinnedRows(source, columns_), rng, control), facts_));
  }

 private:
  // In natural units; noised, unless the run is NOT PRIVATE.
  std::vector<double> noised(const LatticeNoise& noise, std::vector<int128> sums, Rng& rng) const {
    // Steps of noise may be finer than those of sums.
    const auto finer = static_cast<std::int64_t>(BoostingRows::kUnit / noise.granularity());
    for (int128& sum : sums) sum *= finer;
    if (private_) sums = noise.add(sums, rng);
    std::vector<double> natural(sums.size());
    for (std::size_t i = 0; i < natural.size(); ++i)
      natural[i] = static_cast<double>(sums[i]) * noise.granularity();
    return natural;
  }

  BoostingModel fit(const BinnedRows& records, Rng& rng, RunControl& control) const {
    Progress progress(control.shown(mechanisms_.all_rounds()));
    BoostingModel model;
    KernelDescent::Reached reached{.clip = first_clip(setting_.loss)};
    std::uint64_t done = 0;
    const KernelSetting setting = start_of(setting_, mechanisms_.start_share);
    if (mechanisms_.start) {
      reached = KernelDescent(setting, *mechanisms_.start, private_)
                    .run(records, rng, progress,
                         mechanisms_.instead ? KernelDescent::GoesOn::instead
                                             : KernelDescent::GoesOn::after);
      done = mechanisms_.start->rounds() - reached.left;
    } else {
      reached.scales = mechanisms_.marginals->run(records, label_of(setting_.loss), rng).value;
      reached.uses = drawing_shares(reached.scales);
    }
    std::uint64_t extra = reached.left;  // rounds of trees, from the kernel model
    const std::uint64_t planned = extra + mechanisms_.rounds;
    const auto tried = std::max(
        kRoundsToTell,
        static_cast<std::uint64_t>(std::ceil(mechanisms_.tried * static_cast<double>(extra))));
    std::vector<double> uses = reached.uses;
    // What columns say alone is known: of what they say together nothing is.
    if (extra > 0) uses.assign(uses.size(), 1 / static_cast<double>(uses.size()));
    BoostingRows rows(records, reached.scales, setting_.margins, reached.margins);
    TreeChoice choice(std::move(uses), kLeaves, reached.found,
                      extra > 0 ? kThreeInstead : TreeChoice::kThreeColumns);
    double most = 0, clip = reached.clip;
    for (std::uint64_t round = 0; round < extra + mechanisms_.rounds; ++round) {
      const LatticeNoise& of_leaves = round < extra ? *mechanisms_.instead : *mechanisms_.leaves;
      const double noise = private_ ? of_leaves.scale() : 0;
      if (mechanisms_.squares && measures_residuals(round, planned))
        clip = next_clip(
            clip, noised(*mechanisms_.squares, {rows.parts_of_reach(reach_of(clip))}, rng)[0] /
                      setting_.rows);
      std::vector<GridTree> batch;
      for (std::uint64_t t = 0; t < setting_.options.batch; ++t) batch.push_back(choice.draw(rng));
      const std::vector<double> sums =
          noised(of_leaves, rows.sums(batch, kLeaves, setting_.loss, clip), rng);
      for (std::size_t t = 0; t < batch.size(); ++t)
        grow(batch[t], std::span(sums).subspan(t * kLeaves * (setting_.margins + 1)), clip, noise,
             mechanisms_.step_with(setting_, extra), choice);
      rows.apply(batch);
      for (GridTree& tree : batch) model.trees.push_back(std::move(tree));
      progress.advance(done + round + 1);
      if (round + 1 >= kRoundsToKnow) most = std::max(most, choice.worth());
      // A kernel model that is mostly noise has nothing to go on with.
      if (round + 1 == tried && tried < extra && most < kFinds && reached.believed >= 1) {
        reached.margins = rows.margins();
        reached.clip = clip;
        KernelDescent(setting, *mechanisms_.start, private_)
            .go_on(records, extra - tried, reached, rng, progress);
        rows.go_on_from(reached.margins);
        done += extra - tried;
        extra = tried;
      }
    }
    progress.finish();
    if (mechanisms_.start) model.start = std::move(reached.model);
    model.columns = std::move(reached.scales);
    return model;
  }

  // Newton steps of the leaves of a tree from its noisy sums, which the choice learns from.
  void grow(GridTree& tree, std::span<const double> sums, double clip, double noise, double longest,
            TreeChoice& choice) const {
    const std::size_t leaves = tree.leaves(), margins = setting_.margins;
    // Longer steps than what is found is worth would carry more noise than signal.
    const double step = std::min(longest, kWorthwhile * choice.worth());
    const double scale = step * newton_scale(setting_.loss, clip, margins);
    std::vector<double> slopes, weights;
    for (std::size_t l = 0; l < leaves; ++l) {
      const std::span<const double> own = sums.subspan(l * (margins + 1), margins + 1);
      weights.push_back(std::max(0.0, own[margins] / BoostingRows::kWeight) +
                        std::max(1.0, kShrink * noise));
      for (std::size_t k = 0; k < margins; ++k) {
        slopes.push_back(own[k]);
        tree.values.push_back(std::clamp(-scale * own[k] / weights[l], -1e3, 1e3));
      }
    }
    choice.learn(tree, slopes, weights, noise);
  }

  Facts facts_;
  BinnedColumns columns_;
  bool private_;
  Setting setting_;
  Mechanisms mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> boosting_training(const Facts& facts, const TrainingRequest& request,
                                                const BoostingOptions& options) {
  return std::make_unique<BoostingTraining>(facts, request, options);
}

}  // namespace sotto
