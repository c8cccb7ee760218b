#include "shell/app.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "commands/commands.hpp"
#include "options/help.hpp"
#include "options/parse.hpp"
#include "shell/deep_dispatch.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/text.hpp"

namespace sotto::cli {
namespace {

bool want_color(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1 &&
         term != nullptr && std::strcmp(term, "dumb") != 0;
}

std::vector<std::string> names(const std::vector<Command>& commands) {
  std::vector<std::string> result;
  for (const Command& command : commands) {
    if (!command.hidden) result.push_back(command.name);
  }
  return result;
}

// What attacks and audits say is as private as the records they are made with.
Readers readers_of(const Call& call) {
  const std::string& room = call.path.size() > 1 ? call.path[1]->name : call.path[0]->name;
  return room == "attack" || room == "audit" ? Readers::owner : Readers::as_usual;
}

// The result appears under its name only when it is complete.
void run_into_file(Run run, Readers readers, const Arguments& arguments, Context& context) {
  OutputFile file(arguments.text("output"), readers);
  Output out([&](std::string_view bytes) { file.write(bytes); });
  Context inner{.rng = context.rng, .out = out, .err = context.err, .quiet = context.quiet};
  run(arguments, inner);
  out.flush();
  file.publish();
}

}  // namespace

void run(const std::vector<std::string>& words, Context& context) {
  // Names among them become part of results; one that cannot be written is found before anything is
  // read or charged.
  for (const std::string& word : words) {
    if (!is_utf8(word))
      throw InvalidArgument(fmt::format("the argument '{}' is not UTF-8", as_utf8(word)),
                            "rename the file or column, or use a UTF-8 locale");
  }
  const Call call = parse(table(), words);
  const bool root = call.path.size() == 1;
  if (call.options.contains("help") || (root && words.empty())) {
    const std::string& selector = call.command().selector;
    context.out.write(help_text(
        call.path, call.options.contains(selector) ? selected(call.command(), call.options) : ""));
  } else if (root && call.options.contains("version")) {
    print_version(call.arguments(), context);
  } else if (call.command().run == nullptr) {
    throw InvalidArgument(fmt::format("{} needs a command: {}", call.title(),
                                      fmt::join(names(call.command().commands), ", ")),
                          fmt::format("see: {} --help", call.title()));
  } else {
    const Arguments arguments = call.arguments();
    context.quiet = arguments.flag("quiet");
    context.color = want_color(arguments.text("color"));
    Run run = call.command().run;
    if (is_deep_call(call.command(), arguments)) run = deep_run(call.command().name, words);
    if (find_option(call.command(), "output") != nullptr && arguments.given("output")) {
      run_into_file(run, readers_of(call), arguments, context);
    } else {
      run(arguments, context);
    }
  }
  context.out.flush();
}

}  // namespace sotto::cli
