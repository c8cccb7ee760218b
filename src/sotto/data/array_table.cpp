#include "sotto/data/detail/array_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/data/detail/ordered_map.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBlockNumbers = std::size_t{1} << 16;

struct Numbers {
  std::vector<double> values;
  std::uint64_t first_row = 0;
};

struct Columns {
  std::vector<std::size_t> features;
  std::optional<std::size_t> target;
};

Columns columns_of(const std::vector<std::string>& names, const Encoder& encoder,
                   const TableOptions& options) {
  const auto at = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  Columns columns;
  for (const Encoder::Input& input : encoder.inputs())
    columns.features.push_back(at(input.column.name));
  if (options.targets && encoder.has_target()) columns.target = at(encoder.target().column().name);
  return columns;
}

double target_of(const Encoder& encoder, double number) {
  return encoder.target().is_numeric() ? encoder.encode_target(number)
                                       : encoder.encode_target(fmt::format("{}", number));
}

Table encoded(const Numbers& block, std::size_t width, const Columns& columns,
              const Encoder& encoder, const std::string& path) {
  Table table(encoder);
  const std::size_t rows = block.values.size() / width;
  table.reserve(rows);
  std::vector<double> cells(columns.features.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const double* record = block.values.data() + i * width;
    for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = record[columns.features[c]];
    const Table::Sink sink = table.add_row();
    std::size_t column = 0;
    const std::string* name = nullptr;
    try {
      try {
        sink.factor = encoder.encode(cells, sink.dense, sink.hot, column);
      } catch (const CellRefused&) {
        name = &encoder.inputs()[column].column.name;
        throw;
      }
      if (!columns.target) continue;
      name = &encoder.target().column().name;
      table.add_target(target_of(encoder, record[*columns.target]));
    } catch (const CellRefused& refused) {
      throw DataError(fmt::format("{}: row {}, column '{}': {}", path, block.first_row + i + 1,
                                  *name, refused.what),
                      refused.hint);
    }
  }
  return table;
}

}  // namespace

std::vector<std::string> array_names(const ArrayText& array, const Encoder& encoder,
                                     const TableOptions& options) {
  std::vector<std::string> names = encoder.schema().names();
  if (!options.targets && encoder.has_target() && array.columns() + 1 == names.size())
    std::erase(names, encoder.target().column().name);  // records without what is predicted
  return names;
}

bool all_numbers(const Encoder& encoder, const TableOptions& options) {
  const Schema& schema = encoder.schema();
  const bool plain = schema.relation != Relation::zero_out && schema.unit == Unit::record;
  return (plain || !options.targets) && encoder.groups().empty() && options.extra_groups.empty() &&
         options.id.empty() &&
         std::all_of(encoder.inputs().begin(), encoder.inputs().end(), [](const auto& input) {
           return input.column.type == ColumnType::numeric ||
                  (input.column.type == ColumnType::boolean && input.column.values.empty());
         });
}

std::uint64_t map_array(const ArrayText& array, const std::string& path, const Encoder& encoder,
                        const TableOptions& options,
                        const std::function<detail::AnyResult(Table&&)>& map,
                        const std::function<void(detail::AnyResult&&)>& consume) {
  const std::vector<std::string> names = array_names(array, encoder, options);
  const std::size_t width = array.columns();
  if (names.size() != width) {
    throw DataError(
        fmt::format("{} has {} columns; {} names are declared", path, width, names.size()));
  }
  const Columns columns = columns_of(names, encoder, options);
  const std::unique_ptr<NumberSource> numbers = array.numbers();
  const std::size_t rows = std::max<std::size_t>(1, kBlockNumbers / width);
  std::uint64_t read = 0;
  const auto produce = [&](Numbers& block) {
    block.values.resize(rows * width);
    block.values.resize(numbers->read(block.values) / width * width);
    block.first_row = read;
    read += block.values.size() / width;
    return !block.values.empty();
  };
  ordered_map<Numbers, detail::AnyResult>(
      thread_count(options.csv.threads), produce,
      [&](const Numbers& block) { return map(encoded(block, width, columns, encoder, path)); },
      [&](detail::AnyResult&& result) { consume(std::move(result)); });
  return read;
}

}  // namespace sotto
