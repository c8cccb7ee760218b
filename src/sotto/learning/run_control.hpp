// RunControl: what may be done to a training run from outside, in one place: watched, stopped,
// kept and resumed.
//
// A family that can be stopped and resumed looks at `stop` after every step and writes its state to
// the checkpoint; others look at `progress` alone. A checkpoint holds released figures and is kept
// secret all the same, since the run is not paid for step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sotto/core/progress.hpp"

namespace sotto {

struct Checkpoints {
  std::string path;
  double seconds = 60;  // how often the state is written
  bool resume = false;  // go on from the state that is there
  // Whose run it is; written with the state. A resumed run gets back those of the first.
  std::map<std::string, std::string> notes = {};
};

struct RunControl {
  // The bar of a number of steps; empty: nothing is shown.
  std::function<ProgressOptions(std::uint64_t steps)> progress = {};
  std::function<bool()> stop = {};                    // true: stop after this step
  std::function<void(const std::string&)> tell = {};  // a line for whoever watches, public facts
  std::optional<Checkpoints> checkpoints = {};
  // Of a run that is NOT PRIVATE anyway: makes a resumed one repeat the same steps.
  std::optional<std::uint64_t> insecure_seed = {};

  ProgressOptions shown(std::uint64_t steps) const {
    return progress ? progress(steps)
                    : ProgressOptions{.label = {}, .total = steps, .enabled = false};
  }
};

}  // namespace sotto
