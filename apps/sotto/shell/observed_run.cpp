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

Outcome observed_run(const Words& words, Rng& rng, const std::string& made) {
  Outcome outcome;
  {
    Output out(string_sink(outcome.out)), err(string_sink(outcome.err));
    Context context{.rng = [&]() -> Rng& { return rng; }, .out = out, .err = err};
    try {
      run(words, context);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) throw;  // not an outcome: somebody wants to stop
      outcome.code = exit_code(error.code());
      outcome.err += for_command_line(std::string(error.what()) + "\n" + error.hint() + "\n");
    } catch (const std::exception& error) {
      outcome.code = exit_code(ErrorCode::internal);
      outcome.err += std::string(error.what()) + "\n";
    }
    out.flush();
    err.flush();
  }
  outcome.err = std::regex_replace(outcome.err, std::regex("took [0-9.]* s"), "took 0 s");
  if (!made.empty() && std::filesystem::exists(made)) take(made, outcome);
  return outcome;
}

RunComparison compare_runs(const Words& a, const Words& b, const std::string& made,
                           std::uint64_t seed, const std::function<void()>& between) {
  Outcome first, second;
  const auto into = [&](const Words& words, Outcome& outcome) {
    return [&](Rng& rng) -> std::optional<Event> {
      outcome = observed_run(words, rng, made);
      return std::nullopt;
    };
  };
  const replay::Recording one = replay::record(seed, into(a, first));
  if (between) between();
  const replay::Recording other = replay::record(seed, into(b, second), &one);
  std::string text = replay::difference(one, other);
  if (first.code != second.code) text += " exit codes differ: " + first.err + second.err;
  if (first.out != second.out) text += " output differs: " + first.out + second.out;
  if (first.err != second.err) text += " messages differ: " + first.err + second.err;
  if (first.files != second.files) text += " files differ";
  if (first.modes != second.modes) text += " modes of files differ";
  return {text, one.queries.size(), replay::largest_move(one, other), first};
}

}  // namespace sotto::cli
