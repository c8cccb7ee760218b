#include "sotto/data/encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {
constexpr int kVersion = 1;
constexpr std::size_t kMaxWidth = 100'000'000;
}  // namespace

// What a declared feature becomes.
void Encoder::add_input(const ColumnSchema& c) {
  Input input{.column = c, .first = features_.size(), .count = 0};
  const auto& marks = schema_.missing_values;
  if (c.type == ColumnType::text) {
    if (schema_.scaling == Scaling::unit) {
      throw Unsupported(
          fmt::format("column '{}' is a text feature, whose coordinates lie in [-1, 1]", c.name),
          "use scaling = \"symmetric\", or leave the text out");
    }
    for (std::size_t b = 0; b < c.hash.buckets; ++b)
      features_.push_back(ColumnEncoder::bucket(c, b));
    input.whole.emplace_back(c, schema_.scaling, marks);
  } else if (!c.parts.empty()) {
    for (const DatePart part : c.parts) features_.emplace_back(c, part, schema_.scaling, marks);
  } else {
    features_.emplace_back(c, schema_.scaling, marks);
  }
  input.count = features_.size() - input.first;
  inputs_.push_back(std::move(input));
}

Encoder::Encoder(Schema schema) : schema_(std::move(schema)) {
  std::size_t width = 0;
  for (const ColumnSchema& c : schema_.columns) {
    if (c.role == Role::ignore || c.role == Role::user) continue;
    if (c.role == Role::target)
      target_.emplace_back(c, schema_.scaling, schema_.missing_values);
    else if (c.role == Role::group)
      groups_.emplace_back(c, schema_.scaling, schema_.missing_values);
    else
      add_input(c);
  }
  for (const ColumnEncoder& e : features_) {
    offsets_.push_back(static_cast<std::uint32_t>(width));
    width += e.is_categorical() ? e.labels().size() : 1;
    if (has_hats(e)) width += HatBasis::kWidth;
    if (width > kMaxWidth)
      throw DataError(fmt::format("the schema makes more than {} coordinates", kMaxWidth));
  }
  if (features_.empty()) {
    throw DataError("the schema has no feature column",
                    "features are the columns without another role");
  }
  names_.reserve(width);
  for (std::size_t f = 0; f < features_.size(); ++f) {
    const ColumnEncoder& e = features_[f];
    if (!e.is_categorical()) {
      dense_positions_.push_back(offsets_[f]);
      hats_.push_back(has_hats(e) ? std::optional(HatBasis(*e.column().bounds)) : std::nullopt);
      names_.push_back(e.column().name);
      for (std::size_t hat = 0; hats_.back() && hat < HatBasis::kWidth; ++hat) {
        const double peak = hats_.back()->peak(hat);
        names_.push_back(
            fmt::format("{}{}~{:.4g}", hat < HatBasis::kHats ? "" : "log ", e.column().name,
                        e.unscaled(schema_.scaling == Scaling::unit ? (peak + 1) / 2 : peak)));
      }
      continue;
    }
    hot_positions_.push_back(static_cast<std::uint32_t>(offsets_[f]));
    for (const std::string& label : e.labels()) {
      names_.push_back(fmt::format("{}={}", e.column().name, label));
    }
  }
  // Rounded up, so that it bounds the norm of the real numbers.
  const auto bent = static_cast<double>(
      std::count_if(hats_.begin(), hats_.end(), [](const auto& h) { return h.has_value(); }));
  double squares = bent;
  for (const Input& input : inputs_)  // a text as a whole has norm 1
    squares += input.column.type == ColumnType::text ? 1.0 : static_cast<double>(input.count);
  const double natural = std::sqrt(squares);
  norm_bound_ = std::nextafter(natural, std::numeric_limits<double>::infinity());
  if (bent > 0) norm_bound_ *= 1 + 0x1p-49;  // the rounding of the hats
  if (schema_.feature_norm) norm_bound_ = std::min(norm_bound_, *schema_.feature_norm);
}

template <class Cell>
double Encoder::encode_cells(std::span<const Cell> cells, std::span<double> dense,
                             std::span<std::uint32_t> hot, std::size_t& column) const {
  std::size_t next_dense = 0, next_hot = 0;
  for (column = 0; column < inputs_.size(); ++column) {
    const Input& input = inputs_[column];
    if constexpr (std::is_same_v<Cell, double>) {
      if (!input.takes_numbers())
        throw CellRefused{
            fmt::format("a number stands where a {} is declared", name(input.column.type)),
            "give dates and texts in a file"};
    }
    if (!input.whole.empty()) {
      if constexpr (std::is_same_v<Cell, std::string_view>) {
        const bool nothing = input.whole.front().is_missing(cells[column]);
        input.column.hash.write(nothing ? Cell() : cells[column],
                                dense.subspan(next_dense, input.count));
        next_dense += input.count;
      }
      continue;
    }
    for (std::size_t f = input.first; f < input.first + input.count; ++f) {
      const ColumnEncoder& e = features_[f];
      if (e.is_categorical()) {
        hot[next_hot++] = offsets_[f] + e.index(cells[column]);
      } else {
        dense[next_dense++] = e.value(cells[column]);
      }
    }
  }
  // Nothing is clipped when the natural bound holds: its squares are sums of numbers ≤ 1.
  if (!schema_.feature_norm || *schema_.feature_norm > norm_bound_) return 1;
  const double norm = std::sqrt(static_cast<double>(hot_columns()) + square(dense));
  constexpr double kUlp = 0x1p-52;
  const double slack = (static_cast<double>(width()) + 8) * kUlp;
  if (norm * (1 + slack) <= norm_bound_) return 1;
  return norm_bound_ / norm * (1 - slack);
}

