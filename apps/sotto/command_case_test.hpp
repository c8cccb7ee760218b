// A directory of its own, and commands run in this process with any generator.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "shell/app.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/option.hpp"
#include "support/record_replay.hpp"

namespace sotto::cli {

using Words = std::vector<std::string>;

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// All that leaves a command: streams, exit code, files with their modes. How long it took is told
// apart from everything else.
struct Outcome {
  int code = 0;
  std::string out, err;
  std::map<std::string, std::string> files;
  std::map<std::string, std::filesystem::perms> modes;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

class CommandCase : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("sotto_command_" +
                  std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
                  std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ / name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return directory_ / name;
  }

  // Runs the words; `made` is a file or directory that the command writes and that is taken away
  // again.
  static Outcome run_words(const Words& words, Rng& rng, const std::string& made = {}) {
    Outcome outcome;
    {
      Output out(string_sink(outcome.out)), err(string_sink(outcome.err));
      Context context{.rng = [&]() -> Rng& { return rng; }, .out = out, .err = err};
      try {
        run(words, context);
      } catch (const Error& error) {
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

  // What differs between two runs on one tape of randomness; empty when nothing but the noised
  // values can.
  static std::string difference(const Words& a, const Words& b, const std::string& made = {},
                                std::uint64_t seed = 1) {
    Outcome first, second;
    const auto into = [&](const Words& words, Outcome& outcome) {
      return [&](Rng& rng) -> std::optional<Event> {
        outcome = run_words(words, rng, made);
        return std::nullopt;
      };
    };
    std::string text = test::check_neighbours(into(a, first), into(b, second), seed);
    if (first.code != second.code) text += " exit codes differ: " + first.err + second.err;
    if (first.out != second.out) text += " output differs: " + first.out + second.out;
    if (first.err != second.err) text += " messages differ: " + first.err + second.err;
    if (first.files != second.files) text += " files differ";
    if (first.modes != second.modes) text += " modes of files differ";
    if (first.code != 0) text += " refused: " + first.err;
    return text;
  }

 private:
  static void take(const std::filesystem::path& made, Outcome& outcome) {
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

 protected:
  std::filesystem::path directory_;
};

}  // namespace sotto::cli
