#include "sotto/models/kernel/detail/kernel_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"

namespace sotto {
namespace {

constexpr double kMomentum = 0.75;
constexpr double kSmallMu = 0.14, kLargeMu = 0.25;  // about ε = 0.5 and 1 at δ = 1e-5
constexpr std::uint64_t kFewestRounds = 30, kMostRounds = 300, kMostRoundsWithTrees = 150;
constexpr double kWaveUnit = 0x1p-24, kCountUnit = 0x1p-20;
constexpr double kWaveRoom = 4e7;  // pairs × records kept in memory
constexpr double kFreeRho = 8;     // sizes and steps of a run without noise

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

// What is fixed before the budget is known.
struct Setting {
  Relation relation;
  double rows, contributions;
  MarginLoss loss;
  std::size_t outputs;
  const BinnedColumns& columns;
  KernelOptions options;
};

// Everything that depends on the budget ρ: shares, sizes, mechanisms, steps.
struct Mechanisms {
  FeatureSizes sizes;
  MarginalsPlan marginals;
  std::optional<LatticeNoise> waves, leaves, residuals;
  std::uint64_t rounds = 0;
  double time = 0;  // τ
  std::optional<LatticeNoise> gradient;

  Mechanisms(const Setting& s, double rho);
  Event event() const;
};

double share_of_marginals(double mu) { return mu < kSmallMu ? 0.15 : 0.10; }

FeatureSizes sizes_of(const Setting& s, double mu) {
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
      static_cast<std::uint64_t>(std::max(20.0, std::floor(kWaveRoom / std::max(1.0, s.rows))));
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
    case MarginLoss::number: return trees ? 0.35 : 0.5;
  }
  return 1;
}

// ℓ2 distance in natural units → noise on steps of `unit`.
LatticeNoise noise(const Setting& s, double rho, double distance, double unit, std::size_t size) {
  const double steps = up(up(distance * s.contributions) / unit);
  return {s.relation, Budget::zcdp(rho), unit, {.l1 = steps, .l2 = steps}, size};
}

Mechanisms::Mechanisms(const Setting& s, double rho)
    : sizes(sizes_of(s, std::sqrt(2 * rho))),
      marginals(s.columns, s.relation, static_cast<std::uint64_t>(s.contributions),
                s.loss != MarginLoss::classes, rho * share_of_marginals(std::sqrt(2 * rho))) {
  const bool small = std::sqrt(2 * rho) < kSmallMu, replaced = s.relation == Relation::replace_one;
  double left = 1 - share_of_marginals(std::sqrt(2 * rho));
  if (sizes.fourier > 0) {
    const double share = small ? 0.04 : 0.02;
    // Truncated to steps towards 0, so norms do not grow.
    waves = noise(s, rho * share, contribution_factor(s.relation), kWaveUnit, 2 * sizes.fourier);
    left -= share;
  }
  if (sizes.trees > 0) {
    const double share = 0.03, distance = std::sqrt(static_cast<double>(sizes.trees));
    leaves = noise(s, rho * share, up(distance * (replaced ? up(std::sqrt(2.0)) : 1)), kCountUnit,
                   sizes.trees << kTreeDepth);
    left -= share;
  }
  double descent = rho * left * (1 - 0x1p-40);
  if (s.loss == MarginLoss::number) {
    residuals = noise(s, descent * kResidualShare / kResidualReleases, 1, kCountUnit, 1);
    descent *= 1 - kResidualShare;
  }
  const double distance = contribution_factor(s.relation);
  const std::uint64_t most = sizes.trees > 0 ? kMostRoundsWithTrees : kMostRounds;
  // τ at which steps are as long as they may be.
  const double longest = s.loss == MarginLoss::number ? 15 : 60;
  time = std::min(kappa(s.loss, sizes.trees > 0) * s.rows * std::sqrt(2 * descent) /
                      (distance * s.contributions),
                  longest * static_cast<double>(most));
  rounds = s.options.iterations.value_or(
      std::clamp(static_cast<std::uint64_t>(std::ceil(time / longest)), kFewestRounds, most));
  std::size_t main = 0;
  for (std::size_t j = 0; j < s.columns.columns(); ++j)
    main += s.columns.is_numeric(j) ? kMainLevels : s.columns.levels(j);
  const std::size_t dimension = 1 + main + 2 * sizes.fourier + (sizes.trees << kTreeDepth);
  gradient = noise(s, descent / static_cast<double>(rounds), distance, KernelRows::kUnit,
                   dimension * s.outputs);
}

Event Mechanisms::event() const {
  std::vector<Event> all = {marginals.event()};
  if (waves) all.push_back(waves->event());
  if (leaves) all.push_back(leaves->event());
  if (residuals) all.push_back(repeat(residuals->event(), kResidualReleases));
  all.push_back(repeat(gradient->event(), rounds));
  return compose(std::move(all));
}

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
                 facts.classes().size() <= 2 ? 1 : facts.classes().size(),
                 columns_,
                 options},
        mechanisms_(setting_, private_ ? rho_for(request) : kFreeRho) {
    for (std::size_t j = 0; j < columns_.columns(); ++j)
      if (columns_.levels(j) > 65535)
        throw Unsupported("a column has more than 65535 values", "group its values in the schema");
  }

  std::optional<Event> event() const override {
    return private_ ? std::optional(mechanisms_.event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = private_ ? "gradient" : "none"};
    e.words = fmt::format("{} steps of full-batch descent on main effects", mechanisms_.rounds);
    if (mechanisms_.sizes.fourier > 0)
      e.words += fmt::format(", {} random waves", 2 * mechanisms_.sizes.fourier);
    if (mechanisms_.sizes.pairs && mechanisms_.sizes.trees > 0)
      e.words += fmt::format(" and {} pairs of columns", mechanisms_.sizes.trees);
    else if (mechanisms_.sizes.trees > 0)
      e.words += fmt::format(" and the leaves of {} random trees", mechanisms_.sizes.trees);
    if (private_)
      e.words += fmt::format(
          "; each gradient sum of norm 1 a record noised by a discrete Gaussian "
          "of standard deviation {:.4g}, noisy marginals of all columns before",
          mechanisms_.gradient->scale());
    e.figures = {{"steps", mechanisms_.rounds},
                 {"waves", 2 * mechanisms_.sizes.fourier},
                 {"trees", mechanisms_.sizes.trees}};
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    source.keep();
    return finished(kernel_predictor(fit(source, rng, control), facts_));
  }

 private:
  double rho_for(const TrainingRequest& request) const {
    return confirmed_rho(request, facts_.relation,
                         [&](double rho) { return Mechanisms(setting_, rho).event(); });
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

  void centre(FeatureDesign& design, Source& source, Rng& rng) const {
    const std::size_t waves = 2 * design.sizes.fourier, trees = design.sizes.trees,
                      cells_of = trees << kTreeDepth;
    if (waves + cells_of == 0) return;
    const double per_wave = 1 / std::sqrt(static_cast<double>(design.sizes.fourier)) / kWaveUnit *
                            (1 - 0x1p-20);  // covers that cos² + sin² is 1 only nearly
    const std::vector<int128> sums =
        source.sum(waves + cells_of, [&](const Table& block, std::span<int128> total) {
          std::vector<std::int64_t> local(total.size());
          std::vector<BinnedColumns::Cell> cells(columns_.columns());
          std::vector<float> wave(waves);
          for (std::size_t i = 0; i < block.rows(); ++i) {
            if (block.is_null(i)) continue;
            columns_.read(block, i, cells);
            const std::vector<double> places = design.places(cells);
            design.waves(places, wave);
            for (std::size_t w = 0; w < waves; ++w)
              local[w] += static_cast<std::int64_t>(static_cast<double>(wave[w]) * per_wave);
            for (std::size_t t = 0; t < trees; ++t)
              local[waves + (t << kTreeDepth) + design.leaf(t, places)] +=
                  static_cast<std::int64_t>(1 / kCountUnit);
          }
          for (std::size_t i = 0; i < local.size(); ++i) total[i] += local[i];
        });
    const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(waves);
    if (waves > 0) {
      const std::vector<double> noisy = noised(*mechanisms_.waves, {sums.begin(), middle}, rng);
      for (std::size_t w = 0; w < waves; ++w)
        design.fourier_means[w] = static_cast<float>(std::clamp(
            noisy[w] * std::sqrt(static_cast<double>(design.sizes.fourier)) / setting_.rows, -1.0,
            1.0));
    }
    if (trees > 0) {
      const std::vector<double> noisy = noised(*mechanisms_.leaves, {middle, sums.end()}, rng);
      for (std::size_t t = 0; t < trees; ++t) {
        std::vector<double>& shares = design.leaf_shares[t];
        double total = 0;
        for (std::size_t l = 0; l < shares.size(); ++l)
          total += shares[l] = std::max(0.0, noisy[(t << kTreeDepth) + l]);
        for (double& share : shares)
          share = total > 0 ? share / total : 1 / static_cast<double>(shares.size());
      }
    }
  }

  KernelRows rows_of(Source& source, const FeatureMap& map) const {
    KernelRows rows(map);
    rows.reserve(static_cast<std::size_t>(setting_.rows));  // as declared
    source.map<KernelRows>(
        [&](const Table& block) {
          KernelRows part(map);
          std::vector<BinnedColumns::Cell> cells(columns_.columns());
          for (std::size_t i = 0; i < block.rows(); ++i) {
            if (block.is_null(i)) continue;
            columns_.read(block, i, cells);
            part.add(cells, static_cast<float>(block.targets()[i]));
          }
          return part;
        },
        [&](KernelRows&& part) { rows.append(std::move(part)); });
    return rows;
  }

  KernelModel fit(Source& source, Rng& rng, RunControl& control) const {
    std::vector<bool> numeric;
    for (std::size_t j = 0; j < columns_.columns(); ++j) numeric.push_back(columns_.is_numeric(j));
    const auto label = label_of(setting_.loss);
    FeatureDesign design = FeatureDesign::draw(
        mechanisms_.sizes, mechanisms_.marginals.run(source, label, rng).value, numeric, rng);
    centre(design, source, rng);
    const FeatureMap map(std::move(design));
    const KernelRows rows = rows_of(source, map);

    Progress progress(control.shown(mechanisms_.rounds));
    const std::size_t dimension = map.dimension();
    const double whole = 1 + kIntercept * kIntercept;  // rows were scaled down by its root
    const double step =
        mechanisms_.time / static_cast<double>(mechanisms_.rounds) * (1 - kMomentum) * whole;
    std::vector<std::vector<double>> theta(setting_.outputs, std::vector<double>(dimension)),
        velocity = theta;
    double clip = first_clip(setting_.loss), variance = 0;  // of what noise adds to a parameter
    for (std::uint64_t round = 0; round < mechanisms_.rounds; ++round) {
      if (mechanisms_.residuals && measures_residuals(round, mechanisms_.rounds)) {
        const int128 squares = rows.sum_of(
            theta, [](std::span<const double> m, float y) { return quarter_square(m[0], y); }, 0);
        clip = clip_from(noised(*mechanisms_.residuals, {squares}, rng)[0] / setting_.rows);
      }
      const std::vector<double> sums =
          noised(*mechanisms_.gradient,
                 rows.weighted_sum(
                     theta,
                     [&](std::span<const double> m, float y, std::span<double> out) {
                       residuals(setting_.loss, clip, m, y, out);
                     },
                     0),
                 rng);
      for (std::size_t k = 0; k < theta.size(); ++k) {
        for (std::size_t i = 0; i < dimension; ++i) {
          velocity[k][i] =
              kMomentum * velocity[k][i] + clip * sums[k * dimension + i] / setting_.rows;
          theta[k][i] = std::clamp(theta[k][i] - step * velocity[k][i], -1e6, 1e6);
        }
      }
      if (private_) {
        const double added =
            step / (1 - kMomentum) * clip * mechanisms_.gradient->scale() / setting_.rows;
        variance += added * added;
      }
      progress.advance(round + 1);
    }
    progress.finish();
    return {map.design(), std::move(theta), std::sqrt(variance)};
  }

  Facts facts_;
  BinnedColumns columns_;
  bool private_;
  Setting setting_;
  Mechanisms mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> kernel_training(const Facts& facts, const TrainingRequest& request,
                                              const KernelOptions& options) {
  return std::make_unique<KernelTraining>(facts, request, options);
}

}  // namespace sotto
