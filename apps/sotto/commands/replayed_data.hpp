// The data of a replayed command: neighbours of a CSV file or of a folder of images, both under one
// name, so that messages may tell it.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>

#include "commands/neighbouring_files.hpp"
#include "options/arguments.hpp"
#include "shell/workshop.hpp"

namespace sotto::cli {

class ReplayedData {
 public:
  virtual ~ReplayedData() = default;

  // What --data of the inner command names. The workshop must outlive it. user: neighbours differ
  // in all records of one user.
  static std::unique_ptr<ReplayedData> of(const Arguments& inner,
                                          const std::optional<UserColumn>& user,
                                          Workshop& workshop);

  // For the inner command.
  virtual std::string path() = 0;
  struct Pair {
    std::size_t record = 0;  // which one was changed, from 1; 0: a new one
    std::function<void()> write_first, write_second;
  };
  virtual Pair neighbours(Change change, std::mt19937_64& random, bool unreadable) = 0;
  // With records that are looked for: made-up ones at first, then variants of those by which a
  // query moved the most so far, as told after each pair.
  virtual Pair adversarial(Change change, std::mt19937_64& random, bool unreadable) = 0;
  virtual void tell(double largest_move) = 0;
};

}  // namespace sotto::cli
