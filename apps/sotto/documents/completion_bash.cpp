// The script finds the command among the words typed so far, then offers its commands and options,
// or an option's values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/completion.hpp"
#include "options/help.hpp"

namespace sotto::cli {
namespace {

std::string values_of(const Option& option) {
  if (option.type == Type::file) return "compgen -f -- \"$cur\"";
  if (!option.choices.empty()) {
    return fmt::format("compgen -W '{}' -- \"$cur\"", fmt::join(words_of(option.choices), " "));
  }
  return "true";  // a number or a name: nothing to offer
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string paths, values, words;
  for_each_command({&root}, [&](const std::vector<const Command*>& path) {
    const Command& command = *path.back();
    const std::string name = title(path);
    std::vector<std::string> offered;
    for (const Command& c : command.commands) {
      if (c.hidden) continue;
      paths += fmt::format("      '{} {}') path=\"$path $word\" ;;\n", name, c.name);
      offered.push_back(c.name);
    }
    bool files = false;
    for (const Positional& p : command.positionals) {
      offered.insert(offered.end(), p.choices.begin(), p.choices.end());
      files = files || p.type == Type::file;
    }
    for (const Option& option : all_options(command)) {
      offered.push_back("--" + option.name);
      if (option.type == Type::flag) continue;
      values += fmt::format("    '{}:--{}') mapfile -t COMPREPLY < <({}); return ;;\n", name,
                            option.name, values_of(option));
    }
    words += fmt::format("    '{}') mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$cur\"{}) ;;\n",
                         name, fmt::join(offered, " "), files ? "; compgen -f -- \"$cur\"" : "");
  });
  return fmt::format(R"(# bash completion for sotto. Use it with: source <(sotto completion bash)
_sotto() {{
  local cur prev path word
  cur=${{COMP_WORDS[COMP_CWORD]}}
  prev=${{COMP_WORDS[COMP_CWORD-1]}}
  path=sotto
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
{}    esac
  done
  COMPREPLY=()
  case "$path:$prev" in
{}  esac
  case "$path" in
{}  esac
}}
complete -o filenames -F _sotto sotto
)",
                     paths, values, words);
}

}  // namespace sotto::cli
