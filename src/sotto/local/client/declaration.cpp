#include "sotto/local/client/declaration.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::local {
namespace {

constexpr JsonLimits kLimits{.bytes = std::size_t{256} << 20, .depth = 4};

}  // namespace

double Declaration::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  if (found == parameters.end()) invariant_broken("a parameter of a protocol is not declared");
  return found->second;
}

std::string to_text(const Declaration& d) {
  nlohmann::json json = {{"protocol", d.protocol}, {"epsilon", d.epsilon}};  // sorted by name
  if (!d.values.empty()) {
    json["values"] = d.values;
  } else if (d.domain > 0) {
    json["domain"] = d.domain;
  }
  for (const auto& [name, value] : d.parameters) json[name] = value;
  if (d.insecure) json[kInsecureMark] = true;
  return json.dump();
}

Declaration declaration_from_text(std::string_view text) {
  const auto json = parse_json(text, "the declaration of the protocol", {}, kLimits);
  if (!json.is_object()) throw DataError("the declaration of a protocol is a JSON object");
  if (!json.contains("epsilon")) throw DataError("the declaration of a protocol has no epsilon");
  Declaration d;
  for (const auto& [name, value] : json.items()) {
    if (name == "protocol") {
      if (!value.is_string()) throw DataError("the name of a protocol is text");
      d.protocol = value.get<std::string>();
    } else if (name == kInsecureMark) {
      if (value != true) throw DataError("a mark of insecure reports is true or absent");
      d.insecure = true;
    } else if (name == "epsilon") {
      d.epsilon = json_number(value, "epsilon");
    } else if (name == "domain") {
      d.domain = json_count(value, "domain", kMostCategories);
    } else if (name == "values") {
      if (!value.is_array() || value.size() > kMostCategories)
        throw DataError("the values of a protocol are a list of names");
      std::set<std::string> seen;
      for (const auto& v : value) {
        if (!v.is_string() || !seen.insert(v.get<std::string>()).second)
          throw DataError("the values of a protocol are names, each once");
        d.values.push_back(v.get<std::string>());
      }
    } else {
      if (name.size() > 64 || d.parameters.size() > 64)
        throw DataError("the declaration has names that no protocol has");
      d.parameters[name] = json_number(value, name);
    }
  }
  if (!d.values.empty()) {
    if (d.domain != 0) throw DataError("the declaration has values and a domain; one is enough");
    d.domain = d.values.size();
  }
  return d;
}

std::uint32_t tag_of(const Declaration& declaration) {
  return static_cast<std::uint32_t>(
      std::stoul(sha256(to_text(declaration)).substr(0, 8), nullptr, 16));
}

}  // namespace sotto::local
