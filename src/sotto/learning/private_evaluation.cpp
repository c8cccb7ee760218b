#include "sotto/learning/private_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBins = 28;
constexpr double kLargest = 7;  // log-odds and losses are clamped to it
constexpr std::size_t kSums = 5;
constexpr double kRoot5 = 2.2360679774997902;  // √5, rounded up
constexpr double kDrownedMean = 4;             // standard deviations that a divisor must exceed

std::size_t bin_of(double x, double lower, double upper) {
  const double at = (x - lower) / (upper - lower) * kBins;
  if (!(at > 0)) return 0;  // NaN too
  return std::min(kBins - 1, static_cast<std::size_t>(std::min(at, double{kBins})));
}
double middle_of(std::size_t bin, double lower, double upper) {
  return lower + (static_cast<double>(bin) + 0.5) * (upper - lower) / kBins;
}

double log_odds(const std::vector<double>& p) {
  return p.size() == 2 ? std::log(p[1]) - std::log(p[0]) : 0;
}
double loss_of(const std::vector<double>& p, std::size_t truth) {
  return truth < p.size() ? -std::log(p[truth]) : kLargest;
}
// ln(1 + e^x)
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double standard_deviation(const LatticeNoise& noise) {
  return noise.gaussian() ? noise.scale() : noise.scale() * std::sqrt(2.0);
}
// Standard deviations that cover 95 %. A single Laplace needs ln(20)/√2; sums of several need less.
double width_95(const LatticeNoise& noise) { return noise.gaussian() ? 1.96 : 2.12; }

PrivateMetric metric(double value, double variance, double z, double lower, double upper) {
  const double half = z * std::sqrt(std::max(0.0, variance));
  const auto inside = [&](double x) { return std::clamp(x, lower, upper); };
  return {inside(value), {inside(value - half), inside(value + half)}};
}

// Cells of a histogram (one slice) with, for each, how a figure changes when the cell grows by one.
// The variance of the figure is Σ (count + σ²)·slope²: the rows are a sample, and the noise comes
// on top.
double variance(const std::vector<double>& cells, const std::vector<double>& slopes, double sigma) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    sum += (std::max(0.0, cells[i]) + sigma * sigma) * slopes[i] * slopes[i];
  return sum;
}

// The mean over a histogram of a value that each cell has.
std::optional<PrivateMetric> mean_of(const std::vector<double>& cells,
                                     const std::vector<double>& values, double sigma, double z,
                                     double upper, double lower = 0) {
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    total += cells[i];
    sum += cells[i] * values[i];
  }
  if (!(total > kDrownedMean * sigma * std::sqrt(static_cast<double>(cells.size()))))
    return std::nullopt;
  const double mean = sum / total;
  std::vector<double> slopes;
  for (const double v : values) slopes.push_back((v - mean) / total);
  return metric(mean, variance(cells, slopes, sigma), z, lower, upper);
}

// negatives, then positives, by rising score.
std::optional<PrivateMetric> area(const std::vector<double>& cells, double sigma, double z) {
  double positives = 0, negatives = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    negatives += cells[b];
    positives += cells[kBins + b];
  }
  const double least = kDrownedMean * sigma * std::sqrt(double{kBins});
  if (!(positives > least && negatives > least)) return std::nullopt;
  std::vector<double> slopes(cells.size());
  double below = 0, above = positives, value = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    const double n = cells[b], p = cells[kBins + b];
    above -= p;
    const double won = (below + n / 2) / negatives;
    slopes[b] = (above + p / 2) / positives;
    slopes[kBins + b] = won;
    value += p * won / positives;
    below += n;
  }
  for (std::size_t b = 0; b < kBins; ++b) {
    slopes[b] = (slopes[b] - value) / negatives;
    slopes[kBins + b] = (slopes[kBins + b] - value) / positives;
  }
  return metric(value, variance(cells, slopes, sigma), z, 0, 1);
}

// Sums of one slice of several groups.
std::vector<double> slice(const std::vector<double>& cells, std::size_t width, std::size_t first,
                          std::size_t count) {
  std::vector<double> sum(width);
  for (std::size_t g = first; g < first + count; ++g) {
    for (std::size_t i = 0; i < width; ++i) sum[i] += cells[g * width + i];
  }
  return sum;
}

