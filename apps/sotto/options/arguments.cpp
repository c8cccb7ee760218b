#include "options/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"

namespace sotto::cli {
namespace {

std::string dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// What another variant knows: one refusal for all of them.
void refuse_strangers(const Command& whole, const Command& chosen, const std::string& value,
                      const RawOptions& raw) {
  for (const auto& [name, _] : raw) {
    if (find_option(chosen, name) != nullptr) continue;
    std::vector<std::string> others;
    for (const Variant& variant : whole.variants)
      if (sotto::find_option(variant.options, name) != nullptr) others.push_back(variant.value);
    throw InvalidArgument(
        fmt::format("--{} is not an option of the {} {}", name, whole.selector, value),
        fmt::format("leave it out, or choose --{} {}", whole.selector, fmt::join(others, ", ")));
  }
}

}  // namespace

std::string selected(const Command& command, const RawOptions& raw) {
  if (command.selector.empty()) return {};
  const auto typed = raw.find(command.selector);
  return typed != raw.end() && !typed->second.empty()
             ? typed->second.front()
             : find_option(command, command.selector)->fallback;
}

Option as_typed(Option option) {
  option.name = dashes(std::move(option.name));
  return option;
}

Arguments::Arguments(const Command& command, std::string title, RawOptions raw,
                     std::vector<std::string> positionals)
    : command_(resolved(command, selected(command, raw))),
      title_(std::move(title)),
      raw_(std::move(raw)),
      positionals_(std::move(positionals)) {
  const std::string help = fmt::format("see: {} --help", title_);
  // A value of the selector that is none is refused as the choice that it is, below.
  if (!command.variants.empty() && command_.variants.empty())
    refuse_strangers(command, command_, selected(command, raw_), raw_);
  values_ =
      OptionValues(command_.variants.empty() ? command_.options : all_options(command_), raw_);
  for (const Option& option : command_.options) {
    if (!option.required || raw_.contains(option.name)) continue;
    throw InvalidArgument(fmt::format("{} needs --{} {}", title_, option.name, option.value), help);
  }
  std::size_t next = 0;
  for (const Positional& positional : command.positionals) {
    if (next == positionals_.size()) {
      if (!positional.required) continue;
      throw InvalidArgument(fmt::format("{} needs {}", title_, positional.name), help);
    }
    const std::string& text = positionals_[next];
    if (!positional.choices.empty()) {
      bool known = false;
      for (const std::string& choice : positional.choices) known = known || choice == text;
      if (!known) {
        throw InvalidArgument(fmt::format("{} is '{}'; it must be one of {}", positional.name, text,
                                          fmt::join(positional.choices, ", ")),
                              name_hint(text, positional.choices, "choices"));
      }
    }
    next = positional.many ? positionals_.size() : next + 1;
  }
  if (next < positionals_.size()) {
    throw InvalidArgument(
        fmt::format("{} does not take the argument '{}'", title_, positionals_[next]), help);
  }
}

OptionValues Arguments::values_of(const std::vector<Option>& declared) const {
  RawOptions given;
  for (const Option& option : declared) {
    const auto it = raw_.find(dashes(option.name));
    if (it != raw_.end()) given[option.name] = it->second;
  }
  return OptionValues(declared, std::move(given));
}

}  // namespace sotto::cli