double Encoder::encode(std::span<const std::string_view> cells, std::span<double> dense,
                       std::span<std::uint32_t> hot, std::size_t& column) const {
  return encode_cells(cells, dense, hot, column);
}
double Encoder::encode(std::span<const double> cells, std::span<double> dense,
                       std::span<std::uint32_t> hot, std::size_t& column) const {
  return encode_cells(cells, dense, hot, column);
}

double Encoder::square(std::span<const double> dense) const {
  double sum = 0;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    sum += dense[i] * dense[i];
    if (hats_[i]) sum += hats_[i]->square(symmetric(dense[i]));
  }
  return sum;
}

Encoder::Run Encoder::run(std::size_t f) const {
  const std::size_t next = f + 1 < offsets_.size() ? offsets_[f + 1] : names_.size();
  return {offsets_[f], next - offsets_[f], has_hats(features_[f])};
}

template <class Number>
void Encoder::expand_to(std::span<const double> dense, std::span<const std::uint32_t> hot,
                        double factor, std::span<Number> row) const {
  const std::size_t columns = dense_positions_.size();
  if (columns == row.size()) {  // nothing but numbers
    for (std::size_t i = 0; i < columns; ++i) row[i] = static_cast<Number>(dense[i] * factor);
    return;
  }
  std::fill(row.begin(), row.end(), Number{0});
  std::array<double, HatBasis::kWidth> hats;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t at = dense_positions_[i];
    row[at] = static_cast<Number>(dense[i] * factor);
    if (!hats_[i]) continue;
    hats_[i]->write(symmetric(dense[i]), factor, hats);
    for (std::size_t h = 0; h < hats.size(); ++h) row[at + 1 + h] = static_cast<Number>(hats[h]);
  }
  for (const std::uint32_t position : hot) row[position] = static_cast<Number>(factor);
}

void Encoder::expand(std::span<const double> dense, std::span<const std::uint32_t> hot,
                     double factor, std::span<double> row) const {
  expand_to(dense, hot, factor, row);
}
void Encoder::expand(std::span<const double> dense, std::span<const std::uint32_t> hot,
                     double factor, std::span<float> row) const {
  expand_to(dense, hot, factor, row);
}

const ColumnEncoder& Encoder::target() const {
  if (target_.empty()) {
    throw DataError("the schema has no target",
                    "give one column role = \"target\", or name it with `target`");
  }
  return target_.front();
}

double Encoder::encode_target(std::string_view cell) const {
  const ColumnEncoder& t = target();
  return t.is_numeric() ? t.value(cell) : static_cast<double>(t.index(cell));
}

double Encoder::encode_target(double cell) const {
  const ColumnEncoder& t = target();
  return t.is_numeric() ? t.value(cell) : static_cast<double>(t.index(cell));
}

ColumnEncoder Encoder::group(std::string_view name) const {
  ColumnSchema column = schema_.column(name);
  const bool finite = column.type == ColumnType::categorical || column.type == ColumnType::boolean;
  if (!finite || (column.type == ColumnType::categorical && column.values.empty())) {
    throw DataError(
        fmt::format("column '{}' cannot define groups: it is {}", name, sotto::name(column.type)),
        "groups need a boolean or a categorical column with its values");
  }
  return {column, schema_.scaling, schema_.missing_values};
}

nlohmann::ordered_json to_json(const Encoder& encoder) {
  nlohmann::ordered_json json;
  json["encoder"] = kVersion;
  json["schema"] = to_json(encoder.schema());
  return json;
}

Encoder encoder_from_json(const nlohmann::ordered_json& json) {
  if (!json.is_object() || !json.contains("encoder") || !json.contains("schema") ||
      json.size() != 2) {
    throw DataError("an encoder must be an object with the keys encoder and schema");
  }
  if (json["encoder"] != kVersion) {
    throw DataError("the encoder has another version than this program understands",
                    "use a newer version of sotto");
  }
  return Encoder(schema_from_json(json["schema"], "encoder"));
}

}  // namespace sotto
