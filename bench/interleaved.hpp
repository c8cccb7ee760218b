// Compares alternatives in one run: rounds in which each is measured once, then the median of each.
//
// Interleaving makes a disturbance of the machine fall on all alternatives alike, so that ratios
// mean something where absolute times do not. Times are of the processor (all threads together)
// beside those of the clock, which other programs disturb.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::bench {

struct Alternative {
  std::string name;
  std::function<void()> work;
  double items;  // done by one call of work
  std::vector<double> cpu{}, wall{};

  static double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }
  double cpu_rate() const { return items / median(cpu); }
  double wall_rate() const { return items / median(wall); }
};

inline double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline void run_interleaved(std::vector<Alternative>& alternatives, int rounds = 9) {
  for (auto& a : alternatives) a.work();  // warm up
  for (int round = 0; round < rounds; ++round) {
    for (auto& a : alternatives) {
      const auto start = std::chrono::steady_clock::now();
      const double cpu = process_seconds();
      a.work();
      a.cpu.push_back(process_seconds() - cpu);
      a.wall.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
}

// Prints a table, the first alternative against each other, and keeps the figures for the JSON
// file.
class Report {
 public:
  Report(int argc, char** argv) {
    constexpr std::string_view kOut = "--benchmark_out=";
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument.starts_with(kOut)) path_ = argument.substr(kOut.size());
    }
  }

  // unit: of items, e.g. "draws"; per: how many of them a printed number counts, e.g. 1e6 with "M
  // draws".
  void table(std::string_view title, std::string_view unit, double per,
             std::vector<Alternative> alternatives, int rounds = 9) {
    run_interleaved(alternatives, rounds);
    fmt::print("\n{}\n  {:<48}{:>22}{:>16}{:>12}\n", title, "",
               fmt::format("{}/s of processor", unit), "by the clock", "ours is");
    for (const auto& a : alternatives) {
      const double ratio = alternatives[0].cpu_rate() / a.cpu_rate();
      fmt::print("  {:<48}{:>22.2f}{:>16.2f}{:>11.2f}x\n", a.name, a.cpu_rate() / per,
                 a.wall_rate() / per, ratio);
      rows_.push_back(fmt::format(
          R"({{"name":"{}: {}","unit":"{}/s","cpu_rate":{:.6g},"wall_rate":{:.6g},"ours_over_this":{:.4g}}})",
          title, a.name, unit, a.cpu_rate() / per, a.wall_rate() / per, ratio));
    }
    std::fflush(stdout);
  }

  // 0, or 1 when the file cannot be written.
  int finish() const {
    if (path_.empty()) return 0;
    std::FILE* file = std::fopen(path_.c_str(), "w");
    if (file == nullptr) {
      fmt::print(stderr, "cannot write {}\n", path_);
      return 1;
    }
    fmt::print(file, "{{\"benchmarks\":[\n{}\n]}}\n", fmt::join(rows_, ",\n"));
    return std::fclose(file) == 0 ? 0 : 1;
  }

 private:
  std::string path_;
  std::vector<std::string> rows_;
};

}  // namespace sotto::bench
