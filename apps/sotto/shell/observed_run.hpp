// A command run in this process with any generator, and all that an observer could see of it.
//
// Tests and `sotto audit replay` compare two such runs on neighbouring data with one tape of
// randomness: no noised query may move by more than it declares, and because the second run is
// given what the first released, everything visible has to be equal to the letter.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sotto/core/record_replay.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::cli {

using Words = std::vector<std::string>;

// All that leaves a command: streams, exit code, files with their modes. How long it took is told
// apart from everything else.
struct Outcome {
  int code = 0;
  std::string out, err;
  std::map<std::string, std::string> files;
  std::map<std::string, std::filesystem::perms> modes;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Messages without what depends on how fast the machine is: durations, and when progress was shown.
std::string timeless(const std::string& messages);

// `made` is a file or directory that the command writes and that is taken away again.
Outcome observed_run(const Words& words, Rng& rng, const std::string& made = {});

struct RecordedRun {
  Outcome outcome;
  replay::Recording recording;
};
// With the run before it, this one is given what that one released.
RecordedRun record_run(const Words& words, const std::string& made, std::uint64_t seed,
                       const RecordedRun* before = nullptr);

struct RunComparison {
  std::string difference;  // in words; empty when nothing but noised values can differ
  std::size_t queries = 0;
  double largest_move = 0;  // of a query, as a share of its declared sensitivity
  Outcome first;
};
// The other was recorded after the one and with it.
RunComparison compare_runs(const RecordedRun& one, const RecordedRun& other);

}  // namespace sotto::cli
