// The shape of the option table: every command of `sotto` is declared once, as data.
//
// Parsing, --help, shell completion, the man page and docs/reference/command-line.md are all made
// from these declarations, so none of them can disagree. A new verb is one file in commands/ (its
// declaration and its run function) and one line in table.cpp.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace sotto::cli {

class Arguments;
struct Context;

enum class Type { flag, text, number, whole, choice, list, file };

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
  std::string text()
      const;  // "above 0", "above 0 and below 1", …; empty when everything is allowed
};

struct Option {
  std::string name;                       // "epsilon" is --epsilon
  Type type = Type::text;                 //
  std::string value = {};                 // how help writes the value: "E", "FILE"
  std::string help = {};                  // one sentence without a full stop
  std::string fallback = {};              // the default, as the user would write it; empty: none
  std::vector<std::string> choices = {};  // of Type::choice
  Range range = {};                       // of numbers
  std::string hint = {};                  // what to do when the value is refused
  char letter = 0;                        // 'q' adds -q
  bool required = false;                  //
  std::string group = "Options";          // the heading in help
};

struct Positional {
  std::string name;  // "SPEC"
  std::string help = {};
  Type type = Type::text;
  std::vector<std::string> choices = {};
  bool required = true;
  bool many = false;
};

struct Example {
  std::string what;     // one line in words
  std::string command;  // what to type; a test runs every one of them
};

struct Command {
  std::string name;
  std::string summary;           // one line for lists
  std::string description = {};  // paragraphs separated by an empty line
  std::vector<Example> examples = {};
  std::vector<Positional> positionals = {};
  std::vector<Option> options = {};
  std::vector<Command> commands = {};
  void (*run)(const Arguments&, Context&) = nullptr;
  std::string usage = {};  // arguments in the usage line when the generated one is not clear enough
  bool hidden = false;     // works, but no list mentions it
};

const Option* find_option(const Command& command, const std::string& name);
const Command* find_command(const Command& parent, const std::string& name);

// The root of the table: `sotto` itself with all its commands.
const Command& table();

}  // namespace sotto::cli
