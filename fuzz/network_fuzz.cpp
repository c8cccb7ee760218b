// Any text as network.json: a description whose sizes do not overflow and that survives JSON, or a
// DataError.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/deep/models/network_options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 16) return 0;
  try {
    const deep::NetworkOptions network =
        deep::network_from_json(parse_json({reinterpret_cast<const char*>(data), size}, "it"));
    require(network.features() >= 1 && network.features() <= deep::kMostUnits,
            "a record has a size");
    require(network.parameters() >= 2 && network.parameters() <= deep::kMostParameters,
            "the network has a size");
    const auto json = deep::to_json(network);
    require(deep::to_json(deep::network_from_json(json)) == json, "the network survives JSON");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
  return 0;
}
