// Progress of long work on standard error: a bar with time left on a terminal, plain lines
// elsewhere, at most ten a second.
//
//   Progress progress({.label = "training", .total = steps});
//   progress.advance(step, "ε 0.42");
//   progress.finish();
// The note must be public (ε so far, a step number), never a value computed from private data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sotto {

struct ProgressOptions {
  std::string label;
  std::uint64_t total = 0;            // 0: unknown, shows the count only
  std::uint64_t first = 0;            // done before the clock started, as after a resume
  bool enabled = true;                // --quiet switches it off
  std::optional<bool> terminal = {};  // default: is standard error a terminal?
  int width = 0;                      // default: the terminal's, else 80
  std::function<void(const std::string&)> write = {};               // default: standard error
  std::function<std::chrono::steady_clock::time_point()> now = {};  // default: the steady clock
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t done, const std::string& note = {});
  void finish(const std::string& note = {});  // all of it is done
  void stop();                                // the last state is shown, the rest stays undone

 private:
  using Time = std::chrono::steady_clock::time_point;
  void draw(Time now);
  std::string bar(double elapsed_seconds) const;

  ProgressOptions options_;
  bool terminal_;
  Time start_, last_;
  bool drawn_ = false, finished_ = false;
  std::uint64_t done_ = 0;
  std::string note_;
};

// "3s", "2m 05s", "1h 02m".
std::string format_duration(double seconds);

}  // namespace sotto
