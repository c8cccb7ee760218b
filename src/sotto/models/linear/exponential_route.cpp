#include "sotto/models/linear/detail/exponential_route.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"

namespace sotto {
namespace {

constexpr double kLossSteps = 0x1p20;  // the range of a record's loss, at most
constexpr std::size_t kBlockRows = 1024, kBlockCandidates = 256;  // margins formed at once
constexpr std::uint64_t kMostRecords = 1ull << 32;

double candidate_norm(std::span<const double> v) {
  double square = 0;
  for (const double x : v) square += x * x;
  return std::sqrt(square);
}

ExponentialRouteOptions settled(ExponentialRouteOptions o, std::size_t dimension) {
  if (dimension == 0) throw InvalidArgument("the rows have no coordinates; they need at least one");
  if (o.outputs == 0 || o.contributions == 0)
    throw InvalidArgument("outputs or contributions is 0; both must be at least 1");
  if (!(o.radius >= 0 && o.radius <= 1000))
    throw InvalidArgument(fmt::format("radius is {}; it must be between 0 and 1000", o.radius));
  const std::size_t size = dimension * o.outputs;
  if (o.radius == 0) o.radius = o.loss == Loss::squared ? 1 : 5;
  if (o.candidates.empty()) {
    if (size > ExponentialRoutePlan::kMaximalGridDimension) {
      throw Unsupported(
          fmt::format("the exponential mechanism enumerates a grid of parameters in at most {} "
                      "dimensions; this model has {} parameters",
                      ExponentialRoutePlan::kMaximalGridDimension, size),
          "give a public list of models with `candidates`, or use another method");
    }
    o.candidates = ball_grid(size, o.radius, ExponentialRoutePlan::kGridPoints);
  }
  if (o.candidates.size() > ExponentialRoutePlan::kMaximalCandidates) {
    throw InvalidArgument(fmt::format("there are {} candidates; at most {} are allowed",
                                      o.candidates.size(),
                                      ExponentialRoutePlan::kMaximalCandidates));
  }
  for (auto& candidate : o.candidates) {
    if (candidate.size() != size) {
      throw InvalidArgument(fmt::format("a candidate has {} numbers; this model has {} parameters",
                                        candidate.size(), size));
    }
    for (const double v : candidate) {
      if (!std::isfinite(v)) throw InvalidArgument("a candidate has a number that is not finite");
    }
    ExactRows::admit(candidate, o.outputs);
  }
  return o;
}

// The largest |margin| of a row in the unit ball, rounded up.
double largest_margin(const ExponentialRouteOptions& o, std::size_t dimension) {
  double largest = 0;
  for (const auto& candidate : o.candidates) {
    for (std::size_t k = 0; k < o.outputs; ++k)
      largest =
          std::max(largest, candidate_norm(std::span(candidate).subspan(k * dimension, dimension)));
  }
  return largest * (1 + 1e-9) + 1e-9;
}

struct ExponentInterval {
  double low, high;
};

// Between which values the loss of one record lies, whatever the record, for margins of size at
// most r.
ExponentInterval loss_interval(Loss loss, std::size_t outputs, double r) {
  const auto k = static_cast<double>(outputs);
  if (outputs == 1) {
    if (loss == Loss::squared) return {0, (1 + r) * (1 + r) / 2};
    return {loss_value(loss, r, 1), loss_value(loss, -r, 1)};
  }
  if (loss == Loss::logistic) {  // ln Σ e^{z_j − z_y} with differences at most 2r
    return {std::log1p((k - 1) * std::exp(-2 * r)), std::log1p((k - 1) * std::exp(2 * r))};
  }
  return {k * loss_value(loss, r, 1), k * loss_value(loss, -r, 1)};
}

// The loss of one record by the margins of its outputs.
double record_loss(Loss loss, std::size_t outputs, const double* margins, double y) {
  if (outputs == 1) return loss_value(loss, margins[0], y);
  const auto target = static_cast<std::size_t>(y);
  double total = 0;
  for (std::size_t j = 0; j < outputs; ++j) {
    const double z = margins[j];
    total += loss == Loss::logistic ? std::exp(z - margins[target])
                                    : loss_value(loss, z, j == target ? 1.0 : -1.0);
  }
  return loss == Loss::logistic ? std::log(total) : total;
}

// A null record has the target 0 and a row of zeros: of one output it is left out here; of several
// it counts as class 0, whose loss is the same for every candidate then (all margins are 0). Either
// way the scores of all candidates move by one constant, which the selection does not see.
bool usable(Loss loss, std::size_t outputs, double y) {
  if (outputs > 1) return y >= 0 && y < static_cast<double>(outputs) && y == std::floor(y);
  return loss == Loss::squared ? std::fabs(y) <= 1 : y == 1 || y == -1;
}

}  // namespace

std::vector<std::vector<double>> ball_grid(std::size_t dimension, double radius,
                                           std::size_t limit) {
  // An odd number of points on each axis, so that 0 is one of them.
  std::size_t side = 1;
  while (std::pow(static_cast<double>(side + 2), static_cast<double>(dimension)) <=
         static_cast<double>(limit))
    side += 2;
  const auto half = static_cast<std::ptrdiff_t>(side / 2);
  const double step = half > 0 ? radius / static_cast<double>(half) : 0;
  std::vector<std::vector<double>> points;
  std::vector<std::ptrdiff_t> at(dimension, -half);
  for (;;) {
    std::ptrdiff_t square = 0;
    for (const std::ptrdiff_t a : at) square += a * a;
    if (square <= half * half) {
      std::vector<double>& point = points.emplace_back();
      for (const std::ptrdiff_t a : at) point.push_back(step * static_cast<double>(a));
    }
    std::size_t j = 0;
    while (j < dimension && ++at[j] > half) at[j++] = -half;
    if (j == dimension) return points;
  }
}

ExponentialRoutePlan::ExponentialRoutePlan(ExponentialRouteOptions options, Relation relation,
                                           std::size_t dimension, const Budget& budget)
    : options_(settled(std::move(options), dimension)),
      dimension_(dimension),
      lowest_(0),
      range_(0),
      step_(0),
      selection_([&] {
        const ExponentInterval interval =
            loss_interval(options_.loss, options_.outputs, largest_margin(options_, dimension));
        lowest_ = interval.low;
        // A whole number of steps: clipped losses are multiples of a step in [0, B].
        const double length = (interval.high - interval.low) * (1 + 1e-9);
        step_ = std::exp2(std::ceil(std::log2(length))) * 2 / kLossSteps;
        range_ = std::ceil(length / step_) * step_;
        return SelectionOptions{.relation = relation,
                                .sensitivity = range_ * static_cast<double>(options_.contributions),
                                .budget = budget,
                                .selector = Selector::exponential,
                                .monotonic = relation != Relation::replace_one};
      }()) {}

std::string ExponentialRoutePlan::describe() const {
  return fmt::format("exponential mechanism over {} models: {}; a record's {} loss spans {:.4g}",
                     options_.candidates.size(), selection_.describe(), name(options_.loss),
                     range_);
}

std::vector<std::string> ExponentialRoutePlan::assumptions() const {
  return {"the candidates are public: neither their number nor their values depend on this data"};
}

std::vector<double> ExponentialRoutePlan::scores(const ExactRows& rows) const {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (rows.size() > kMostRecords)
    throw DataError("the exponential mechanism takes at most 2^32 rows");
  const auto p = static_cast<Eigen::Index>(dimension_);
  const std::size_t count = options_.candidates.size(), outputs = options_.outputs;
  RowMajor theta(static_cast<Eigen::Index>(count * outputs), p);
  for (std::size_t c = 0; c < count; ++c)
    std::copy(options_.candidates[c].begin(), options_.candidates[c].end(),
              theta.data() + c * outputs * dimension_);

  const double top = range_ / step_;
  std::vector<std::int64_t> totals(count);
  RowMajor block;
  for (std::size_t first = 0; first < rows.size(); first += kBlockRows) {
    const std::size_t n = std::min(kBlockRows, rows.size() - first);
    block.resize(static_cast<Eigen::Index>(n), p);
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(rows.row(first + i).data(), dimension_, block.data() + i * dimension_);
    rows.done(first, n);
    const std::size_t parts = (count + kBlockCandidates - 1) / kBlockCandidates;
    parallel_blocks(parts, thread_count(options_.threads), [&](std::size_t part, unsigned) {
      const std::size_t from = part * kBlockCandidates,
                        to = std::min(count, from + kBlockCandidates);
      const Eigen::MatrixXd margins =  // (candidate, output) × record; exact, see exact_rows.hpp
          theta.middleRows(static_cast<Eigen::Index>(from * outputs),
                           static_cast<Eigen::Index>((to - from) * outputs)) *
          block.transpose();
      for (std::size_t i = 0; i < n; ++i) {
        const double y = rows.target(first + i);
        if (!usable(options_.loss, outputs, y)) continue;
        const double* record = margins.col(static_cast<Eigen::Index>(i)).data();
        for (std::size_t c = from; c < to; ++c) {
          const double loss = record_loss(options_.loss, outputs, record + (c - from) * outputs, y);
          const double steps = std::nearbyint((loss - lowest_) / step_);
          totals[c] +=
              static_cast<std::int64_t>(std::isfinite(steps) ? std::clamp(steps, 0.0, top) : top);
        }
      }
    });
  }
  std::vector<double> result(count);
  for (std::size_t c = 0; c < count; ++c) result[c] = -static_cast<double>(totals[c]) * step_;
  return result;
}

Release<LinearModel> ExponentialRoutePlan::run(const ExactRows& rows, Rng& rng) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  const std::size_t chosen = selection_.run(scores(rows), rng).value;
  return {model_for(rows, options_.loss, options_.outputs, options_.candidates[chosen]), *this};
}

}  // namespace sotto
