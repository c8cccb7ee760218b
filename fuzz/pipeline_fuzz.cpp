// Any text as a pipeline: the document that asks for one (TOML), and the files and the encoder of
// one that was trained, {"files": {NAME: TEXT}, "encoder": …}. What is read is planned, or applied
// to records, or refused.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/data/matrix_table.hpp"
#include "sotto/learning/pipeline.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/preprocess/preprocess_family.hpp"

namespace {

using namespace sotto;

const std::vector<Family>& steps() {
  static const std::vector<Family> all = {preprocess_family(), pca_family(), kmeans_family(),
                                          naive_bayes_family()};
  return all;
}

void read_document(std::string_view text) {
  const std::vector<PipelineStep> asked = read_pipeline(text, "it");
  const Schema schema = matrix_schema({.bounds = {Bounds(-1, 1), Bounds(0, 5)}, .rows = 100});
  const PlannedPipeline planned = plan_pipeline(steps(), asked, schema, Budget::pure(1), {});
  require(planned.plan->event().has_value() || asked.front().method == "none",
          "what is planned costs something");
}

void read_files(const nlohmann::ordered_json& json) {
  static const Family family = pipeline_family([] { return std::span<const Family>(steps()); });
  Schema schema = encoder_from_json(json["encoder"]).schema();
  schema.rows.reset();
  Facts facts = table_facts(std::move(schema));
  if (facts.encoder->width() > 2000) return;
  Files files;
  for (const auto& [name, text] : json["files"].items())
    files[name] = text.is_string() ? text.get<std::string>() : text.dump();
  const auto model = family.load(files, facts);
  const Files written = model->files();
  require(family.load(written, facts)->files() == written, "the pipeline survives being written");
  Table table(*facts.encoder);
  std::vector<double> dense(facts.encoder->dense_positions().size());
  std::vector<std::uint32_t> hot(facts.encoder->hot_columns());
  for (const std::string_view cell : {"0", "1", "-1e308", "x", ""}) {
    const std::vector<std::string_view> cells(facts.encoder->inputs().size(), cell);
    std::size_t column = 0;
    try {
      const double factor =
          facts.encoder->encode(std::span<const std::string_view>(cells), dense, hot, column);
      const Table::Sink sink = table.add_row();
      std::copy(dense.begin(), dense.end(), sink.dense.begin());
      std::copy(hot.begin(), hot.end(), sink.hot.begin());
      sink.factor = factor;
    } catch (const CellRefused&) {
    }
  }
  const std::vector<double> values = model->apply(table);
  require(values.size() == table.rows() * model->columns().size(), "records have every output");
  for (const double x : values) require(!std::isnan(x), "an output is a number");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (size == 0 || text.front() != '{') {
      read_document(text);
      return 0;
    }
    const auto json = parse_json(text, "it");
    if (json.is_object() && json.contains("files") && json["files"].is_object() &&
        json.contains("encoder"))
      read_files(json);
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
