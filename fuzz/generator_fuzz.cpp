// Any text as the model and the encoder of a generator, {"model": …, "encoder": …}: one that fits,
// draws records that its own schema reads again, and survives being written; or an error.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  static const Family family = synthesis_family();
  if (size > 1 << 16) return 0;
  try {
    const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "it");
    if (!json.is_object() || !json.contains("model") || !json.contains("encoder")) return 0;
    Schema schema = encoder_from_json(json["encoder"]).schema();
    schema.rows.reset();
    Facts facts = table_facts(std::move(schema));
    const auto model = family.load({{"model.json", json["model"].dump()}}, facts);
    const Files files = model->files();
    require(family.load(files, facts)->files() == files, "the generator survives being written");
    const auto& generator = dynamic_cast<const Generator&>(*model);
    const std::vector<std::string> header = generator.header();
    Rng rng = Rng::insecure_seed(1);
    std::uint64_t drawn = 0;
    constexpr std::uint64_t kRecords = 7;
    const Drawn result = generator.draw(kRecords, rng, [&](const std::vector<std::string>& cells) {
      ++drawn;
      require(cells.size() == header.size(), "a record has a cell for each column");
      std::vector<std::string_view> read;
      for (const Encoder::Input& input : facts.encoder->inputs())
        for (std::size_t i = 0; i < header.size(); ++i)
          if (header[i] == input.column.name) read.emplace_back(cells[i]);
      require(read.size() == facts.encoder->inputs().size(), "every input is drawn");
      Table table(*facts.encoder);
      const Table::Sink sink = table.add_row();
      std::size_t column = 0;
      try {
        sink.factor = facts.encoder->encode(std::span<const std::string_view>(read), sink.dense,
                                            sink.hot, column);
      } catch (const CellRefused&) {
        require(false, "the schema reads what was drawn");
      }
    });
    require(drawn == kRecords && result.rows == kRecords, "as many records as asked for");
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
