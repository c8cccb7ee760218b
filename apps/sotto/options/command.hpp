// The shape of the option table: every command of `sotto` is declared once, as data.
//
// Parsing, --help, shell completion, the man page and docs/reference/command-line.md are all made
// from these declarations, so none of them can disagree. A new verb is one file in commands/ (its
// declaration and its run function) and one line in table.cpp.
#pragma once

#include <string>
#include <vector>

#include "sotto/core/option.hpp"

namespace sotto::cli {

class Arguments;
struct Context;

using Type = OptionType;

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

// Options that a command has for one value of its selector, such as the kind of a model.
struct Variant {
  std::string value;  // "logistic"
  std::string title;  // the heading of these options in documents: "Linear models"
  std::string help;   // what the value stands for
  std::vector<Option> options = {};
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
  std::string selector = {};  // the option whose value chooses a variant: "model"
  std::vector<Variant> variants = {};
  std::string artifact = {};  // the option that names the directory of a trained model: "model"
  bool networks = false;      // runs in sotto-deep whatever its options are
};

const Option* find_option(const Command& command, const std::string& name);
// Those of all variants too, each name once; choices are those of any variant.
std::vector<Option> all_options(const Command& command);
// The command as it is for one value of its selector: with the options of that variant, and with
// no variants. Unchanged for a value that is none of them.
Command resolved(const Command& command, const std::string& value);
// Of the variants, in their order, each once.
std::vector<std::string> variant_titles(const Command& command);
// The options under a title: those of its variants, each once. What not all of them have says whose
// it is.
std::vector<Option> titled_options(const Command& command, const std::string& title);
const Command* find_command(const Command& parent, const std::string& name);

// The root of the table: `sotto` itself with all its commands.
const Command& table();

}  // namespace sotto::cli
