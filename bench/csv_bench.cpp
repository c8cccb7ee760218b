// Reading numeric CSV: this reader against a getline/stod loop, in one run on one file.
//
//   csv_bench [megabytes] [threads]
// Prints MB/s of CSV text for one column and for all columns, the ratio to the loop, and the memory the process has peaked at.
// Both sides must give the same sum, or the program fails.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sotto/data/csv.hpp"

namespace {

using namespace sotto;
constexpr std::size_t kColumns = 10;

struct Time {
  double wall = INFINITY,
         cpu = INFINITY;  // cpu: of all threads, hardly disturbed by what else the machine does
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Time best_of_three(const std::function<void()>& work) {
  Time best;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = cpu_seconds();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best.wall = std::min(best.wall, taken.count());
    best.cpu = std::min(best.cpu, cpu_seconds() - cpu_start);
  }
  return best;
}

void write_file(const std::string& path, std::size_t bytes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::ofstream out(path, std::ios::binary);
  for (std::size_t c = 0; c < kColumns; ++c) out << (c ? ",x" : "x") << c;
  out << '\n';
  std::string block;
  for (std::size_t written = 0; written < bytes; written += block.size()) {
    block.clear();
    while (block.size() < (1U << 20)) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        fmt::format_to(std::back_inserter(block), "{}{:.6g}", c ? "," : "", normal(random) * 100);
      }
      block += '\n';
    }
    out << block;
  }
}

double naive_sum(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  double sum = 0;
  while (std::getline(in, line)) {
    std::size_t begin = 0;
    while (begin <= line.size()) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      sum += std::stod(line.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  const auto threads = static_cast<unsigned>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0);
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("sotto_csv_bench_{}.csv", ::getpid()))
          .string();
  write_file(path, megabytes << 20);
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;

  double expected = 0, sum = 0;
  std::vector<std::size_t> all(kColumns);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Time naive = best_of_three([&] { expected = naive_sum(path); });
  const auto read_all_columns = [&](unsigned with_threads) {
    sum = 0;
    CsvReader(path, {.threads = with_threads})
        .for_each_matrix(all, [&](std::span<const double> values, std::uint64_t) {
          for (const double v : values) sum += v;
        });
  };
  const Time one_thread = best_of_three([&] { read_all_columns(1); });
  const Time many = best_of_three([&] { read_all_columns(threads); });
  const bool equal = sum == expected;
  const Time column = best_of_three([&] {
    CsvReader(path, {.threads = threads})
        .for_each_numbers("x5", [&](std::span<const double>, std::uint64_t) {});
  });
  std::filesystem::remove(path);

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("numeric CSV, {} columns, {:.0f} MB\n", kColumns, size);
  const auto line = [&](const char* what, const Time& time) {
    fmt::print("  {:34} {:6.0f} MB/s {:5.1f}x   {:6.0f} MB per core-second {:5.1f}x\n", what,
               size / time.wall, naive.wall / time.wall, size / time.cpu, naive.cpu / time.cpu);
  };
  line("getline + stod, all columns", naive);
  line("sotto, all columns, one thread", one_thread);
  line("sotto, all columns, all threads", many);
  line("sotto, one column, all threads", column);
  fmt::print("  peak memory {} MB, sums equal: {}\n", usage.ru_maxrss / 1024, equal);
  return equal ? 0 : 1;
}