void add_accuracy(PrivateQuality& q, const std::vector<double>& cells, std::size_t classes,
                  std::optional<double> public_rows, double sigma, double z) {
  std::vector<double> right(cells.size());
  double correct = 0, total = 0;
  for (std::size_t t = 0; t < classes; ++t) {
    right[t * classes + t] = 1;
    correct += cells[t * classes + t];
    q.confusion.emplace_back(cells.begin() + static_cast<std::ptrdiff_t>(t * classes),
                             cells.begin() + static_cast<std::ptrdiff_t>((t + 1) * classes));
  }
  for (const double cell : cells) total += cell;
  q.rows = public_rows.value_or(std::max(0.0, total));
  if (public_rows && *public_rows > 0) {
    const double p = correct / *public_rows;
    const double inside = std::clamp(p, 0.0, 1.0);
    const double noise = sigma * sigma * static_cast<double>(classes);
    q.accuracy = metric(
        p, inside * (1 - inside) / *public_rows + noise / (*public_rows * *public_rows), z, 0, 1);
  } else {
    q.accuracy = mean_of(cells, right, sigma, z, 1);
  }
  if (!q.accuracy) return;
  // Near 0 and 1 the first-order interval is too short; the score interval is not.
  const auto n = static_cast<std::uint64_t>(std::max(1.0, q.rows));
  const auto k = static_cast<std::uint64_t>(q.accuracy->value * static_cast<double>(n));
  const Interval score = wilson_95(k, n);
  q.accuracy->interval_95.lower = std::min(q.accuracy->interval_95.lower, score.lower);
  q.accuracy->interval_95.upper = std::max(q.accuracy->interval_95.upper, score.upper);
}

void add_scores(PrivateQuality& q, const std::vector<double>& cells, bool binary, double sigma,
                double z) {
  std::vector<double> losses(cells.size());
  for (std::size_t b = 0; b < kBins; ++b) {
    if (binary) {
      const double odds = middle_of(b, -kLargest, kLargest);
      losses[b] = softplus(odds);           // the truth is class 0
      losses[kBins + b] = softplus(-odds);  // class 1
    } else {
      losses[b] = middle_of(b, 0, kLargest);
    }
  }
  q.log_loss = mean_of(cells, losses, sigma, z, kLargest + 1);
  if (!binary) return;
  q.auc = area(cells, sigma, z);
  // The probability that was said less what happened, in the middle of each bin.
  std::vector<double> excess(cells.size());
  for (std::size_t b = 0; b < kBins; ++b) {
    excess[b] = 1 / (1 + std::exp(-middle_of(b, -kLargest, kLargest)));
    excess[kBins + b] = excess[b] - 1;
  }
  q.calibration = mean_of(cells, excess, sigma, z, 1, -1);
}

// sums: (1, |e|, e², t, t²) in units of `unit`.
void add_errors(PrivateQuality& q, const std::vector<double>& sums, double unit,
                std::optional<double> public_rows, double sigma, double z) {
  q.rows = public_rows.value_or(std::max(0.0, sums[0]));
  const double n = q.rows, noise = sigma * sigma;
  if (!(n > kDrownedMean * sigma) || n < 1) return;
  const double count_noise = public_rows ? 0 : noise;
  const double mae = std::clamp(sums[1] / n, 0.0, 1.0), mse = std::clamp(sums[2] / n, 0.0, 1.0);
  const double mean = std::clamp(sums[3] / n, -1.0, 1.0);
  const auto scaled = [&](PrivateMetric m) {
    return PrivateMetric{m.value * unit, {m.interval_95.lower * unit, m.interval_95.upper * unit}};
  };
  q.mae = scaled(
      metric(mae, std::max(0.0, mse - mae * mae) / n + (noise + count_noise * mae * mae) / (n * n),
             z, 0, 1));
  // e² ≤ 1, so that e⁴ ≤ e².
  const PrivateMetric square =
      metric(mse, mse * (1 - mse) / n + (noise + count_noise * mse * mse) / (n * n), z, 0, 1);
  q.rmse = scaled({std::sqrt(square.value),
                   {std::sqrt(square.interval_95.lower), std::sqrt(square.interval_95.upper)}});
  const double spread = sums[4] - n * mean * mean;  // Σ(t − mean)²
  if (!(spread > kDrownedMean * sigma * std::sqrt(1 + 4 * mean * mean))) return;
  const double residual = std::max(0.0, sums[2]);
  const double ratio = residual / spread, r2 = 1 - ratio;
  const double from_noise = (noise * (1 + ratio * ratio * (1 + 4 * mean * mean)) +
                             count_noise * ratio * ratio * std::pow(mean, 4)) /
                            (spread * spread);
  const double from_rows = 4 * std::fabs(r2) * ratio * ratio / n;
  q.r2 = metric(r2, from_noise + from_rows, z, -1e9, 1);
}

}  // namespace

