#include "options/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sotto::cli {
namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kLeft = 30;  // where the right column begins

void two_columns(std::string& out, const std::string& left, const std::string& right) {
  const auto lines = wrap(right, kWidth - kLeft);
  std::size_t i = 0;
  if (left.size() + 4 <= kLeft && !lines.empty()) {
    out += fmt::format("  {:<{}}{}\n", left, kLeft - 2, lines[i++]);
  } else {
    out += fmt::format("  {}\n", left);
  }
  for (; i < lines.size(); ++i) out += fmt::format("{:{}}{}\n", "", kLeft, lines[i]);
}

// Letters seen on a screen: a UTF-8 continuation byte takes no room.
std::size_t width_of(const std::string& word) {
  return static_cast<std::size_t>(
      std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line, word;
  std::size_t used = 0;
  const auto end_word = [&] {
    if (word.empty()) return;
    const std::size_t length = width_of(word);
    if (!line.empty() && used + 1 + length > width) {
      lines.push_back(line);
      line.clear();
      used = 0;
    }
    used += length + (line.empty() ? 0 : 1);
    line += (line.empty() ? "" : " ") + word;
    word.clear();
  };
  for (char c : text) {
    if (c == ' ' || c == '\n') {
      end_word();
      if (c == '\n') {
        lines.push_back(line);
        line.clear();
        used = 0;
      }
    } else {
      word += c;
    }
  }
  end_word();
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string title(const std::vector<const Command*>& path) {
  std::string result;
  for (const Command* command : path) result += (result.empty() ? "" : " ") + command->name;
  return result;
}

std::string usage_line(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string line = title(path);
  if (!command.usage.empty()) return line + " " + command.usage;
  if (!command.commands.empty()) return line + " COMMAND [options]";
  for (const Positional& p : command.positionals) {
    const std::string name = p.name + (p.many ? "..." : "");
    line += p.required ? " " + name : " [" + name + "]";
  }
  for (const Option& option : command.options) {
    if (option.required) line += fmt::format(" --{} {}", option.name, option.value);
  }
  return line + " [options]";
}

std::string option_left(const Option& option) {
  std::string left = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "";
  left += "--" + option.name;
  if (option.type != Type::flag) left += " " + option.value;
  return left;
}

std::string option_right(const Option& option) {
  std::string right = option.help;
  std::vector<std::string> facts;
  if (option.required) facts.push_back("required");
  if (!option.choices.empty()) facts.push_back(fmt::format("{}", fmt::join(option.choices, ", ")));
  if (!option.range.text().empty()) facts.push_back(option.range.text());
  if (!option.fallback.empty()) facts.push_back("default " + option.fallback);
  if (!facts.empty()) right += fmt::format(" ({})", fmt::join(facts, "; "));
  return right;
}

std::vector<std::string> groups(const Command& command) {
  std::vector<std::string> result;
  for (const Option& option : command.options) {
    if (std::find(result.begin(), result.end(), option.group) == result.end()) {
      result.push_back(option.group);
    }
  }
  return result;
}

std::string help_text(std::vector<const Command*> path, const std::string& variant) {
  const Command command = resolved(*path.back(), variant);
  path.back() = &command;
  std::string out = fmt::format("{}: {}\n", title(path), command.summary);
  if (!command.examples.empty()) {
    out += "\nExamples\n";
    for (const Example& e : command.examples)
      out += fmt::format("  {}\n    $ {}\n", e.what, e.command);
  }
  out += fmt::format("\nUsage\n  {}\n", usage_line(path));
  if (!command.description.empty()) {
    out += "\n";
    for (const std::string& line : wrap(command.description, kWidth)) out += line + "\n";
  }
  if (!command.commands.empty()) {
    out += "\nCommands\n";
    for (const Command& c : command.commands) {
      if (!c.hidden) two_columns(out, c.name, c.summary);
    }
  }
  if (!command.positionals.empty()) {
    out += "\nArguments\n";
    for (const Positional& p : command.positionals) {
      two_columns(
          out, p.name,
          p.choices.empty() ? p.help : fmt::format("{} ({})", p.help, fmt::join(p.choices, ", ")));
    }
  }
  for (const std::string& heading : variant_titles(command)) {
    out += fmt::format("\n{}\n", heading);
    for (const Variant& v : command.variants)
      if (v.title == heading)
        two_columns(out, fmt::format("--{} {}", command.selector, v.value), v.help);
  }
  if (!command.variants.empty())
    out += fmt::format("  The options of one of them: {} --{} {} --help\n", title(path),
                       command.selector, command.variants.back().value);
  for (const std::string& group : groups(command)) {
    out += fmt::format("\n{}\n", group);
    for (const Option& option : command.options) {
      if (option.group == group) two_columns(out, option_left(option), option_right(option));
    }
  }
  if (!command.commands.empty()) out += fmt::format("\nMore: {} COMMAND --help\n", title(path));
  return out;
}

}  // namespace sotto::cli
