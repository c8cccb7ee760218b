// JSON from outside: whatever a stranger wrote becomes a document of limited size and depth, or a
// DataError.
//
// Every document that did not come from this process is read here. Deep nesting would exhaust the
// stack of whoever walks, copies or prints the document, a name that stands twice means different
// things to different readers, and a number that does not fit its type is undefined behaviour in
// the conversion; none of them gets through. The time is linear in the length of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 30;
  std::size_t depth = 200;  // 64 nested events (event_json.hpp) need about 130
};

// what: the subject of the messages, e.g. "the specification". Throws DataError.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& what,
                                  const std::string& hint = {}, const JsonLimits& limits = {});

// A whole number from 0 to `most`, a list of such numbers, and a finite one. They throw DataError,
// with `what` as the subject.
std::uint64_t json_count(const nlohmann::ordered_json& json, const std::string& what,
                         std::uint64_t most = std::uint64_t{1} << 53);
std::vector<std::uint32_t> json_counts(const nlohmann::ordered_json& json, const std::string& what,
                                       std::uint32_t most = 0xffffffff);
double json_number(const nlohmann::ordered_json& json, const std::string& what);

}  // namespace sotto
