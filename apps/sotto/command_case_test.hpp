// A directory of its own, and commands run in this process with any generator.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "shell/app.hpp"
#include "shell/observed_run.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/option.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::cli {

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

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

  static Outcome run_words(const Words& words, Rng& rng, const std::string& made = {}) {
    return observed_run(words, rng, made);
  }
  // What differs between two runs on one tape of randomness; empty when nothing but the noised
  // values can. A command that is refused compares nothing.
  static std::string difference(const Words& a, const Words& b, const std::string& made = {},
                                std::uint64_t seed = 1) {
    return difference(record_run(a, made, seed), b, made, seed);
  }
  // The same where many runs are compared with one.
  static std::string difference(const RecordedRun& one, const Words& b,
                                const std::string& made = {}, std::uint64_t seed = 1) {
    const RunComparison runs = compare_runs(one, record_run(b, made, seed, &one));
    return runs.difference + (runs.first.code != 0 ? " refused: " + runs.first.err : "");
  }

 protected:
  std::filesystem::path directory_;
};

}  // namespace sotto::cli
