// Any text as the model and the encoder of an artifact, {"family": …, "model": …, "encoder": …},
// for every family that keeps a model.json: a pair that fits, predicts and survives being written,
// or an error.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/models/additive/additive_family.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/forest/forest_family.hpp"
#include "sotto/models/kernel/kernel_family.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/preprocess/preprocess_family.hpp"
#include "sotto/models/tree/tree_family.hpp"

namespace {

using namespace sotto;

constexpr std::size_t kWidest = 2000;  // rows are written out in full

// Rows of one cell again and again, as far as the schema takes them.
Table some_rows(const Encoder& encoder) {
  Table table(encoder);
  std::vector<double> dense(encoder.dense_positions().size());
  std::vector<std::uint32_t> hot(encoder.hot_columns());
  for (const std::string_view cell : {"0", "1", "-1e308", "x", ""}) {
    const std::vector<std::string_view> cells(encoder.features().size(), cell);
    std::size_t column = 0;
    try {
      const double factor = encoder.encode(cells, dense, hot, column);
      const Table::Sink sink = table.add_row();
      std::copy(dense.begin(), dense.end(), sink.dense.begin());
      std::copy(hot.begin(), hot.end(), sink.hot.begin());
      sink.factor = factor;
    } catch (const CellRefused&) {
    }
  }
  return table;
}

void check_outputs(const Model& model, const Table& table) {
  const std::vector<OutputColumn> columns = model.columns();
  const std::vector<double> values = model.apply(table);
  require(values.size() == table.rows() * columns.size(), "each record has every output");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const OutputColumn& column = columns[i % columns.size()];
    require(!std::isnan(values[i]), "an output is a number");
    if (!column.labels.empty())
      require(values[i] >= 0 && values[i] < static_cast<double>(column.labels.size()),
              "a class has a label");
    if (column.is_probability) require(values[i] >= 0 && values[i] <= 1, "a probability is one");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Family> families = {
      linear_family(),   naive_bayes_family(), tree_family(),   forest_family(),
      boosting_family(), additive_family(),    kernel_family(), kmeans_family(),
      pca_family(),      preprocess_family()};
  if (size > 1 << 16) return 0;
  try {
    const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "it");
    if (!json.is_object() || !json.contains("model") || !json.contains("encoder")) return 0;
    const bool named = json.contains("family") && json["family"].is_string();
    const Family* family =
        find_family(families, named ? json["family"].get<std::string>() : "linear");
    if (family == nullptr) return 0;
    Schema schema = encoder_from_json(json["encoder"]).schema();
    schema.rows.reset();
    Facts facts = table_facts(std::move(schema));
    if (facts.encoder->width() > kWidest) return 0;
    const auto model = family->load({{"model.json", json["model"].dump()}}, facts);
    const Files files = model->files();
    require(family->load(files, facts)->files() == files, "the model survives being written");
    check_outputs(*model, some_rows(*facts.encoder));
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
