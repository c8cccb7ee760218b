// The options of one call, already checked against the table: types, ranges, choices, what is
// required.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/command.hpp"

namespace sotto::cli {

// What was typed, by option name; flags have an empty list entry.
using RawOptions = OptionValues::Raw;

// The value of the command's selector that was typed, or its default; empty without one.
std::string selected(const Command& command, const RawOptions& raw);

// An option of the library as the command line writes it: noise_multiplier is --noise-multiplier.
Option as_typed(Option option);

class Arguments {
 public:
  // Throws InvalidArgument that names the option, its value and what is allowed. `title` is e.g.
  // "sotto release mean".
  Arguments(const Command& command, std::string title, RawOptions raw,
            std::vector<std::string> positionals);

  bool given(const std::string& name) const { return values_.given(name); }
  bool flag(const std::string& name) const { return values_.flag(name); }
  // The value typed or the default. Asking for an option without either is a defect of ours.
  std::string text(const std::string& name) const { return values_.text(name); }
  double number(const std::string& name) const { return values_.number(name); }
  std::optional<double> maybe_number(const std::string& name) const {
    return values_.maybe_number(name);
  }
  std::uint64_t whole(const std::string& name) const { return values_.whole(name); }
  std::vector<std::string> list(const std::string& name) const { return values_.list(name); }
  // The values of these options, whose names are written with underscores: for the library.
  OptionValues values_of(const std::vector<Option>& declared) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  const Command& command() const { return command_; }  // with the options of the chosen variant
  const std::string& title() const { return title_; }

 private:
  Command command_;
  std::string title_;
  RawOptions raw_;
  OptionValues values_;
  std::vector<std::string> positionals_;
};

}  // namespace sotto::cli
