// The options of one call, already checked against the table: types, ranges, choices, what is
// required.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace sotto::cli {

// What was typed, by option name; flags have an empty list entry.
using RawOptions = std::map<std::string, std::vector<std::string>>;

class Arguments {
 public:
  // Throws InvalidArgument that names the option, its value and what is allowed. `title` is e.g.
  // "sotto release mean".
  Arguments(const Command& command, std::string title, RawOptions raw,
            std::vector<std::string> positionals);

  bool given(const std::string& name) const { return raw_.contains(name); }
  bool flag(const std::string& name) const { return given(name); }
  // The value typed or the default. Asking for an option without either is a defect of ours.
  std::string text(const std::string& name) const;
  double number(const std::string& name) const;
  std::optional<double> maybe_number(const std::string& name) const;
  std::uint64_t whole(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;  // split at commas
  const std::vector<std::string>& positionals() const { return positionals_; }
  const Command& command() const { return *command_; }
  const std::string& title() const { return title_; }

 private:
  const Option& declared(const std::string& name) const;
  std::optional<std::string> maybe_text(const std::string& name) const;

  const Command* command_;
  std::string title_;
  RawOptions raw_;
  std::vector<std::string> positionals_;
};

}  // namespace sotto::cli
