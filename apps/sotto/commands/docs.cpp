// Hidden: what the documentation and its tests need from the table.
#include "commands.hpp"
#include "documents/documents.hpp"

namespace sotto::cli {
namespace {

void run_docs(const Arguments& arguments, Context& context) {
  const std::string& what = arguments.positionals().front();
  if (what == "reference") context.out.write(reference_page(table()));
  if (what == "examples") {
    for (const std::string& line : examples(table())) context.out.print("{}\n", line);
  }
}

}  // namespace

Command docs_command() {
  return {
      .name = "docs",
      .summary = "print documentation made from the option table",
      .positionals = {{.name = "WHAT",
                       .help = "reference page or list of examples",
                       .choices = {"reference", "examples"}}},
      .run = run_docs,
      .hidden = true,
  };
}

}  // namespace sotto::cli
