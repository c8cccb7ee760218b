#include "command.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sotto::cli {

bool Range::holds(double value) const {
  return (open_lower ? value > lower : value >= lower) &&
         (open_upper ? value < upper : value <= upper);
}

std::string Range::text() const {
  std::string result;
  if (std::isfinite(lower)) {
    result = open_lower ? fmt::format("above {}", lower) : fmt::format("{} or more", lower);
  }
  if (std::isfinite(upper)) {
    if (!result.empty()) result += " and ";
    result += open_upper ? fmt::format("below {}", upper) : fmt::format("at most {}", upper);
  }
  return result;
}

const Option* find_option(const Command& command, const std::string& name) {
  for (const Option& option : command.options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

const Command* find_command(const Command& parent, const std::string& name) {
  for (const Command& command : parent.commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace sotto::cli
