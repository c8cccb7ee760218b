// Options as data: name, type, default, range and help of everything a user may set, declared once.
//
// The command line, its help, completion and manual page, JSON documents, the reference page and
// foreign language bindings are made from declarations, and all of them read values by the one
// parser behind OptionValues. A name is written noise_multiplier here, in C++ and in JSON, and
// --noise-multiplier on the command line. A message of the library puts the name of an option
// between backticks, and whoever shows the message writes it as its users know it:
// for_command_line.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

enum class OptionType { flag, text, number, whole, choice, list, file };

// The numbers an option accepts; an open end excludes its limit.
struct Range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool open_lower = false, open_upper = false;

  static Range above(double limit) { return {.lower = limit, .open_lower = true}; }
  static Range from(double limit) { return {.lower = limit}; }
  static Range between(double a, double b) { return {.lower = a, .upper = b}; }
  static Range inside(double a, double b) {
    return {.lower = a, .upper = b, .open_lower = true, .open_upper = true};
  }
  bool holds(double value) const;
  std::string text() const;  // "above 0", "above 0 and below 1", …; empty: everything is allowed
};

struct Option {
  std::string name;                       // "epsilon" is --epsilon
  OptionType type = OptionType::text;     //
  std::string value = {};                 // how help writes the value: "E", "FILE"
  std::string help = {};                  // one sentence without a full stop
  std::string fallback = {};              // the default, as a user would write it; empty: none
  std::vector<std::string> choices = {};  // of OptionType::choice
  Range range = {};                       // of numbers
  std::string hint = {};                  // what to do when the value is refused
  char letter = 0;                        // 'q' adds -q
  bool required = false;                  //
  std::string group = "Options";          // the heading in help
  bool one_run = false;                   // means nothing where many models are trained at once
};

const Option* find_option(const std::vector<Option>& options, std::string_view name);

// What was given for declared options, checked: types, ranges, choices, each at most once.
class OptionValues {
 public:
  // By name, as it was typed; a flag that is given has any entry.
  using Raw = std::map<std::string, std::vector<std::string>>;

  OptionValues() = default;
  // Throws InvalidArgument that names the option, its value and what is allowed, and for a name
  // that is not declared.
  OptionValues(std::vector<Option> declared, Raw given);
  // A JSON object: numbers, words, true for flags, arrays for lists.
  static OptionValues from_json(std::vector<Option> declared, const nlohmann::ordered_json& given);

  bool given(const std::string& name) const { return given_.contains(name); }
  bool flag(const std::string& name) const { return given(name); }
  // What was given or the default. Asking for an option without either is a defect of ours.
  std::string text(const std::string& name) const;
  double number(const std::string& name) const;
  std::uint64_t whole(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;  // split at commas
  // Nothing where there is neither value nor default.
  std::optional<std::string> maybe_text(const std::string& name) const;
  std::optional<double> maybe_number(const std::string& name) const;
  std::optional<std::uint64_t> maybe_whole(const std::string& name) const;

  const std::vector<Option>& declared() const { return declared_; }

 private:
  void check() const;
  const Option& declaration(const std::string& name) const;

  std::vector<Option> declared_;
  Raw given_;
};

// A message of the library with its `option_names` written --option-names.
std::string for_command_line(std::string_view message);

}  // namespace sotto
