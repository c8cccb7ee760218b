#include "sotto/learning/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/toml.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 100;

// What a schema or the call declares once, for all candidates.
constexpr std::array kFixed = {"relation", "rows",  "unit",   "epsilon", "delta",   "rho",
                               "data",     "model", "target", "schema",  "classes", "image"};

// What an option of this name means is the same in every family.
struct Usual {
  const char* option;
  std::vector<const char*> values;
};
const std::vector<Usual>& usual_values() {
  static const std::vector<Usual> list = {{"regularisation", {"1e-6", "1e-5", "1e-4"}},
                                          {"depth", {"3", "5", "6"}},
                                          {"trees", {"2", "8", "16"}},
                                          {"learning_rate", {"0.1", "0.3", "1", "3"}}};
  return list;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Reader {
 public:
  Reader(const std::string& label, const Family& family, const std::string& kind,
         const OptionValues& given)
      : label_(label), family_(family), declared_(options_of(family, kind)), given_(given) {}

  std::vector<Candidate> all(const Json& json) const {
    if (!json.is_object() || json.empty())
      refuse("there is nothing to choose from", "list values: iterations = [50, 100]");
    if (!json.contains("space")) return of_space(json, "");
    if (json.size() != 1)
      refuse("options stand beside [space.NAME]", "put all options into the spaces");
    const Json& spaces = json["space"];
    if (!spaces.is_object() || spaces.empty())
      refuse("there is no space", "write [space.NAME] for each");
    std::vector<Candidate> candidates;
    for (const auto& [name, table] : spaces.items()) {
      if (!table.is_object()) refuse(fmt::format("space.{} is no table", name));
      for (Candidate& c : of_space(table, fmt::format("space.{}.", name)))
        candidates.push_back(std::move(c));
      check_size(static_cast<double>(candidates.size()));
    }
    return candidates;
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint = "") const {
    throw DataError(fmt::format("{}: {}", label_, what), hint);
  }
  void check_size(double candidates) const {
    if (candidates > static_cast<double>(kMostCandidates))
      refuse(fmt::format("it has more than {} candidates", kMostCandidates),
             "each of them is planned before data is read; list fewer values");
  }

  std::vector<Candidate> of_space(const Json& table, const std::string& prefix) const {
    std::vector<Candidate> candidates = {{}};
    for (const auto& [key, value] : table.items()) {
      const std::string shown = prefix + key;
      std::string name = key;
      std::replace(name.begin(), name.end(), '-', '_');
      check_name(name, shown);
      const std::vector<std::string> values = values_of(value, find_option(declared_, name), shown);
      check_size(static_cast<double>(candidates.size()) * static_cast<double>(values.size()));
      std::vector<Candidate> more;
      for (const Candidate& candidate : candidates)
        for (const std::string& text : values) more.push_back(with(candidate, name, text, shown));
      candidates = std::move(more);
    }
    return candidates;
  }

  void check_name(const std::string& name, const std::string& shown) const {
    if (std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end() &&
        find_option(declared_, name) == nullptr)
      refuse(fmt::format("'{}' is the same for all candidates", shown),
             "the schema and the options of the command say it");
    if (name == "method") return;
    const Option* option = find_option(declared_, name);
    if (option == nullptr || option->one_run) {
      std::vector<std::string> names = {"method"};
      for (const Option& o : declared_)
        if (!o.one_run) names.push_back(o.name);
      refuse(fmt::format("'{}' is no option of this model", shown),
             name_hint(name, names, "options"));
    }
    if (given_.given(name))
      refuse(fmt::format("'{}' is also set for all candidates", shown), "say it in one place");
  }

  std::vector<std::string> values_of(const Json& value, const Option* option,
                                     const std::string& shown) const {
    std::vector<std::string> values;
    if (value.is_object()) {
      values = range_of(value, option, shown);
    } else if (value.is_array()) {
      if (value.empty()) refuse(fmt::format("'{}' lists no value", shown));
      for (const Json& one : value) values.push_back(scalar(one, shown));
    } else {
      values.push_back(scalar(value, shown));
    }
    std::vector<std::string> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      refuse(fmt::format("'{}' lists a value twice", shown));
    return values;
  }

  std::string scalar(const Json& value, const std::string& shown) const {
    if (!value.is_string() && !value.is_number() && !value.is_boolean())
      refuse(fmt::format("'{}' must list numbers, words, true or false", shown));
    return value_text(value);
  }

  std::vector<std::string> range_of(const Json& range, const Option* option,
                                    const std::string& shown) const {
    if (option == nullptr ||
        (option->type != OptionType::number && option->type != OptionType::whole))
      refuse(fmt::format("'{}' is no number and has no range", shown), "list its values");
    const auto number = [&](const char* name) {
      if (!range.contains(name) || !range[name].is_number() ||
          !std::isfinite(range[name].get<double>()))
        refuse(fmt::format("'{}' needs a number '{}'", shown, name),
               "{ from = 1e-6, to = 1e-3, points = 4, scale = \"log\" }");
      return range[name].get<double>();
    };
    for (const auto& [key, unused] : range.items())
      if (key != "from" && key != "to" && key != "points" && key != "scale")
        refuse(fmt::format("'{}' has '{}'; a range has from, to, points and scale", shown, key));
    const double from = number("from"), to = number("to");
    if (!(from < to)) refuse(fmt::format("'{}' must go from a number to a larger one", shown));
    const double points = range.contains("points") ? number("points") : 5;
    if (!(points >= 2 && points <= static_cast<double>(kMostPoints)) ||
        points != std::floor(points))
      refuse(fmt::format("'{}' must have from 2 to {} points", shown, kMostPoints));
    bool logarithmic = false;
    if (range.contains("scale")) {
      if (range["scale"] != "log" && range["scale"] != "linear")
        refuse(fmt::format("the scale of '{}' must be \"log\" or \"linear\"", shown));
      logarithmic = range["scale"] == "log";
    }
    if (logarithmic && !(from > 0))
      refuse(fmt::format("'{}' must begin above 0 on a log scale", shown));
    std::vector<std::string> values;
    for (double i = 0; i < points; ++i) {
      const double t = i / (points - 1);
      const double x = i + 1 == points ? to
                       : logarithmic   ? from * std::pow(to / from, t)
                                       : from + (to - from) * t;
      // Whole numbers stay whole; six digits are enough for the others.
      values.push_back(option->type == OptionType::whole ? fmt::format("{:.0f}", std::round(x))
                                                         : fmt::format("{:.6g}", x));
    }
    return values;
  }

  Candidate with(Candidate candidate, const std::string& name, const std::string& text,
                 const std::string& shown) const {
    if (name == "method") {
      if (find_method(family_, text) == nullptr || text == "none") {
        std::vector<std::string> names;
        for (const Method& m : family_.methods)
          if (m.name != "none") names.push_back(m.name);
        refuse(text == "none" ? fmt::format("'{}' has the method none, which is NOT PRIVATE", shown)
                              : fmt::format("'{}' has no method '{}'", shown, text),
               name_hint(text, names, "methods"));
      }
      candidate.method = text;
      return candidate;
    }
    const Option& option = *find_option(declared_, name);
    if (option.type == OptionType::flag) {
      if (text != "true" && text != "false")
        refuse(fmt::format("'{}' must be true or false", shown));
      if (text == "true") candidate.options[name] = {text};
      return candidate;
    }
    try {
      OptionValues(declared_, {{name, {text}}});
    } catch (const InvalidArgument& error) {
      throw DataError(fmt::format("{}: {}", label_, error.what()), error.hint());
    }
    candidate.options[name] = {text};
    return candidate;
  }

  const std::string& label_;
  const Family& family_;
  std::vector<Option> declared_;
  const OptionValues& given_;
};

}  // namespace

