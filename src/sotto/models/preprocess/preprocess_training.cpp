#include "sotto/models/preprocess/detail/preprocess_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/learning/transform_plan.hpp"
#include "sotto/models/preprocess/detail/preprocess_model.hpp"

namespace sotto {
namespace {

constexpr double kStep = 0x1p-30;
constexpr std::int64_t kOne = 1 << 30;
constexpr std::size_t kMagnitudes = 31;  // of either side: 2^−30 … 1
constexpr std::size_t kCells = 256;
constexpr double kNarrowest = 0.01;  // of the half-width, where a deviation drowns
constexpr double kSlack = 1 + 0x1p-40;

struct NumericColumn {
  std::size_t dense;  // which dense value of a row
  double lower, upper;
  double middle() const { return lower / 2 + upper / 2; }
  double half() const { return upper / 2 - lower / 2; }
  double natural(double v) const { return std::clamp(middle() + half() * v, lower, upper); }
  // Above 0: bounds are not both 0.
  double largest() const { return std::max(std::fabs(lower), std::fabs(upper)); }
};

std::vector<NumericColumn> numeric_columns(const Encoder& encoder) {
  std::vector<NumericColumn> list;
  std::size_t dense = 0;
  for (const ColumnEncoder& c : encoder.features()) {
    if (c.is_categorical()) continue;
    if (c.is_numeric()) {
      const Bounds& b = *c.column().bounds;
      list.push_back({dense, b.lower(), b.upper()});
    }
    ++dense;
  }
  return list;
}

// From −1 to 1 over the bounds; a number that is none is in the middle.
double symmetric(const Encoder& encoder, double v) {
  const double s = encoder.schema().scaling == Scaling::unit ? 2 * v - 1 : v;
  return std::isfinite(s) ? std::clamp(s, -1.0, 1.0) : 0;
}

std::size_t magnitude_of(double v) {  // 0 … 2·31: from −1 over 0 to 1
  if (v == 0) return kMagnitudes;
  int exponent = 0;
  std::frexp(std::fabs(v), &exponent);  // |v| ≤ 2^exponent
  const auto m = static_cast<std::size_t>(std::clamp(exponent + 30, 0, 30)) + 1;
  return v > 0 ? kMagnitudes + m : kMagnitudes - m;
}
// The outer edge of a cell.
double edge_of(std::size_t cell) {
  if (cell == kMagnitudes) return 0;
  const bool positive = cell > kMagnitudes;
  const auto m = static_cast<int>(positive ? cell - kMagnitudes : kMagnitudes - cell);
  const double edge = std::min(1.0, std::exp2(m - 31));
  return positive ? edge : -edge;
}

struct Setting {
  Facts facts;
  Preprocessing kind;
  std::size_t bins;
  std::vector<NumericColumn> columns;

  std::size_t cells() const { return kind == Preprocessing::bounds ? 2 * kMagnitudes + 1 : kCells; }
  std::size_t dimension() const {
    return kind == Preprocessing::scale ? 1 + 2 * columns.size() : columns.size() * cells();
  }
};

LatticeNoise noise_of(const Setting& s, const Budget& budget) {
  const auto f = static_cast<double>(s.columns.size());
  const bool replaced = s.facts.relation == Relation::replace_one;
  Distance moved = s.kind == Preprocessing::scale
                       ? Distance{(1 + 1.5 * f) * (replaced ? 2 : 1),
                                  std::sqrt(1 + 1.25 * f) * (replaced ? 2 : 1)}
                       : Distance{f * (replaced ? 2 : 1), std::sqrt(f * (replaced ? 2 : 1))};
  const double units = static_cast<double>(s.facts.contributions) * kSlack / kStep;
  return {s.facts.relation,
          budget,
          kStep,
          {.l1 = moved.l1 * units, .l2 = moved.l2 * units},
          s.dimension()};
}

class PreprocessTraining final : public TransformPlan {
 public:
  PreprocessTraining(Setting setting, const std::optional<Budget>& budget)
      : setting_(std::move(setting)),
        private_(budget.has_value()),
        noise_(noise_of(setting_, budget.value_or(Budget::zcdp(1)))) {}

  std::optional<Event> event() const override {
    return private_ ? std::optional(noise_.event()) : std::nullopt;
  }
  Relation relation() const override { return setting_.facts.relation; }

  Explanation explain() const override {
    Explanation e{.method = private_ ? "histogram" : "none"};
    e.words = fmt::format("{} of {} numeric columns", name(setting_.kind), setting_.columns.size());
    if (private_) e.words += "; " + noise_.describe();
    e.figures = {{"columns", setting_.columns.size()}};
    return e;
  }

  std::vector<OutputColumn> outputs() const override {
    std::vector<ColumnFigures> any;
    for (const NumericColumn& c : setting_.columns) {
      if (setting_.kind == Preprocessing::bins)
        any.emplace_back(setting_.bins - 1, c.middle());
      else
        any.push_back({c.lower, c.upper});
    }
    return preprocess_columns(setting_.kind, any, *setting_.facts.encoder);
  }

  TrainedModel run(Source& source, Rng& rng, RunControl&) override {
    std::vector<int128> sums =
        source.sum(setting_.dimension(),
                   [&](const Table& block, std::span<int128> total) { add(block, total); });
    if (private_) sums = noise_.add(sums, rng);
    std::vector<double> answer;
    for (const int128 s : sums) answer.push_back(static_cast<double>(s) * kStep);
    std::vector<ColumnFigures> figures;
    for (std::size_t c = 0; c < setting_.columns.size(); ++c) figures.push_back(found(answer, c));
    return finished(preprocess_model(setting_.kind, std::move(figures), setting_.facts));
  }

