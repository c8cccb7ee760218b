#include "commands.hpp"
#include "documents/documents.hpp"

namespace sotto::cli {

Command man_command() {
  return {
      .name = "man",
      .summary = "print the manual page in roff",
      .examples = {{"Read the manual of an uninstalled build", "sotto man | man -l -"}},
      .run = [](const Arguments&, Context& context) { context.out.write(man_page(table())); },
  };
}

}  // namespace sotto::cli