std::string Candidate::words() const {
  std::vector<std::string> parts;
  if (!method.empty()) parts.push_back("method " + method);
  for (const auto& [name, values] : options)
    parts.push_back(fmt::format("{} {}", name, fmt::join(values, ",")));
  return parts.empty() ? "defaults" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Candidate> usual_search_space(const Family& family, const std::string& kind,
                                          const OptionValues& given) {
  const std::vector<Option> declared = options_of(family, kind);
  std::vector<Candidate> candidates = {{}};
  for (const auto& [name, values] : usual_values()) {
    const Option* option = find_option(declared, name);
    if (option == nullptr || given.given(name)) continue;
    for (const char* value : values)
      if (option->range.holds(std::stod(value)) && option->fallback != value)
        candidates.push_back({.method = {}, .options = {{name, {value}}}});
  }
  // Budgets for each record of a full batch cost what a run without them does; those of networks
  // are another event, which nothing stands for together with the rest.
  if (family.host == "sotto" && find_option(declared, "individual_budget") != nullptr &&
      !given.given("individual_budget") && !given.given("typical_norm"))
    for (const char* norm : {"0.5", "0.7"})
      candidates.push_back(
          {.method = {}, .options = {{"individual_budget", {"true"}}, {"typical_norm", {norm}}}});
  return candidates;
}

std::vector<Candidate> read_search_space(std::string_view toml, const std::string& label,
                                         const Family& family, const std::string& kind,
                                         const OptionValues& given) {
  return Reader(label, family, kind, given).all(parse_toml(toml, label));
}

}  // namespace sotto
