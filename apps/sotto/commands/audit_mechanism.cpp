// sotto audit mechanism: an outside program, run many times on two inputs.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "commands/audit.hpp"
#include "commands/commands.hpp"
#include "sotto/audit/outputs.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/rounded_text.hpp"

extern char** environ;

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPlace = "INPUT";
constexpr std::size_t kMostOutputBytes = std::size_t{256} << 20;  // of one run

// What one run of a program shows: standard output, and how it ended.
std::string run_program(const std::vector<std::string>& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw StorageError("cannot open a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    throw InvalidArgument(fmt::format("'{}' cannot be run", words[0]),
                          "give a program that is executable, with its path");
  }
  std::string out;
  char buffer[1 << 16];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    if (out.size() < kMostOutputBytes) out.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  while (out.ends_with('\n')) out.pop_back();
  if (WIFSIGNALED(status)) return out + fmt::format(" signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return out + fmt::format(" exit {}", WEXITSTATUS(status));
  return out;
}

std::vector<std::string> with_input(std::vector<std::string> words, const std::string& input) {
  bool placed = false;
  for (std::string& w : words) {
    if (w == kPlace) w = input, placed = true;
  }
  if (!placed) words.push_back(input);
  return words;
}

// Outputs of `runs` runs, on all processors; where lines are runs, of one run.
std::vector<std::string> collect(const std::vector<std::string>& words, const Arguments& arguments,
                                 std::size_t runs, Progress& progress, std::uint64_t done) {
  if (arguments.flag("lines")) {
    std::vector<std::string> lines;
    std::istringstream text(run_program(words));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> outputs(runs);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const auto work = [&](bool first) {
    try {
      for (std::size_t i = next++; i < runs && !failed; i = next++) {
        outputs[i] = run_program(words);
        if (first) progress.advance(done + i);
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::thread other(work, false);
  work(true);
  other.join();
  if (error) std::rethrow_exception(error);
  return outputs;
}

void run_audit_mechanism(const Arguments& arguments, Context& context) {
  const std::vector<std::string>& words = arguments.positionals();
  const std::size_t runs = arguments.whole("runs");
  const audit::OutputOptions options{.delta = arguments.number("delta"),
                                     .epsilon = arguments.maybe_number("claim").value_or(0),
                                     .order = arguments.number("order"),
                                     .confidence = arguments.number("confidence")};
  std::vector<std::string> outputs[2];
  {
    Progress progress(context.progress("running", 2 * runs));
    outputs[0] = collect(with_input(words, arguments.text("first")), arguments, runs, progress, 0);
    outputs[1] =
        collect(with_input(words, arguments.text("second")), arguments, runs, progress, runs);
    progress.finish();
  }
  const auto same = [&](const std::string& output) { return output == outputs[0].front(); };
  if (!outputs[0].empty() && std::ranges::all_of(outputs[0], same) &&
      std::ranges::all_of(outputs[1], same))
    context.note(
        fmt::format("every run on both inputs showed the same{}: is this the right command?",
                    outputs[0].front().find(" exit ") != std::string::npos ? ", and failed" : ""));
  const audit::OutputAudit found = audit::audit_outputs(outputs[0], outputs[1], options);
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n", Json({{"schema", 1},
                      {"runs", {outputs[0].size(), outputs[1].size()}},
                      {"epsilon_lower", found.epsilon},
                      {"ceiling", found.ceiling},
                      {"event", found.event},
                      {"likelier_on", found.first_likelier ? "first" : "second"},
                      {"probability_lower", found.probability_lower},
                      {"other_probability_upper", found.other_upper},
                      {"delta_lower", {{"epsilon", options.epsilon}, {"delta", found.delta}}},
                      {"renyi_lower", {{"order", options.order}, {"divergence", found.renyi}}},
                      {"delta", options.delta},
                      {"confidence", options.confidence}})
                    .dump());
  } else {
    context.out.print(
        "epsilon is at least {} at delta = {}, with confidence {:g} % ({} and {} runs can "
        "prove at most {})\n",
        round_down(found.epsilon), arguments.text("delta"), 100 * options.confidence,
        outputs[0].size(), outputs[1].size(), round_down(found.ceiling));
    if (found.epsilon > 0) {
      context.out.print(
          "  told apart by: {}, likelier on the {} input (at least {:.4g} against at "
          "most {:.4g})\n",
          found.event, found.first_likelier ? "first" : "second", found.probability_lower,
          found.other_upper);
    } else {
      context.out.print("  nothing that was tried tells the inputs apart\n");
    }
    context.out.print(
        "  delta at epsilon = {:g} is at least {}; Renyi divergence of order {:g} at "
        "least {}\n",
        options.epsilon, round_down(found.delta), options.order, round_down(found.renyi));
  }
  hold_against_claim(arguments, found.epsilon, context);
}

}  // namespace

Command audit_mechanism_command() {
  std::vector<Option> options = {
      {.name = "first", .value = "A", .help = "one input", .required = true},
      {.name = "second", .value = "B", .help = "its neighbour", .required = true},
      {.name = "runs",
       .type = Type::whole,
       .value = "N",
       .help = "how often the program is run on each input",
       .fallback = "1000",
       .range = Range::between(20, 1e8)},
      {.name = "lines",
       .type = Type::flag,
       .help = "run it once on each input: every line it prints is a run of its own"},
      {.name = "order",
       .type = Type::number,
       .value = "A",
       .help = "of the Rényi divergence",
       .fallback = "2",
       .range = Range::above(1)}};
  for (Option& o : audit_options()) options.push_back(std::move(o));
  return {.name = "mechanism",
          .summary = "bound epsilon by many runs of a program on two inputs",
          .description =
              "Everything that the program prints counts, and how it ends. The word INPUT among "
              "its words stands for the input; without it the input comes last. Half of the runs "
              "choose what tells the inputs apart, the other half prove it.",
          .examples = {{"A program of one's own on two neighbouring files",
                        "sotto audit mechanism --first a.csv --second b.csv --runs 2000 --claim 1 "
                        "-- ./my_mechanism INPUT"}},
          .positionals = {{.name = "PROGRAM", .help = "the program and its words", .many = true}},
          .options = std::move(options),
          .run = run_audit_mechanism,
          .usage = "--first A --second B [options] -- PROGRAM [WORDS] [INPUT]"};
}

}  // namespace sotto::cli
