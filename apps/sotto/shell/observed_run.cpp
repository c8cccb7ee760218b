#include "shell/observed_run.hpp"

#include <fstream>
#include <regex>

#include "shell/app.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/option.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::cli {
namespace {

void take(const std::filesystem::path& made, Outcome& outcome) {
  const auto read = [&](const std::filesystem::path& p) {
    outcome.modes[p.filename()] = std::filesystem::status(p).permissions();
    if (std::filesystem::is_directory(p)) return;
    std::ifstream stream(p, std::ios::binary);
    outcome.files[p.filename()] = {std::istreambuf_iterator<char>(stream), {}};
  };
  read(made);
  if (std::filesystem::is_directory(made)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(made))
      read(entry.path());
  }
  std::filesystem::remove_all(made);
}

}  // namespace

std::string timeless(const std::string& messages) {
  static const std::regex duration("took [0-9.]* s"),
      progress("[a-z][a-z ]* +[0-9]+% [0-9]+/[0-9]+  [^\n]*\n");
  return std::regex_replace(std::regex_replace(messages, duration, "took 0 s"), progress, "");
}

Outcome observed_run(const Words& words, Rng& rng, const std::string& made) {
  Outcome outcome;
  {
    Output out(string_sink(outcome.out)), err(string_sink(outcome.err));
    Context context{.rng = [&]() -> Rng& { return rng; }, .out = out, .err = err};
    try {
      run(words, context);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted)  // not an outcome: somebody wants to stop
        throw Error(error.code(), "interrupted", "the files that were made for this are removed");
      outcome.code = exit_code(error.code());
      outcome.err += for_command_line(std::string(error.what()) + "\n" + error.hint() + "\n");
    } catch (const std::exception& error) {
      outcome.code = exit_code(ErrorCode::internal);
      outcome.err += std::string(error.what()) + "\n";
    }
    out.flush();
    err.flush();
  }
  outcome.err = timeless(outcome.err);
  if (!made.empty() && std::filesystem::exists(made)) take(made, outcome);
  return outcome;
}

RecordedRun record_run(const Words& words, const std::string& made, std::uint64_t seed,
                       const RecordedRun* before) {
  RecordedRun run;
  const auto observe = [&](Rng& rng) -> std::optional<Event> {
    run.outcome = observed_run(words, rng, made);
    return std::nullopt;
  };
  run.recording = replay::record(seed, observe, before ? &before->recording : nullptr);
  return run;
}

RunComparison compare_runs(const RecordedRun& one, const RecordedRun& other) {
  const Outcome &first = one.outcome, &second = other.outcome;
  std::string text = replay::difference(one.recording, other.recording);
  if (first.code != second.code) text += " exit codes differ: " + first.err + second.err;
  if (first.out != second.out) text += " output differs: " + first.out + second.out;
  if (first.err != second.err) text += " messages differ: " + first.err + second.err;
  if (first.files != second.files) text += " files differ";
  if (first.modes != second.modes) text += " modes of files differ";
  return {text, one.recording.queries.size(), replay::largest_move(one.recording, other.recording),
          first};
}

}  // namespace sotto::cli
