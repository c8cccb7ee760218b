// Neighbouring files of the columns that tests of commands share, and a case that runs a command on
// both and compares everything visible.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "family_offers_test.hpp"

namespace sotto::cli::visible {

inline constexpr const char* kHeader = "who,age,city,smoker,ill,cost,grade";
inline const std::string kNull = ",,,,,,";
inline constexpr std::size_t kRows = 9;  // declared, and true where the number is public

inline std::size_t pairs(std::size_t usual) {
  const char* asked = std::getenv("SOTTO_NEIGHBOUR_PAIRS");
  return asked == nullptr ? usual : std::strtoul(asked, nullptr, 10);
}

// Whether the run with this number has its turn with this pair.
inline bool has_its_turn(std::size_t run, std::uint32_t pair) {
  return std::getenv("SOTTO_NEIGHBOUR_PAIRS") == nullptr || (run + pair) % 8 == 0;
}

using Rows = std::vector<std::string>;

// Rows of all sorts that a schema takes: at and beyond bounds, missing, unreadable, undeclared, not
// UTF-8, orders for a terminal.
class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  std::string row(const std::string& who = "z") {
    return fmt::format(
        "{},{},{},{},{},{},{}", who,
        of({"25", "17", "90", "1e300", "-1e300", "", "nan", "seventeen", "53.5", " 40 ", "inf",
            "?"}),
        of({"Turin", "Milan", "Oslo", "", "\x1b[31mred", "caf\xe9", "\"a,\"\"b\"", "?"}),
        of({"0", "1", "", "yes"}), of({"no", "yes"}),
        of({"0", "1000", "1e9", "-5", "500.25", "999"}), of({"A", "B", "C"}));
  }
  Rows rows(std::size_t n) {
    Rows lines;
    for (std::size_t i = 0; i < n; ++i)
      lines.push_back(row(std::string(1, static_cast<char>('a' + i))));
    return lines;
  }

 private:
  std::string of(const std::vector<std::string>& cells) { return cells[below(cells.size())]; }
  std::mt19937 random_;
};

struct Neighbours {
  Rows a, b;
};

// last: the record that comes or goes is the last one, so that others keep their places in what is
// drawn at random by place (sampled batches, parts).
inline Neighbours neighbours(const std::string& relation, std::uint32_t seed, bool last = false) {
  Writer writer(seed);
  Neighbours n;
  if (relation == "add_remove") {
    n.a = n.b = writer.rows(writer.below(2 * kRows));
    const std::size_t at = last ? n.b.size() : writer.below(n.b.size() + 1);
    n.b.insert(n.b.begin() + static_cast<std::ptrdiff_t>(at), writer.row());
    if (writer.below(2) == 0) std::swap(n.a, n.b);
    return n;
  }
  n.a = n.b = writer.rows(kRows);
  n.b[writer.below(kRows)] = relation == "zero_out" ? kNull : writer.row();
  if (writer.below(2) == 0) std::swap(n.a, n.b);
  return n;
}

// The user z with up to five rows comes, goes, is another, or is nulled.
inline Neighbours neighbouring_users(const std::string& relation, std::uint32_t seed) {
  Writer writer(seed);
  Neighbours n;
  n.a = n.b = writer.rows(kRows);
  const std::size_t records = 1 + writer.below(5);
  for (std::size_t i = 0; i < records; ++i) {
    n.b.push_back(writer.row());
    if (relation == "replace_one") n.a.push_back(writer.row());
    if (relation == "zero_out") n.a.push_back("z" + kNull);
  }
  return n;
}

class VisibleOutput : public CommandCase, public testing::WithParamInterface<const char*> {
 protected:
  std::string relation() const { return GetParam(); }
  bool nulls() const { return relation() == "zero_out"; }

  std::string write(const std::string& name, const Rows& rows) const {
    std::string text = std::string(kHeader) + "\n";
    for (const std::string& row : rows) text += row + "\n";
    return file(name, text);
  }
  // The column age alone; a missing cell is a blank line.
  std::string write_ages(const std::string& name, const Rows& rows) const {
    std::string text = "age\n";
    for (const std::string& row : rows) {
      const std::size_t from = row.find(',') + 1;
      text += row.substr(from, row.find(',', from) - from) + "\n";
    }
    return file(name, text);
  }
  std::string schema(const std::string& top = "", const std::string& more = "") const {
    return file(
        "schema.toml",
        fmt::format("relation = \"{}\"\nrows = {}\n{}", relation(), kRows, top) + kColumns + more);
  }

  // `words` without --data; `made` is what they write.
  void expect_same(const Words& words, const std::string& a, const std::string& b,
                   std::uint32_t seed) {
    const Words more = seed % 2 == 0 ? Words{"--json"} : Words{};
    ++runs_;
    EXPECT_EQ(difference(words + Words{"--data", a} + more, words + Words{"--data", b} + more,
                         path("made"), seed),
              "")
        << relation() << " pair " << seed << ": " << testing::PrintToString(words);
  }
  void TearDown() override {
    std::cout << "    " << runs_ << " pairs of runs\n";
    CommandCase::TearDown();
  }

  // Everything that the families offer on these columns, and edges of the methods that have some.
  std::vector<Words> training_runs(const std::string& schema) const {
    std::vector<Words> all;
    const auto add = [&](const Words& words) {
      Rng rng = Rng::insecure_seed(1);
      if (run_words(words + Words{"--data", "absent.csv", "--dry-run"}, rng).code == 0)
        all.push_back(words);
    };
    for (const Family* family : hosted()) {
      for (const Kind& kind : family->kinds) {
        for (const Offer& offer : offers_of(*family, kind)) {
          const Words words = offer.train(schema, path("made"));
          add(words);
          if (offer.method == "gradient") add(words + Words{"--batch", "4", "--iterations", "3"});
          if (offer.method == "sample_aggregate") add(words + Words{"--aggregate", "median"});
          if (offer.method == "output") add(words + Words{"--regularisation", "1e-10"});
          if (offer.method == "exponential")
            add(words + Words{"--candidates", file("candidates.csv", candidates())});
        }
      }
    }
    return all;
  }
  // Place and training run of a model of every kind and target, without noise where there is such a
  // method.
  std::vector<std::pair<std::string, Words>> public_models(const std::string& schema) const {
    std::vector<std::pair<std::string, Words>> all;
    for (const Family* family : hosted()) {
      for (const Kind& kind : family->kinds) {
        for (Offer offer : offers_of(*family, kind)) {
          const std::string place = path(kind.name + offer.target);
          if (kind.tasks.front() == Task::generate) continue;  // nothing to be measured by
          if (!all.empty() && all.back().first == place) continue;
          if (find_method(*family, "none") != nullptr) offer.method = "none", offer.budget = {};
          const Words words = offer.train(schema, place);
          Rng rng = Rng::insecure_seed(1);
          if (run_words(words + Words{"--data", "absent.csv", "--dry-run"}, rng).code == 0)
            all.push_back({place, words});
        }
      }
    }
    return all;
  }
  // Parameters of the binary models: age and its hats, city, smoker, grade and cost, an intercept.
  static std::string candidates() {
    std::string text;
    for (const int sign : {-1, 1}) {
      for (int i = 0; i < 44; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", sign * (i % 3));
      text += "\n";
    }
    return text;
  }

  std::size_t runs_ = 0;
};

}  // namespace sotto::cli::visible
