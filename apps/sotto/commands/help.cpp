#include "options/help.hpp"

#include "commands.hpp"
#include "options/parse.hpp"

namespace sotto::cli {
namespace {

void run_help(const Arguments& arguments, Context& context) {
  // The same walk as for `sotto x --help`, hence the same text and the same suggestions.
  context.out.write(help_text(parse(table(), arguments.positionals()).path));
}

}  // namespace

Command help_command() {
  return {
      .name = "help",
      .summary = "show the help of a command",
      .examples = {{"The same as 'sotto release mean --help'", "sotto help release mean"}},
      .positionals = {{.name = "COMMAND",
                       .help = "the command, word by word",
                       .required = false,
                       .many = true}},
      .run = run_help,
  };
}

}  // namespace sotto::cli