PrivateEvaluationPlan::PrivateEvaluationPlan(const PrivateEvaluationOptions& options,
                                             const Budget& budget)
    : options_(options) {
  if (options.classes == 1 || options.groups == 0 || options.contributions == 0)
    throw InvalidArgument(
        "an evaluation needs two classes, a group and a row of each unit at least");
  if (options.classes == 0 && !options.target)
    throw InvalidArgument("the evaluation of a regression needs the bounds of the target");
  const std::size_t parts = options.classes == 0 ? 1 : 2;
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) {
    noise_ = make_noise(budget.part(1.0 / static_cast<double>(parts)));
    return;
  }
  // The ρ of continuous noise is exact; the lattice may cost a few parts in a billion more, so the
  // accountant has the last word.
  const double mu = gaussian_mu(approximate->epsilon, approximate->delta);
  double rho = mu * mu / 2;
  for (int attempt = 0; attempt < 8; ++attempt) {
    noise_ = make_noise(Budget::zcdp(rho / static_cast<double>(parts)));
    const Bound bound = epsilon(Spec{options.relation, {event()}}, approximate->delta);
    if (bound.upper <= approximate->epsilon.value()) return;
    rho *= 1 - 1e-6 * std::pow(8.0, attempt);
  }
  throw AccountingError("no noise was found that meets the budget", "choose a larger epsilon");
}

std::size_t PrivateEvaluationPlan::score_cells() const {
  return options_.classes == 2 ? 2 * kBins : kBins;
}

std::vector<LatticeNoise> PrivateEvaluationPlan::make_noise(const Budget& part) const {
  const double k = static_cast<double>(options_.contributions);
  const Relation relation = options_.relation;
  if (options_.classes > 0) {
    // k rows of a unit in one cell are the worst case in ℓ2.
    const Distance one = histogram_distance(relation), all{k * one.l1, k * one.l2};
    // Whole numbers for Laplace noise; a finer lattice for Gaussian noise, where the accountant's
    // bound is sharp.
    const auto noise_for = [&](std::size_t cells) {
      if (part.is_pure()) return counting_noise(relation, part, all, cells);
      const double g = std::min(1.0, LatticeNoise::granularity_for_budget(part, all, cells));
      return LatticeNoise(relation, part, g, {all.l1 / g, all.l2 / g}, cells);
    };
    return {noise_for(options_.groups * options_.classes * options_.classes),
            noise_for(options_.groups * score_cells())};
  }
  const double times = k * (relation == Relation::replace_one ? 2 : 1);
  const Distance natural{times * kSums, times * kRoot5};
  const std::size_t dimension = options_.groups * kSums;
  const double g = std::min(1.0, LatticeNoise::granularity_for_budget(part, natural, dimension));
  return {LatticeNoise(relation, part, g, {natural.l1 / g, natural.l2 / g}, dimension)};
}

Event PrivateEvaluationPlan::event() const {
  std::vector<Event> events;
  for (const LatticeNoise& noise : noise_) events.push_back(noise.event());
  return compose(std::move(events));
}

std::string PrivateEvaluationPlan::describe() const {
  if (options_.classes == 0) return "sums of errors and targets: " + noise_[0].describe();
  return fmt::format("confusion counts ({}) and a histogram of scores ({}), half the budget each",
                     noise_[0].describe(), noise_[1].describe());
}

