// Reading CSV: this reader against a getline/stod loop, and all the way to an encoded table.
//
// Both readers must give the same sum, or the program fails.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "interleaved.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/table.hpp"

namespace {

using namespace sotto;
constexpr std::size_t kColumns = 10, kBytes = std::size_t{64} << 20;

class TemporaryCsv {
 public:
  // `record` appends one record, without its line end.
  TemporaryCsv(const std::string& name, const std::string& header,
               const std::function<void(std::string&)>& record)
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("sotto_{}_{}.csv", name, ::getpid()))
                  .string()) {
    std::ofstream out(path_, std::ios::binary);
    std::string block = header + "\n";
    for (std::size_t written = 0; written < kBytes; written += block.size(), block.clear()) {
      while (block.size() < (1U << 20)) {
        record(block);
        block += '\n';
      }
      out << block;
    }
  }
  TemporaryCsv(const TemporaryCsv&) = delete;
  TemporaryCsv& operator=(const TemporaryCsv&) = delete;
  ~TemporaryCsv() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  double size() const { return static_cast<double>(std::filesystem::file_size(path_)); }

 private:
  std::string path_;
};

double naive_sum(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  double sum = 0;
  while (std::getline(in, line)) {
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      sum += std::stod(line.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return sum;
}

double our_sum(const std::string& path, std::vector<std::size_t> columns, unsigned threads) {
  double sum = 0;
  CsvReader(path, {.threads = threads})
      .for_each_matrix(columns, [&](std::span<const double> values, std::uint64_t) {
        for (const double v : values) sum += v;
      });
  return sum;
}

bool numeric(bench::Report& report) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 100);
  std::string header = "x0";
  for (std::size_t c = 1; c < kColumns; ++c) header += fmt::format(",x{}", c);
  const TemporaryCsv file("numeric_bench", header, [&](std::string& out) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      fmt::format_to(std::back_inserter(out), "{}{:.6g}", c ? "," : "", normal(random));
    }
  });
  std::vector<std::size_t> all(kColumns);
  std::iota(all.begin(), all.end(), std::size_t{0});
  double ours = 0, naive = 0;
  report.table(
      "Numeric CSV, 10 columns", "MB", 1e6,
      {{"sotto, all columns, all threads", [&] { ours = our_sum(file.path(), all, 0); },
        file.size()},
       {"sotto, all columns, one thread", [&] { our_sum(file.path(), all, 1); }, file.size()},
       {"sotto, one column, all threads", [&] { our_sum(file.path(), {5}, 0); }, file.size()},
       {"getline and stod", [&] { naive = naive_sum(file.path()); }, file.size()}},
      3);
  return ours == naive;
}

void encoded(bench::Report& report) {
  std::string toml = "relation = \"add_remove\"\n", header = "y";
  for (int c = 0; c < 6; ++c) {
    header += fmt::format(",n{0},c{0}", c);
    toml += fmt::format(
        "[columns.n{0}]\ntype = \"numeric\"\nbounds = [0, 100]\n[columns.c{0}]\n"
        "type = \"categorical\"\nvalues = [\"Private\", \"State-gov\", \"Self-emp\"]\n",
        c);
  }
  toml += "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n";
  const Encoder encoder(Schema::from_toml(toml));
  std::mt19937_64 random(2);
  const std::vector<std::string> values = {"Private", "State-gov", "Self-emp", "Without-pay"};
  const TemporaryCsv file("mixed_bench", header, [&](std::string& out) {
    out += random() % 2 ? "0" : "1";
    for (int c = 0; c < 6; ++c) {
      out += fmt::format(",{},{}", random() % 100, values[random() % values.size()]);
    }
  });
  const auto load = [&](unsigned threads) {
    std::size_t rows = 0;
    for_each_block(file.path(), encoder, 4096, [&](const Table& block) { rows += block.rows(); },
                   {.csv = {.threads = threads}});
  };
  report.table("Mixed CSV to encoded rows, 6 numeric and 6 categorical columns", "MB", 1e6,
               {{"all threads", [&] { load(0); }, file.size()},
                {"one thread", [&] { load(1); }, file.size()}},
               3);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  const bool equal = numeric(report);
  encoded(report);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("\npeak memory {} MB; sums {}\n", usage.ru_maxrss / 1024, equal ? "equal" : "DIFFER");
  return equal ? report.finish() : 1;
}
