// Any lines as the export of a ledger, {"hash": …, "entry": {…}}, put back into rows with hashes
// that hold: entries, data sets and releases, or an error of the input or of verification. Whoever
// makes up a store can compute hashes.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"
#include "sotto/ledger/history.hpp"

namespace {

using namespace sotto;

// The row that holds this line: its columns as its content says, as far as it says them.
ledger::Values row_of(const std::string& line) {
  const nlohmann::json json = parse_json(line, "it");
  const nlohmann::json entry = json.is_object() && json.contains("entry") ? json["entry"] : json;
  const std::string body = entry.dump();
  const auto text = [&](const char* key) -> ledger::Value {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string()) return {};
    return entry[key].get<std::string>();
  };
  const auto number = [&](const char* key) -> ledger::Value {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_number_integer()) return {};
    return entry[key].get<std::int64_t>();
  };
  return {number("seq"),   text("kind"), text("dataset"), text("key"),
          number("entry"), body,         sha256(body)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 14) return 0;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  std::vector<ledger::Entry> entries;
  try {
    for (std::string line; std::getline(lines, line);) {
      entries.push_back(ledger::entry_from_row(row_of(line)));
      const ledger::Entry& e = entries.back();
      if (e.kind != "dataset" || !e.json.contains("definition")) continue;
      const ledger::Dataset d = ledger::dataset_from_json(e.json.at("definition"));
      require(ledger::to_json(ledger::dataset_from_json(ledger::to_json(d))) == ledger::to_json(d),
              "the data set survives JSON");
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::verification_failed,
            "an error of the input");
  }
  try {
    require(ledger::releases(entries).size() <= entries.size(), "a release has an entry");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::verification_failed, "an error of verification");
  }
  return 0;
}
