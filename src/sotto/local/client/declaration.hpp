// A declaration: which local protocol, over which values, with which numbers. All of it is public.
//
// What       What a client, a collector and a reader of estimates must agree on, as one document:
//            {"protocol": "oue", "epsilon": 1, "values": ["a", "b"], "epochs": 1, …}.
// Guarantee  Two parties with the same tag have the same declaration, up to collisions of the first
//            32 bits of SHA-256; files carry the whole text besides.
// Method     Names as in the options of the protocol; members sorted, so that the text is unique.
// Numerics   Numbers are written with as many digits as it takes to read them back unchanged.
// Reference  docs/local.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::local {

inline constexpr std::uint64_t kMostCategories = std::uint64_t{1} << 24;

inline constexpr const char* kInsecureMark = "INSECURE: NOT PRIVATE";

struct Declaration {
  std::string protocol;
  double epsilon = 1;  // of one report
  std::vector<std::string> values =
      {};                    // their names; none: categories are the numbers 0 … domain − 1
  std::uint64_t domain = 0;  // how many categories; 0 where values are words or numbers
  std::map<std::string, double> parameters = {};  // every option of the protocol, by its name
  // Made with a fixed seed, for tests: whatever carries this declaration is NOT PRIVATE.
  bool insecure = false;

  double parameter(const std::string& name) const;  // a defect of ours when it is absent
  std::uint64_t whole(const std::string& name) const {
    return static_cast<std::uint64_t>(parameter(name));
  }
  friend bool operator==(const Declaration&, const Declaration&) = default;
};

std::string to_text(const Declaration& declaration);
// From a stranger: throws DataError. Whether the protocol knows these parameters is not checked
// here but by whoever makes something of them (protocols.hpp).
Declaration declaration_from_text(std::string_view text);
std::uint32_t tag_of(const Declaration& declaration);

}  // namespace sotto::local
