// Any text as a schema: a Schema that survives TOML and JSON and whose encoder keeps its norm
// bound, or an error.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/schema.hpp"

namespace {

using namespace sotto;

void check_encoder(const Schema& schema) {
  const Encoder encoder(schema);
  require(encoder_from_json(to_json(encoder)).feature_names() == encoder.feature_names(),
          "the encoder survives JSON");
  if (encoder.width() > 10'000) return;
  std::vector<double> dense(encoder.dense_positions().size()), row(encoder.width());
  std::vector<std::uint32_t> hot(encoder.hot_columns());
  for (const std::string_view cell : {"0", "1", "-1e308", "1e308", "0.5", "x", "", "nan"}) {
    const std::vector<std::string_view> cells(encoder.features().size(), cell);
    std::size_t column = 0;
    double factor = 1;
    try {
      factor = encoder.encode(cells, dense, hot, column);
    } catch (const CellRefused&) {
      continue;
    }
    encoder.expand(dense, hot, factor, row);
    long double squares = 0;
    for (const double v : row) squares += static_cast<long double>(v) * v;
    require(std::sqrt(squares) <= static_cast<long double>(encoder.norm_bound()),
            "the norm bound holds");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  try {
    const Schema schema = Schema::from_toml({reinterpret_cast<const char*>(data), size});
    require(Schema::from_toml(schema.to_toml()) == schema, "the schema survives TOML");
    require(schema_from_json(to_json(schema)) == schema, "the schema survives JSON");
    check_encoder(schema);
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