std::vector<double> PrivateEvaluationPlan::noisy_confusion(const std::vector<ScoredRow>& rows,
                                                           Rng& rng) const {
  const std::size_t k = options_.classes;
  std::vector<std::uint64_t> counts(options_.groups * k * k);
  for (const ScoredRow& row : rows) {
    if (row.null) continue;
    const auto truth = static_cast<std::size_t>(row.target),
               said = static_cast<std::size_t>(row.prediction);
    if (truth < k && said < k && row.group < options_.groups)
      ++counts[(row.group * k + truth) * k + said];
  }
  return noisy_counts(noise_[0], counts, rng);
}

std::vector<double> PrivateEvaluationPlan::noisy_scores(const std::vector<ScoredRow>& rows,
                                                        Rng& rng) const {
  const bool binary = options_.classes == 2;
  std::vector<std::uint64_t> counts(options_.groups * score_cells());
  for (const ScoredRow& row : rows) {
    if (row.null) continue;
    const auto truth = static_cast<std::size_t>(row.target);
    if (truth >= options_.classes || row.group >= options_.groups) continue;
    const std::size_t cell =
        binary ? truth * kBins + bin_of(log_odds(row.probabilities), -kLargest, kLargest)
               : bin_of(loss_of(row.probabilities, truth), 0, kLargest);
    ++counts[row.group * score_cells() + cell];
  }
  return noisy_counts(noise_[1], counts, rng);
}

std::vector<double> PrivateEvaluationPlan::noisy_sums(const std::vector<ScoredRow>& rows,
                                                      Rng& rng) const {
  const LatticeNoise& noise = noise_[0];
  const double middle = (options_.target->lower() + options_.target->upper()) / 2,
               half = (options_.target->upper() - options_.target->lower()) / 2;
  const auto unit = [&](double x) {  // NaN counts as the middle
    return std::isnan(x) ? 0.0 : std::clamp((x - middle) / half, -1.0, 1.0);
  };
  std::vector<int128> sums(options_.groups * kSums);
  for (const ScoredRow& row : rows) {
    if (row.null || row.group >= options_.groups) continue;
    const double t = unit(row.target), e = std::min(1.0, std::fabs(t - unit(row.prediction)));
    const std::array<double, kSums> values = {1, e, e * e, t, t * t};
    // |value| ≤ 1 and 1 is a grid point: no contribution exceeds 1/g steps.
    for (std::size_t i = 0; i < kSums; ++i)
      sums[row.group * kSums + i] += to_grid(values[i], noise.granularity());
  }
  std::vector<double> result;
  for (const int128 sum : noise.add(sums, rng))
    result.push_back(from_grid(sum, noise.granularity()));
  return result;
}

Release<PrivateEvaluation> PrivateEvaluationPlan::run(const std::vector<ScoredRow>& rows,
                                                      Rng& rng) const {
  std::optional<double> public_rows;
  if (count_is_public(options_.relation) && options_.contributions == 1)
    public_rows = static_cast<double>(rows.size());
  const bool classification = options_.classes > 0;
  const std::vector<double> first =
      classification ? noisy_confusion(rows, rng) : noisy_sums(rows, rng);
  const std::vector<double> second =
      classification ? noisy_scores(rows, rng) : std::vector<double>{};
  const double z = width_95(noise_[0]), k = static_cast<double>(options_.classes);

  const auto measure = [&](std::size_t group, std::size_t count, std::optional<double> n) {
    PrivateQuality q;
    const double sigma = standard_deviation(noise_[0]) * std::sqrt(static_cast<double>(count));
    q.sigma = sigma;
    q.z = z;
    if (classification) {
      add_accuracy(q, slice(first, static_cast<std::size_t>(k * k), group, count), options_.classes,
                   n, sigma, z);
      add_scores(q, slice(second, score_cells(), group, count), options_.classes == 2,
                 standard_deviation(noise_[1]) * std::sqrt(static_cast<double>(count)), z);
    } else {
      const double half = (options_.target->upper() - options_.target->lower()) / 2;
      add_errors(q, slice(first, kSums, group, count), half, n, sigma, z);
    }
    return q;
  };
  PrivateEvaluation result{measure(0, options_.groups, public_rows), {}};
  if (options_.groups > 1) {
    for (std::size_t g = 0; g < options_.groups; ++g)
      result.groups.push_back(measure(g, 1, std::nullopt));
  }
  return {std::move(result), *this};
}

}  // namespace sotto
