// Training from files larger than memory: one pass and no rows kept where sums suffice.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/training.hpp"

namespace sotto::training_stream_test {

constexpr int kCategories = 100;

class File {
 public:
  explicit File(std::size_t rows, bool users = false)
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("sotto_stream_{}_{}.csv", ::getpid(), rows))
                  .string()) {
    std::ofstream out(path_);
    out << (users ? "who,x,c,y\n" : "x,c,y\n");
    for (std::size_t i = 0; i < rows; ++i) {
      if (users) out << 'u' << i % 97 << ',';
      out << i % 11 << ",v" << i * 7 % kCategories << ',' << (i % 11 > 4 ? 1 : i % 3 == 0) << '\n';
    }
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Facts facts(std::size_t rows, bool classes, bool users = false) {
  std::string values;
  for (int c = 0; c < kCategories; ++c) values += fmt::format("{}\"v{}\"", c ? "," : "", c);
  return table_facts(Schema::from_toml(fmt::format(
      "relation = \"add_remove\"\nrows = {}\n{}"
      "[columns.x]\ntype = \"numeric\"\nbounds = [0, 10]\n"
      "[columns.c]\ntype = \"categorical\"\nvalues = [{}]\n"
      "[columns.y]\nrole = \"target\"\n{}",
      rows,
      users ? "unit = \"user\"\nmax_contributions = 3\n[columns.who]\ntype = \"text\"\nrole = "
              "\"user\"\n"
            : "",
      values, classes ? "type = \"boolean\"\n" : "type = \"numeric\"\nbounds = [0, 1]\n")));
}

struct Case {
  std::string method;
  Budget budget;
  bool classes;
};
const std::vector<Case> kOnePass = {{"sufficient_statistics", Budget::approximate(1, 1e-6), false},
                                    {"functional", Budget::pure(1), false},
                                    {"functional", Budget::approximate(1, 1e-6), true}};

LinearTraining plan(const Facts& known, const Case& c) {
  return {known,
          {.kind = c.classes ? LinearKind::logistic : LinearKind::linear,
           .method = c.method,
           .budget = c.budget}};
}

TEST(TrainingStream, OnePassGivesTheBitsOfTheTableWhateverTheBlocksAndThreads) {
  constexpr std::size_t kRows = 10000;  // several of ExactRows's blocks
  for (const bool users : {false, true}) {
    const File file(kRows, users);
    for (const Case& c : kOnePass) {
      const Facts e = facts(kRows, c.classes, users);
      const LinearTraining training = plan(e, c);
      const Table table = load_table(file.path(), *e.encoder);
      Rng reference = Rng::insecure_seed(5);
      const auto expected = training.fit(*table_in_memory(table), reference).value().weights;
      for (const unsigned threads : {1u, 3u}) {
        for (const std::size_t bytes : {1000u, 30000u, 1u << 20}) {
          Rng rng = Rng::insecure_seed(5);
          const TableOptions options{.csv = {.threads = threads, .block_bytes = bytes}};
          EXPECT_EQ(training.fit(*table_file(file.path(), e.encoder, options), rng).value().weights,
                    expected)
              << c.method << ' ' << threads << ' ' << bytes;
        }
      }
    }
  }
}

TEST(TrainingStream, OnePassOnNeighbouringFilesStaysWithinTheSensitivity) {
  const File file(300), longer(301);
  for (const Case& c : kOnePass) {
    const Facts e = facts(300, c.classes);
    const LinearTraining training = plan(e, c);
    const auto on = [&](const File& f) {
      return [&](Rng& rng) { return training.fit(*table_file(f.path(), e.encoder), rng).event(); };
    };
    EXPECT_EQ(replay::check_neighbours(on(file), on(longer)), "") << c.method;
  }
}

// The largest resident memory of this process during f, in bytes; 0 where the system does not tell.
template <class F>
std::size_t peak_memory(F&& f) {
  {
    std::ofstream reset("/proc/self/clear_refs");
    reset << "5" << std::flush;  // the high-water mark falls to what is resident now
    if (!reset) return 0;
  }
  f();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) * 1024;
  }
  return 0;
}

TEST(TrainingStream, OnePassNeedsTheSameMemoryForTenTimesTheRows) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#endif
  constexpr std::size_t kRows = 15000, kMore = 10 * kRows;
  constexpr std::size_t kKept = kMore * kCategories * sizeof(float);  // all rows: 60 MB
  const File few(kRows), many(kMore);
  const auto growth = [&](const Case& c) -> double {
    const Facts e = facts(kRows, c.classes);
    const LinearTraining training = plan(e, c);
    const auto peak = [&](const File& file) {
      return peak_memory([&] {
        Rng rng = Rng::insecure_seed(6);
        const TableOptions options{.csv = {.threads = 2, .block_bytes = 1 << 16}};
        training.fit(*table_file(file.path(), e.encoder, options), rng);
      });
    };
    const std::size_t first = peak(few), second = peak(many);
    return first == 0 ? -1 : static_cast<double>(second) - static_cast<double>(first);
  };
  // A route that keeps the rows shows that the measurement sees them.
  const double kept = growth({"output", Budget::approximate(1, 1e-6), true});
  if (kept < 0) GTEST_SKIP() << "this system does not reset the high-water mark of memory";
  EXPECT_GT(kept, 0.7 * kKept);
  for (const Case& c : kOnePass) EXPECT_LT(growth(c), 0.1 * kKept) << c.method;
}

}  // namespace sotto::training_stream_test
