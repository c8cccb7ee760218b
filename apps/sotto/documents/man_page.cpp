#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/documents.hpp"
#include "options/help.hpp"
#include "sotto/core/version.hpp"

namespace sotto::cli {
namespace {

// Text for roff: no accidental requests, escapes or typographic hyphens in what people copy.
std::string roff(const std::string& text) {
  std::string result;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result;
}

std::string paragraphs(const std::string& text) {
  std::string result;
  for (const std::string& line : wrap(text, 10000))
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  return result;
}

void write_options(std::string& out, const Command& command) {
  for (const std::string& group : groups(command)) {
    if (group == "Common options") continue;  // described once, at the end
    for (const Option& o : command.options) {
      if (o.group == group)
        out += fmt::format(".TP\n.B {}\n{}\n", roff(option_left(o)), roff(option_right(o)));
    }
  }
  for (const std::string& title : variant_titles(command)) {
    out += fmt::format(".PP\n{}:\n", roff(title));
    for (const Option& o : titled_options(command, title))
      out += fmt::format(".TP\n.B {}\n{}\n", roff(option_left(o)), roff(option_right(o)));
  }
}

}  // namespace

std::string man_page(const Command& root) {
  std::string out =
      fmt::format(".TH SOTTO 1 \"\" \"sotto {}\" \"User Commands\"\n.SH NAME\nsotto \\- {}\n",
                  kVersion, roff(root.summary));
  out += fmt::format(".SH SYNOPSIS\n.B sotto\n.I COMMAND\n[options]\n.SH DESCRIPTION\n{}",
                     paragraphs(root.description));
  out += ".SH EXAMPLES\n";
  for (const Example& e : root.examples) {
    out += fmt::format(".TP\n{}\n.nf\n$ {}\n.fi\n", roff(e.what), roff(e.command));
  }
  out += ".SH COMMANDS\n";
  for_each_command({&root}, [&](const std::vector<const Command*>& path) {
    if (path.size() == 1) return;
    const Command& command = *path.back();
    out += fmt::format(".SS {}\n{}.\n.PP\n.B {}\n", roff(title(path)), roff(command.summary),
                       roff(usage_line(path)));
    if (!command.description.empty()) out += ".PP\n" + paragraphs(command.description);
    for (const Positional& p : command.positionals) {
      out += fmt::format(".TP\n.I {}\n{}", roff(p.name), roff(p.help));
      out += p.choices.empty() ? "\n" : fmt::format(" ({})\n", fmt::join(p.choices, ", "));
    }
    write_options(out, command);
    for (const Example& e : command.examples) {
      out += fmt::format(".TP\n{}\n.nf\n$ {}\n.fi\n", roff(e.what), roff(e.command));
    }
  });
  out += ".SH COMMON OPTIONS\n";
  for (const Option& o : root.options) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(option_left(o)), roff(option_right(o)));
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes())
    out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  out +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set and not empty, output is never coloured unless "
      "\\-\\-color always is given\n";
  return out;
}

}  // namespace sotto::cli
