// OwnTime: how long following the records takes by itself, for benchmarks. Nobody measures
// otherwise.
#pragma once

#include <chrono>

namespace sotto::deep::rows {

class OwnTime {
 public:
  // From now on, on this thread, milliseconds of work on rules and tables are added to *sum; null:
  // no more.
  static void add_to(double* sum) { sum_ = sum; }

  // Alive: what happens is the tracker's own work (or, inside of it, somebody else's).
  class Part {
   public:
    explicit Part(bool own) : before_(own_) {
      if (sum_ != nullptr) turn(own);
    }
    ~Part() {
      if (sum_ != nullptr) turn(before_);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    bool before_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  static void turn(bool own) {
    const auto now = Clock::now();
    if (own_) *sum_ += std::chrono::duration<double, std::milli>(now - since_).count();
    own_ = own;
    since_ = now;
  }
  static inline thread_local double* sum_ = nullptr;
  static inline thread_local bool own_ = false;
  static inline thread_local Clock::time_point since_ = {};
};

}  // namespace sotto::deep::rows
