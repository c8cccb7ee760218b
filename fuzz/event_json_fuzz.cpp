// Any text as a specification: a Spec that survives JSON, or a DataError.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 4096) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Spec spec = parse_spec(text);
    const Spec back = spec_from_json(to_json(spec));
    require(back.relation == spec.relation && back.events == spec.events,
            "the specification survives JSON");
    require(event_from_json(to_json(spec.event())) == spec.event(),
            "the composed event survives JSON");
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  try {
    const SpecTemplate with_unknown = SpecTemplate::parse(text);
    with_unknown.with(1.5);
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
