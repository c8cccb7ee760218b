#include "output_rows.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/csv_field.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string number(const OutputColumn& column, double value) {
  return column.is_probability ? fmt::format("{:.6f}", value) : fmt::format("{:.9g}", value);
}

}  // namespace

OutputRows::OutputRows(std::vector<OutputColumn> columns, std::string id, bool json)
    : columns_(std::move(columns)), id_(std::move(id)), json_(json) {
  for (const OutputColumn& column : columns_)
    if (column.name == id_)
      throw InvalidArgument(fmt::format("--id {} is also the name of a column of predictions", id_),
                            "give the column of the data another name");
}

std::string OutputRows::header() const {
  if (json_) return {};
  std::string text = id_.empty() ? "" : csv_field(id_) + ",";
  for (std::size_t c = 0; c < columns_.size(); ++c) text += csv_field(columns_[c].name) + end(c);
  return text;
}

std::string OutputRows::line(std::span<const double> values, const std::string& id) const {
  if (json_) return json_line(values, id);
  std::string text = id_.empty() ? "" : csv_field(id) + ",";
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const OutputColumn& column = columns_[c];
    text += (column.labels.empty() ? number(column, values[c]) : csv_field(label(c, values[c]))) +
            end(c);
  }
  return text;
}

std::string OutputRows::json_line(std::span<const double> values, const std::string& id) const {
  Json json;
  if (!id_.empty()) json[id_] = as_utf8(id);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const OutputColumn& column = columns_[c];
    json[column.name] =
        column.labels.empty() ? Json::parse(number(column, values[c])) : Json(label(c, values[c]));
  }
  return json.dump() + "\n";
}

const std::string& OutputRows::label(std::size_t c, double value) const {
  return columns_[c].labels.at(static_cast<std::size_t>(value));
}

}  // namespace sotto::cli
