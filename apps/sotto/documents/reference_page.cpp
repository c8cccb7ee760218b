#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/documents.hpp"
#include "options/help.hpp"

namespace sotto::cli {
namespace {

std::string cell(const std::string& text) {  // inside a table
  std::string result;
  for (char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

void write_command(std::string& out, const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  if (path.size() > 1) {
    out += fmt::format("\n{} `{}`\n\n{}.\n", std::string(path.size(), '#'), title(path),
                       command.summary);
  }
  if (!command.examples.empty()) {
    out += "\n```sh\n";
    for (const Example& e : command.examples) out += fmt::format("# {}\n{}\n", e.what, e.command);
    out += "```\n";
  }
  out += fmt::format("\nUsage: `{}`\n", usage_line(path));
  if (!command.description.empty()) {
    out += "\n";
    for (const std::string& line : wrap(command.description, 120)) out += line + "\n";
  }
  if (!command.commands.empty()) {
    out += "\n| command | does |\n|---|---|\n";
    for (const Command& c : command.commands) {
      if (!c.hidden) out += fmt::format("| `{}` | {} |\n", c.name, cell(c.summary));
    }
  }
  if (!command.positionals.empty()) {
    out += "\n| argument | is |\n|---|---|\n";
    for (const Positional& p : command.positionals) {
      out += fmt::format("| `{}` | {}{} |\n", p.name, cell(p.help),
                         p.choices.empty() ? "" : fmt::format(" ({})", fmt::join(p.choices, ", ")));
    }
  }
  std::string rows;
  for (const Option& o : command.options) {
    if (o.group == "Common options" && path.size() > 1) continue;
    rows += fmt::format("| `{}` | {} |\n", option_left(o), cell(option_right(o)));
  }
  if (!rows.empty()) out += "\n| option | is |\n|---|---|\n" + rows;
  for (const std::string& heading : variant_titles(command)) {
    out += fmt::format("\n{}:\n\n| --{} | is |\n|---|---|\n", heading, command.selector);
    for (const Variant& v : command.variants)
      if (v.title == heading) out += fmt::format("| `{}` | {} |\n", v.value, cell(v.help));
    out += "\n| option | is |\n|---|---|\n";
    for (const Option& o : titled_options(command, heading))
      out += fmt::format("| `{}` | {} |\n", option_left(o), cell(option_right(o)));
  }
}

}  // namespace

std::vector<std::pair<int, std::string>> exit_codes() {
  return {{0, "success"},
          {1, "internal error: a defect of sotto"},
          {2, "usage: an option or argument that cannot be meant"},
          {3, "data, schema or configuration that cannot be used"},
          {4, "the privacy budget does not cover the request"},
          {5, "an audit or a verification failed"},
          {6, "storage: disk, pipe or database"},
          {69, "the feature is not part of this build"},
          {130, "stopped by the user"}};
}

std::string reference_page(const Command& root) {
  std::string out =
      "# The command line\n\n"
      "<!-- Made by `sotto docs reference` from the option table; a test compares. Edit the table, "
      "not this page. -->\n\n";
  for (const std::string& line : wrap(root.summary + ".", 120)) out += line + "\n";
  for_each_command({&root}, [&](const auto& path) { write_command(out, path); });
  out += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const auto& [code, meaning] : exit_codes())
    out += fmt::format("| {} | {} |\n", code, meaning);
  out +=
      "\nResults go to standard output, everything else to standard error. An error is one line "
      "`sotto: error: …` and, where "
      "something can be done,\na second line `hint: …`. Messages name columns and row numbers, "
      "never the content of a cell. "
      "Files are written whole or not at all.\n";
  return out;
}

std::vector<std::string> examples(const Command& root) {
  std::vector<std::string> result;
  for_each_command({&root}, [&](const auto& path) {
    for (const Example& e : path.back()->examples) result.push_back(e.command);
  });
  return result;
}

}  // namespace sotto::cli
