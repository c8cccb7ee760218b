#include "documents/completion.hpp"

#include "commands.hpp"

namespace sotto::cli {
namespace {

void run_completion(const Arguments& arguments, Context& context) {
  const std::string& shell = arguments.positionals().front();
  if (shell == "bash") context.out.write(bash_completion(table()));
  if (shell == "zsh") context.out.write(zsh_completion(table()));
  if (shell == "fish") context.out.write(fish_completion(table()));
}

}  // namespace

Command completion_command() {
  return {
      .name = "completion",
      .summary = "print a completion script for a shell",
      .examples = {{"Complete sotto's commands and options in this bash session",
                    "source <(sotto completion bash)"},
                   {"Install for every later fish session",
                    "sotto completion fish > ~/.config/fish/completions/sotto.fish"}},
      .positionals = {{.name = "SHELL", .help = "the shell", .choices = {"bash", "zsh", "fish"}}},
      .run = run_completion,
  };
}

}  // namespace sotto::cli
