#include "sotto/learning/mapped_source.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

class MappedSource final : public Source {
 public:
  MappedSource(Source& inner, const Model& model, const Encoder& outer)
      : inner_(inner), model_(model), outer_(outer) {}

  std::vector<int128> sum(std::size_t size, const AddBlock& add, std::size_t at_once) override {
    return inner_.sum(
        size,
        [&](const Table& block, std::span<int128> sums) {
          add(mapped_block(model_, block, outer_), sums);
        },
        at_once);
  }
  void keep() override { inner_.keep(); }
  Table table() override { return mapped_block(model_, inner_.table(), outer_); }
  Images images() override { return inner_.images(); }
  void each(const std::function<void(const Block&)>& visit) override {
    inner_.each([&](const Block& block) { visit(mapped_block(model_, block.table(), outer_)); });
  }

 private:
  void map_any(const std::function<Any(const Table&)>& map,
               const std::function<void(Any&&)>& consume) override {
    inner_.map<Any>([&](const Table& block) { return map(mapped_block(model_, block, outer_)); },
                    consume);
  }

  Source& inner_;
  const Model& model_;
  const Encoder& outer_;
};

}  // namespace

Schema mapped_schema(const Schema& schema, const std::vector<OutputColumn>& columns) {
  Schema mapped = schema;
  mapped.columns.clear();
  mapped.unit =
      Unit::record;  // users were bounded before; facts remember how many records each has
  mapped.max_contributions = 1;
  mapped.feature_norm.reset();
  mapped.basis = NumericBasis::automatic;
  for (const OutputColumn& output : columns) {
    ColumnSchema& column = mapped.columns.emplace_back();
    column.name = output.name;
    column.missing = Missing::midpoint;
    if (!output.labels.empty()) {
      column.type = ColumnType::categorical;
      column.values = output.labels;
      column.missing = Missing::refuse;  // every record has one of them
    } else if (output.bounds) {
      column.bounds = output.bounds;
    } else {
      throw DataError(fmt::format("the column '{}' has no bounds", output.name));
    }
  }
  if (const ColumnSchema* target = schema.target()) {
    for (const ColumnSchema& column : mapped.columns)
      if (column.name == target->name)
        throw DataError(fmt::format("the target '{}' has the name of a column that a step writes",
                                    target->name),
                        "give it another name");
    mapped.columns.push_back(*target);
  }
  return mapped;
}

Table mapped_block(const Model& model, const Table& block, const Encoder& outer) {
  const std::vector<double> values = model.apply(block);
  const std::size_t width = outer.features().size();
  if (values.size() != block.rows() * width) invariant_broken("a step wrote another table");
  Table table(outer);
  table.reserve(block.rows());
  for (std::size_t i = 0; i < block.rows(); ++i) {
    const Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = block.is_null(i) ? std::numeric_limits<double>::quiet_NaN()
                                   : outer.encode(std::span(values).subspan(i * width, width),
                                                  sink.dense, sink.hot, column);
    if (!block.targets().empty()) table.add_target(block.targets()[i]);
    for (std::size_t g = 0; g < block.group_columns(); ++g) table.add_group(g, block.groups(g)[i]);
    if (!block.ids().empty()) table.add_id(block.ids()[i]);
  }
  return table;
}

std::unique_ptr<Source> mapped_source(Source& inner, const Model& model, const Encoder& outer) {
  return std::make_unique<MappedSource>(inner, model, outer);
}

}  // namespace sotto
