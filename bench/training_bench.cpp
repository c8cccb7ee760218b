// Training: a private logistic fit against scikit-learn's non-private one on the same million rows,
// and a CSV file all the way to a model.
//
// Both fits are scored on rows that neither saw; the program fails when the private one is more
// than half a point less accurate. scikit-learn
// (Debian: python3-sklearn) is optional: without it only our own times are printed.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "interleaved.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/linear/training.hpp"

namespace {

using namespace sotto;
namespace fs = std::filesystem;

constexpr std::size_t kColumns = 100, kTrain = 1'000'000, kTest = 100'000;
constexpr double kBound = 4;  // declared for every column
constexpr int kRounds = 3;

class Directory {
 public:
  Directory()
      : path_(fs::temp_directory_path() / fmt::format("sotto_training_bench_{}", ::getpid())) {
    fs::create_directories(path_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Columns with a normal distribution, classes by a logistic model.
struct Data {
  std::vector<float> x, y;

  Data(std::size_t rows, std::uint64_t seed) : x(rows * kColumns), y(rows) {
    std::mt19937_64 weights(1), random(seed);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<double> w(kColumns);
    for (double& v : w) v = 2 * static_cast<double>(normal(weights)) / std::sqrt(double(kColumns));
    for (std::size_t i = 0; i < rows; ++i) {
      double score = 0;
      for (std::size_t j = 0; j < kColumns; ++j) {
        const float v = std::clamp(normal(random), -float(kBound), float(kBound));
        x[i * kColumns + j] = v;
        score += w[j] * static_cast<double>(v);
      }
      y[i] = uniform(random) < 1 / (1 + std::exp(-score)) ? 1.0f : 0.0f;
    }
  }
  std::size_t rows() const { return y.size(); }
  void write(const std::string& path) const {  // x row by row, then y
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(x.size() * 4));
    out.write(reinterpret_cast<const char*>(y.data()), static_cast<std::streamsize>(y.size() * 4));
  }
};

// Reads the files, then fits once for each line it gets and answers "seconds accuracy".
constexpr const char* kScikit = R"(
import sys, time
import numpy as np
from sklearn.linear_model import LogisticRegression
d = int(sys.argv[3])
def load(path):
    a = np.fromfile(path, dtype=np.float32)
    n = a.size // (d + 1)
    return a[:n * d].reshape(n, d).astype(np.float64), a[n * d:].astype(int)
X, y = load(sys.argv[1])
T, t = load(sys.argv[2])
print('ready', flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    model = LogisticRegression(max_iter=1000).fit(X, y)
    seconds = time.perf_counter() - start
    print(seconds, model.score(T, t), flush=True)
)";

// A process that answers one line for each line.
class Scikit {
 public:
  Scikit(const std::string& script, const std::string& train, const std::string& test) {
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      const std::string columns = std::to_string(kColumns);
      ::execl("/usr/bin/python3", "python3", script.c_str(), train.c_str(), test.c_str(),
              columns.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
    ready_ = line() == "ready";
  }
  Scikit(const Scikit&) = delete;
  Scikit& operator=(const Scikit&) = delete;
  ~Scikit() {
    if (to_ != nullptr) std::fclose(to_);
    if (from_ != nullptr) std::fclose(from_);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  bool ready() const { return ready_; }
  bool fit(double& seconds, double& accuracy) {
    std::fputs("fit\n", to_);
    std::fflush(to_);
    return std::sscanf(line().c_str(), "%lf %lf", &seconds, &accuracy) == 2;
  }

 private:
  std::string line() {
    std::string text;
    for (int c = 0; (c = std::fgetc(from_)) != EOF && c != '\n';) text += static_cast<char>(c);
    return text;
  }
  pid_t child_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  bool ready_ = false;
};

Facts facts_of_columns(std::size_t columns, std::size_t rows, bool classes) {
  std::string toml = fmt::format("relation = \"add_remove\"\nrows = {}\n", rows);
  for (std::size_t c = 0; c < columns; ++c)
    toml += fmt::format("[columns.x{}]\ntype = \"numeric\"\nbounds = [-4, 4]\n", c);
  toml += classes ? "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n"
                  : "[columns.y]\ntype = \"numeric\"\nrole = \"target\"\nbounds = [-10, 10]\n";
  const Schema schema = Schema::from_toml(toml);
  const Family family = linear_family();
  return facts_for(family, schema,
                   make_request(family, classes ? "logistic" : "linear", Budget::pure(1)));
}

Table table_of(const Data& data, const Encoder& encoder) {
  Table table(encoder);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const Table::Sink sink = table.add_row();
    for (std::size_t j = 0; j < kColumns; ++j)
      sink.dense[j] = static_cast<double>(data.x[i * kColumns + j]) / kBound;
    table.add_target(data.y[i]);
  }
  return table;
}

double accuracy(const LinearModel& model, const Table& table) {
  std::vector<float> row(table.width());
  double right = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    table.row(i, row);
    right += model.classify(row) == static_cast<std::size_t>(table.targets()[i]);
  }
  return right / static_cast<double>(table.rows());
}

double median(std::vector<double> v) { return bench::Alternative::median(std::move(v)); }

bool against_scikit(const Directory& directory, std::vector<std::string>& results) {
  const Data train(kTrain, 2), test(kTest, 3);
  train.write(directory.file("train.bin"));
  test.write(directory.file("test.bin"));
  std::ofstream(directory.file("fit.py")) << kScikit;
  Scikit scikit(directory.file("fit.py"), directory.file("train.bin"), directory.file("test.bin"));

  const Facts e = facts_of_columns(kColumns, kTrain, true);
  const Table rows = table_of(train, *e.encoder), unseen = table_of(test, *e.encoder);
  const LinearTraining training(e, {.budget = Budget::approximate(1, 1e-7)});
  Rng rng;
  std::vector<double> ours, theirs;
  double our_accuracy = 0, their_accuracy = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const LinearModel model = training.fit(*table_in_memory(rows), rng).value();
    ours.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    our_accuracy = accuracy(model, unseen);
    double seconds = 0;
    if (scikit.ready() && scikit.fit(seconds, their_accuracy)) theirs.push_back(seconds);
  }
  fmt::print("\nLogistic regression, {} x {}, median of {} by the clock\n", kTrain, kColumns,
             kRounds);
  fmt::print("  sotto, epsilon = 1, from an encoded table ({}) {:>8.2f} s   accuracy {:.4f}\n",
             training.method(), median(ours), our_accuracy);
  results.push_back(fmt::format(R"({{"name":"logistic fit","seconds":{:.4g},"accuracy":{:.5g}}})",
                                median(ours), our_accuracy));
  if (theirs.empty()) {
    fmt::print("  scikit-learn is not installed (apt-get install python3-sklearn): not compared\n");
    return true;
  }
  fmt::print("  scikit-learn, not private, L-BFGS, from its array {:>14.2f} s   accuracy {:.4f}\n",
             median(theirs), their_accuracy);
  fmt::print("  ours takes {:.2f} of its time\n", median(ours) / median(theirs));
  results.push_back(
      fmt::format(R"({{"name":"logistic fit, scikit-learn","seconds":{:.4g},"accuracy":{:.5g}}})",
                  median(theirs), their_accuracy));
  return our_accuracy > their_accuracy - 0.005;
}

// A numeric CSV file of about `bytes` bytes; the number of its rows.
std::size_t write_csv(const std::string& path, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  std::string block = "x0";
  for (int c = 1; c < 10; ++c) block += fmt::format(",x{}", c);
  block += ",y\n";
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::size_t rows = 0;
  for (std::size_t written = 0; written < bytes; written += block.size(), block.clear()) {
    while (block.size() < (1U << 20)) {
      double y = 0;
      for (int c = 0; c < 10; ++c) {
        const double v = normal(random);
        y += v * (c - 4.5) / 10;
        fmt::format_to(std::back_inserter(block), "{:.5f},", v);
      }
      fmt::format_to(std::back_inserter(block), "{:.5f}\n", y);
      ++rows;
    }
    out << block;
  }
  return rows;
}

// Peak memory of a child that does the work.
long peak_kilobytes(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return usage.ru_maxrss;
}

// Seconds of one fit from the file, by the clock and of all processors together.
struct Seconds {
  std::vector<double> clock, processor;
};

void from_csv(const Directory& directory, std::vector<std::string>& results) {
  fmt::print("\nCSV file to a linear model, epsilon = 1, 10 numeric features, median of {}\n",
             kRounds);
  for (const std::size_t megabytes : {100, 1000}) {
    const std::string path = directory.file("rows.csv");
    const std::size_t rows = write_csv(path, megabytes * 1'000'000);
    const Facts e = facts_of_columns(10, rows, false);
    for (const char* method : {"sufficient_statistics", "auto"}) {
      const LinearTraining training(
          e,
          {.kind = LinearKind::linear, .method = method, .budget = Budget::approximate(1, 1e-8)});
      Seconds seconds;
      const auto fit = [&] {
        Rng rng;
        const auto start = std::chrono::steady_clock::now();
        const double busy = bench::process_seconds();
        training.fit(*table_file(path, e.encoder), rng);
        seconds.processor.push_back(bench::process_seconds() - busy);
        seconds.clock.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      };
      for (int round = 0; round < kRounds; ++round) fit();
      const double size = static_cast<double>(fs::file_size(path)) / 1e6;
      const double rate = size / median(seconds.clock), busy = size / median(seconds.processor);
      const long peak = peak_kilobytes([&] { fit(); });
      fmt::print(
          "  {:>5} MB, {:>9} rows, {:<21} {:>6.1f} MB/s by the clock, {:>6.1f} MB in a second of "
          "one processor, peak memory {} MB\n",
          megabytes, rows, training.method(), rate, busy, peak / 1024);
      results.push_back(fmt::format(
          R"({{"name":"csv to linear model, {} MB, {}","mb_per_s":{:.4g},"mb_per_processor_second":{:.4g},"peak_mb":{}}})",
          megabytes, training.method(), rate, busy, peak / 1024));
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  bool fit = true, csv = true;
  constexpr std::string_view kOut = "--benchmark_out=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kOut)) path = argument.substr(kOut.size());
    if (argument == "--csv-only") fit = false;
    if (argument == "--fit-only") csv = false;
  }
  const Directory directory;
  std::vector<std::string> results;
  if (csv)
    from_csv(directory, results);  // first: its memory is measured in children of a small process
  const bool accurate = !fit || against_scikit(directory, results);
  if (!path.empty())
    std::ofstream(path) << fmt::format("{{\"benchmarks\":[\n{}\n]}}\n", fmt::join(results, ",\n"));
  if (!accurate) fmt::print("the private fit is less accurate than it should be\n");
  return accurate ? 0 : 1;
}