 private:
  void add(const Table& block, std::span<int128> total) const {
    const Encoder& encoder = *setting_.facts.encoder;
    for (std::size_t i = 0; i < block.rows(); ++i) {
      if (block.is_null(i)) continue;
      if (setting_.kind == Preprocessing::scale) total[0] += kOne;
      for (std::size_t c = 0; c < setting_.columns.size(); ++c) {
        const double v = symmetric(encoder, block.dense(i)[setting_.columns[c].dense]);
        switch (setting_.kind) {
          case Preprocessing::bounds: {
            const NumericColumn& column = setting_.columns[c];
            const double size = column.natural(v) / column.largest();
            total[c * setting_.cells() + magnitude_of(size)] += kOne;
            break;
          }
          case Preprocessing::bins:
            total[c * setting_.cells() +
                  std::min(kCells - 1, static_cast<std::size_t>((v + 1) / 2 * kCells))] += kOne;
            break;
          case Preprocessing::scale:
            total[1 + 2 * c] += static_cast<std::int64_t>(v * kOne);
            total[2 + 2 * c] += static_cast<std::int64_t>((v * v - 0.5) * kOne);
            break;
        }
      }
    }
  }

  double deviation() const { return private_ ? noise_.info().standard_deviation.value() : 0; }

  ColumnFigures found(const std::vector<double>& answer, std::size_t c) const {
    const NumericColumn& column = setting_.columns[c];
    if (setting_.kind == Preprocessing::scale) {
      const double n = std::max(1.0, answer[0]);
      const double mean = std::clamp(answer[1 + 2 * c] / n, -1.0, 1.0);
      const double square = answer[2 + 2 * c] / n + 0.5;
      const double variance = std::clamp(square - mean * mean, kNarrowest * kNarrowest, 1.0);
      return {column.natural(mean), column.half() * std::sqrt(variance)};
    }
    const std::span<const double> cells(answer.data() + c * setting_.cells(), setting_.cells());
    return setting_.kind == Preprocessing::bounds ? narrowed(cells, column) : edges(cells, column);
  }

  ColumnFigures narrowed(std::span<const double> cells, const NumericColumn& column) const {
    // Above what noise alone reaches in any of these cells with probability 1 in 1000: a Laplace
    // needs ln(1000·cells/2) scales, a Gaussian fewer deviations.
    const double scales = std::log(500.0 * static_cast<double>(cells.size()));
    const double threshold =
        private_ ? (noise_.gaussian() ? std::sqrt(2 * scales) : scales) * noise_.scale() : 0;
    std::size_t low = cells.size(), high = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!(cells[i] > threshold)) continue;
      low = std::min(low, i);
      high = std::max(high, i);
    }
    if (low > high) return {column.lower, column.upper};
    // The outer edges of the outermost cells; of a cell beyond 0 its edge nearer to 0.
    const double lower =
        std::max(column.lower, column.largest() * edge_of(low > kMagnitudes ? low - 1 : low));
    const double upper =
        std::min(column.upper, column.largest() * edge_of(high < kMagnitudes ? high + 1 : high));
    return lower < upper ? ColumnFigures{lower, upper} : ColumnFigures{column.lower, column.upper};
  }

  ColumnFigures edges(std::span<const double> cells, const NumericColumn& column) const {
    std::vector<double> counts;
    double total = 0;
    for (const double n : cells) {
      counts.push_back(n > 2 * deviation() ? n : 0);
      total += counts.back();
    }
    if (!(total > 0)) {
      std::fill(counts.begin(), counts.end(), 1.0);
      total = static_cast<double>(counts.size());
    }
    ColumnFigures result;
    double before = 0;
    std::size_t cell = 0;
    for (std::size_t b = 1; b < setting_.bins; ++b) {
      const double wanted = total * static_cast<double>(b) / static_cast<double>(setting_.bins);
      while (cell + 1 < counts.size() && before + counts[cell] < wanted) before += counts[cell++];
      const double inside =
          counts[cell] > 0 ? std::clamp((wanted - before) / counts[cell], 0.0, 1.0) : 1;
      result.push_back(column.natural(
          (static_cast<double>(cell) + inside) * 2 / static_cast<double>(kCells) - 1));
    }
    return result;
  }

  Setting setting_;
  bool private_;
  LatticeNoise noise_;
};

}  // namespace

std::unique_ptr<TrainingPlan> preprocess_training(const Facts& facts,
                                                  const TrainingRequest& request) {
  Setting setting{facts, parse_preprocessing(request.kind), 2, numeric_columns(*facts.encoder)};
  if (setting.columns.empty())
    throw InvalidArgument(
        fmt::format("{} is about numeric columns, and there are none", request.kind));
  if (setting.kind == Preprocessing::bins) setting.bins = request.options.whole("bins");
  if (request.method == "none")
    return std::make_unique<PreprocessTraining>(std::move(setting), std::nullopt);
  const Budget share = confirmed(required_budget(request), facts.relation,
                                 [&](const Budget& b) { return noise_of(setting, b).event(); });
  return std::make_unique<PreprocessTraining>(std::move(setting), share);
}

}  // namespace sotto
