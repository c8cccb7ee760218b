// One `complete` line per command and option, guarded by the words typed so far.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/completion.hpp"
#include "options/help.hpp"

namespace sotto::cli {
namespace {

std::string fish_quote(const std::string& text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

}  // namespace

std::string fish_completion(const Command& root) {
  std::string out = R"(# fish completion for sotto. Use it with: sotto completion fish | source
function __sotto_at
    # True when the words typed so far that are not options name exactly this command.
    set -l words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a words $word
    end
    set -l count (count $argv)
    test $count -eq 0; and test (count $words) -eq 0; and return 0
    test $count -gt 0; and test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
end

complete -c sotto -f
)";
  for_each_command({&root}, [&](const std::vector<const Command*>& path) {
    const Command& command = *path.back();
    std::string words;
    for (std::size_t i = 1; i < path.size(); ++i) words += " " + path[i]->name;
    const std::string head = fmt::format("complete -c sotto -n '__sotto_at{}'", words);
    for (const Command& c : command.commands) {
      if (!c.hidden) out += fmt::format("{} -a {} -d {}\n", head, c.name, fish_quote(c.summary));
    }
    for (const Option& o : all_options(command)) {
      out += fmt::format("{} -l {}", head, o.name);
      if (o.letter != 0) out += fmt::format(" -s {}", o.letter);
      if (o.type != Type::flag) out += o.type == Type::file ? " -r -F" : " -x";
      if (!o.choices.empty()) out += fmt::format(" -a '{}'", fmt::join(words_of(o.choices), " "));
      out += fmt::format(" -d {}\n", fish_quote(o.help));
    }
    for (const Positional& p : command.positionals) {
      if (p.type == Type::file) out += head + " -F\n";
      if (!p.choices.empty()) out += fmt::format("{} -a '{}'\n", head, fmt::join(p.choices, " "));
    }
  });
  return out;
}

}  // namespace sotto::cli
