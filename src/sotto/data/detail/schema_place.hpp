// Reading a schema document: a node that knows where it stands, and problems that are collected.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/core/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::detail {

// A node of the document that knows where it stands.
class SchemaPlace {
 public:
  SchemaPlace(const nlohmann::ordered_json& json, std::string where, const Positions& positions)
      : json_(&json), where_(std::move(where)), positions_(&positions) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    const auto found = positions_->find(where_);
    const Position at = found == positions_->end() ? Position{} : found->second;
    throw SchemaProblem{at.line, at.column, where_, what, hint};
  }

  const nlohmann::ordered_json& json() const { return *json_; }
  bool has(const char* key) const { return json_->contains(key); }
  SchemaPlace at(const std::string& key) const { return child(key, json_->at(key)); }
  SchemaPlace child(const std::string& key, const nlohmann::ordered_json& value) const {
    return {value, where_.empty() ? key : where_ + "." + key, *positions_};
  }

  void expect_table() const {
    if (!json_->is_object()) fail("must be a table");
  }
  template <class Collect>
  void only_keys(const std::vector<std::string>& known, const Collect& collect) const {
    for (const auto& item : json_->items()) {
      const std::string& key = item.key();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      collect([&] {
        child(key, item.value())
            .fail("is not a key of a schema here", name_hint(key, known, "keys"));
      });
    }
  }

  double number() const {
    if (!json_->is_number()) fail("must be a number");
    const double value = json_->get<double>();
    if (!std::isfinite(value)) fail("must be finite");
    return value;
  }
  std::uint64_t count() const {
    const bool whole = json_->is_number_unsigned() || (json_->is_number_integer() && *json_ >= 0);
    if (!whole || *json_ == 0) fail("must be a whole number of at least 1");
    return json_->get<std::uint64_t>();
  }
  std::string text() const {
    if (!json_->is_string()) fail("must be a string");
    return json_->get<std::string>();
  }
  std::vector<std::string> texts() const {
    if (!json_->is_array()) fail("must be a list of strings");
    std::vector<std::string> result;
    for (const nlohmann::ordered_json& item : *json_) {
      if (!item.is_string())
        fail("must be a list of strings", "write numbers in quotes, e.g. \"1\"");
      result.emplace_back(trimmed(item.get<std::string>()));
    }
    return result;
  }
  template <class Enum>
  Enum one_of(std::initializer_list<Enum> allowed) const {
    const std::string text = this->text();
    std::vector<std::string> names;
    for (const Enum e : allowed) {
      if (name(e) == text) return e;
      names.emplace_back(name(e));
    }
    const std::string near = nearest_name(text, names);
    fail(fmt::format("is '{}'; it must be one of {}", text, fmt::join(names, ", ")),
         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }

 private:
  const nlohmann::ordered_json* json_;
  std::string where_;
  const Positions* positions_;
};

// Goes on after a problem, so that one reading finds them all.
class ProblemCollector {
 public:
  explicit ProblemCollector(std::vector<SchemaProblem>& problems) : problems_(&problems) {}
  // Whether the step found nothing wrong.
  template <class Step>
  bool operator()(const Step& step) const {
    try {
      step();
      return true;
    } catch (SchemaProblem& problem) {
      problems_->push_back(std::move(problem));
      return false;
    }
  }

 private:
  std::vector<SchemaProblem>* problems_;
};

}  // namespace sotto::detail
