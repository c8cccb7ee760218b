#include "options/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sotto::cli {

const Option* find_option(const Command& command, const std::string& name) {
  return sotto::find_option(command.options, name);
}

std::vector<Option> all_options(const Command& command) {
  std::vector<Option> all = command.options;
  for (const Variant& variant : command.variants) {
    for (const Option& option : variant.options) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Option& o) { return o.name == option.name; });
      if (same == all.end()) {
        all.push_back(option);
        continue;
      }
      for (const std::string& choice : option.choices)
        if (std::find(same->choices.begin(), same->choices.end(), choice) == same->choices.end())
          same->choices.push_back(choice);
    }
  }
  return all;
}

Command resolved(const Command& command, const std::string& value) {
  Command result = command;
  for (const Variant& variant : command.variants) {
    if (variant.value != value) continue;
    const auto common = std::find_if(result.options.begin(), result.options.end(),
                                     [](const Option& o) { return o.group == "Common options"; });
    result.options.insert(common, variant.options.begin(), variant.options.end());
    result.variants.clear();
    break;
  }
  return result;
}

std::vector<std::string> variant_titles(const Command& command) {
  std::vector<std::string> titles;
  for (const Variant& variant : command.variants)
    if (std::find(titles.begin(), titles.end(), variant.title) == titles.end())
      titles.push_back(variant.title);
  return titles;
}

std::vector<Option> titled_options(const Command& command, const std::string& title) {
  std::vector<Option> options;
  std::vector<std::vector<std::string>> whose;
  std::size_t variants = 0;
  for (const Variant& variant : command.variants) {
    if (variant.title != title) continue;
    ++variants;
    for (const Option& option : variant.options) {
      const auto same = std::find_if(options.begin(), options.end(),
                                     [&](const Option& o) { return o.name == option.name; });
      const auto at = static_cast<std::size_t>(same - options.begin());
      if (same == options.end()) {
        options.push_back(option);
        whose.emplace_back();
      }
      whose[at].push_back(variant.value);
    }
  }
  for (std::size_t i = 0; i < options.size(); ++i)
    if (whose[i].size() < variants)
      options[i].help = fmt::format("{}: {}", fmt::join(whose[i], ", "), options[i].help);
  return options;
}

const Command* find_command(const Command& parent, const std::string& name) {
  for (const Command& command : parent.commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace sotto::cli
