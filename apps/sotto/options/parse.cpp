#include "options/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"

namespace sotto::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::vector<std::string> visible_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (!command.hidden) names.push_back(command.name);
  }
  return names;
}

[[noreturn]] void unknown_command(const Call& call, const std::string& word) {
  const auto names = visible_names(call.command().commands);
  const std::string near = nearest_name(word, names);
  throw InvalidArgument(fmt::format("'{}' is not a command of {}", word, call.title()),
                        near.empty() ? fmt::format("the commands are: {}", fmt::join(names, ", "))
                                     : fmt::format("did you mean '{} {}'?", call.title(), near));
}

[[noreturn]] void unknown_option(const Call& call, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const Option& option : all_options(call.command())) names.push_back("--" + option.name);
  const std::string near = nearest_name(typed, names);
  throw InvalidArgument(fmt::format("{} has no option '{}'", call.title(), typed),
                        near.empty() ? fmt::format("see: {} --help", call.title())
                                     : fmt::format("did you mean {}?", near));
}

[[noreturn]] void missing_value(const Call& call, const std::string& option,
                                const std::string& next = {}) {
  throw InvalidArgument(
      fmt::format("{} needs a value{}", option,
                  next.empty() ? "" : fmt::format("; it is followed by the option {}", next)),
      fmt::format("see: {} --help", call.title()));
}

// Options of the root that take a value take the next word with them on the way to the command.
bool takes_value(const Command& command, const std::string& word) {
  const Option* option = word.starts_with("--") ? find_option(command, word.substr(2)) : nullptr;
  return option != nullptr && option->type != Type::flag;
}

// Walks down to the command; returns the words that are not commands.
std::vector<std::string> descend(Call& call, const std::vector<std::string>& words) {
  std::vector<std::string> rest;
  std::size_t i = 0;
  while (i < words.size() && !call.command().commands.empty() && words[i] != "--") {
    if (is_option(words[i])) {
      rest.push_back(words[i]);
      if (takes_value(call.command(), words[i]) && i + 1 < words.size()) rest.push_back(words[++i]);
    } else {
      const Command* next = find_command(call.command(), words[i]);
      if (next == nullptr) unknown_command(call, words[i]);
      call.path.push_back(next);
    }
    ++i;
  }
  rest.insert(rest.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return rest;
}

}  // namespace

std::string Call::title() const {
  std::string title;
  for (const Command* command : path) title += (title.empty() ? "" : " ") + command->name;
  return title;
}

Call parse(const Command& root, const std::vector<std::string>& words) {
  Call call;
  call.path.push_back(&root);
  std::vector<std::string> rest = descend(call, words);

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<CLI::Option*> bound;
  const std::vector<Option> options = all_options(call.command());
  for (const Option& option : options) {
    std::string names = "--" + option.name;
    if (option.letter != 0) names = fmt::format("-{},{}", option.letter, names);
    CLI::Option* b = option.type == Type::flag ? app.add_flag(names) : app.add_option(names);
    if (option.type == Type::flag) {
      b->disable_flag_override();
    } else {
      b->expected(1);
    }
    bound.push_back(b->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
  }
  try {
    std::reverse(rest.begin(), rest.end());  // CLI11 takes the words from the back
    app.parse(std::move(rest));
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string what = e.what();  // "--name: 1 required …"
    missing_value(call, what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& e) {
    throw InvalidArgument(fmt::format("{}: {}", call.title(), e.what()),
                          fmt::format("see: {} --help", call.title()));
  }

  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i]->count() == 0) continue;
    call.options[options[i].name] = bound[i]->results();
    for (const std::string& value : bound[i]->results())
      if (options[i].type != Type::flag && value.starts_with("--") &&
          find_option(call.command(), value.substr(2)) != nullptr)
        missing_value(call, "--" + options[i].name, value);
  }
  bool only_arguments = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--") {
      only_arguments = true;
    } else if (is_option(word) && !only_arguments) {
      unknown_option(call, word);
    } else {
      call.positionals.push_back(word);
    }
  }
  return call;
}

}  // namespace sotto::cli
