// What a command may touch besides its options: randomness and the two streams. Tests pass their
// own.
#pragma once

#include <functional>
#include <string>

#include "shell/output.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::cli {

struct Context {
  std::function<Rng&()> rng;  // made at the first call, so that --help does not seed a generator
  Output& out;                // the result
  Output& err;                // everything else
  bool quiet = false;
  bool color = false;  // of the result stream

  // One line on the error stream unless --quiet.
  void note(const std::string& text) {
    if (!quiet) err.print("{}\n", text);
    err.flush();
  }
  // How long it took depends on the data and is no part of what was released and paid for.
  void note_time(double seconds) {
    note(fmt::format("took {:.2f} s (depends on the data: NOT PRIVATE)", seconds));
  }
  // A bar on the error stream; silent with --quiet. `total` and `label` must be public.
  ProgressOptions progress(std::string label, std::uint64_t total) {
    return {.label = std::move(label),
            .total = total,
            .enabled = !quiet,
            .write = [this](const std::string& text) {
              err.write(text);
              err.flush();
            }};
  }
  Bold bold(std::string text) const { return {std::move(text), color}; }
};

}  // namespace sotto::cli
