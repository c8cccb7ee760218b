// One function per command: groups describe their commands, the others hand their options to
// _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "documents/completion.hpp"
#include "options/help.hpp"

namespace sotto::cli {
namespace {

// Inside '…' and inside the brackets and colons of _arguments.
std::string zsh_quote(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

std::string function_name(const std::vector<const Command*>& path) {
  std::string name = "_" + title(path);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string action(Type type, const std::vector<std::string>& choices) {
  if (type == Type::file) return "_files";
  return choices.empty() ? " " : fmt::format("({})", fmt::join(words_of(choices), " "));
}

std::string specs(const Command& command) {
  std::string out;
  for (const Option& o : all_options(command)) {
    const std::string tail =
        o.type == Type::flag ? ""
                             : fmt::format(":{}:{}", zsh_quote(o.value), action(o.type, o.choices));
    out += fmt::format(" \\\n    '--{}[{}]{}'", o.name, zsh_quote(o.help), tail);
    if (o.letter != 0)
      out += fmt::format(" \\\n    '-{}[{}]{}'", o.letter, zsh_quote(o.help), tail);
  }
  for (const Positional& p : command.positionals) {
    out += fmt::format(" \\\n    '{}:{}:{}'", p.many ? "*" : "", zsh_quote(p.name),
                       action(p.type, p.choices));
  }
  return out;
}

}  // namespace

std::string zsh_completion(const Command& root) {
  std::string out =
      "#compdef sotto\n# zsh completion for sotto. Use it with: source <(sotto completion zsh)\n";
  for_each_command({&root}, [&](const std::vector<const Command*>& path) {
    const Command& command = *path.back();
    out += fmt::format("\n{}() {{\n", function_name(path));
    if (command.commands.empty()) {
      out += "  _arguments -s" + specs(command) + "\n}\n";
      return;
    }
    std::string list, cases;
    for (const Command& c : command.commands) {
      if (c.hidden) continue;
      list += fmt::format("    '{}:{}'\n", c.name, zsh_quote(c.summary));
      cases += fmt::format("      {}) {}_{} ;;\n", c.name, function_name(path), c.name);
    }
    out += fmt::format(R"(  local state line
  local -a commands=(
{}  )
  _arguments -C -s{} \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument) case $words[1] in
{}    esac ;;
  esac
}}
)",
                       list, specs(command), cases);
  });
  return out + "\ncompdef _sotto sotto\n";
}

}  // namespace sotto::cli
