// `sotto release` end to end, in this process: words in, CSV files read, JSON out, every noised
// query watched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shell/app.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::cli::release_test {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using Words = std::vector<std::string>;

std::string run_words(const Words& words, Rng& rng) {
  std::string out, err;
  Output out_stream(string_sink(out)), err_stream(string_sink(err));
  Context context{.rng = [&]() -> Rng& { return rng; }, .out = out_stream, .err = err_stream};
  run(words, context);
  return out;
}

class ReleaseCommand : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("sotto_release_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::vector<std::string>& rows) const {
    const std::string path = directory_ / name;
    std::ofstream stream(path);
    stream << "age,city\n";
    for (const std::string& row : rows) stream << row << "\n";
    return path;
  }

  static std::optional<Event> release(Words words, const std::string& path, Rng& rng) {
    words.insert(words.end(), {"--data", path, "--json"});
    const Json json = Json::parse(run_words(words, rng));
    return event_from_json(json.at("event"));
  }

  // Empty when the command behaves on the two files as neighbours must.
  static std::string difference(const Words& words, const std::string& a, const std::string& b) {
    return replay::check_neighbours([&](Rng& rng) { return release(words, a, rng); },
                                    [&](Rng& rng) { return release(words, b, rng); });
  }

  static std::vector<Words> statistics() {
    const Words bounds = {"--column", "age", "--lower", "17", "--upper", "90"};
    std::vector<Words> all = {
        {"count"},
        {"count", "--column", "city", "--equals", "Turin"},
        {"histogram", "--column", "city", "--values", "Turin,Milan,Rome", "--unknown", "ignore"}};
    for (const std::string name : {"sum", "mean", "variance", "quantile"}) {
      Words words = {name};
      words.insert(words.end(), bounds.begin(), bounds.end());
      all.push_back(words);
    }
    std::vector<Words> result;
    for (const Words& words : all) {
      for (const Words& budget : {Words{"--epsilon", "0.5"}, Words{"--rho", "0.1"},
                                  Words{"--epsilon", "0.5", "--delta", "1e-6"}}) {
        Words full = {"release"};
        full.insert(full.end(), words.begin(), words.end());
        full.insert(full.end(), budget.begin(), budget.end());
        result.push_back(full);
      }
    }
    return result;
  }

  static Words with_relation(Words words, const std::string& relation) {
    words.insert(words.end(), {"--relation", relation});
    return words;
  }

  std::filesystem::path directory_;
  // The extreme rows are the hard ones: values at, below and above the bounds, an undeclared
  // category.
  const std::vector<std::string> common_ = {"17,Turin",  "42.5,Milan", "90,Rome",
                                            "1000,Oslo", "-7,Turin",   "33,Milan"};
};

std::vector<std::string> plus(std::vector<std::string> rows, const std::string& row) {
  rows.push_back(row);
  return rows;
}

TEST_F(ReleaseCommand, ReplaysOnFilesWithOneRowMoreOrLess) {
  const std::string without = file("without.csv", common_);
  for (const std::string row : {"1e9,Turin", "-1e9,Oslo", "53.5,Rome", "90,Milan"}) {
    const std::string with = file("with.csv", plus(common_, row));
    for (const Words& words : statistics()) {
      EXPECT_EQ(difference(with_relation(words, "add_remove"), without, with), "")
          << testing::PrintToString(words) << " row " << row;
    }
  }
}

TEST_F(ReleaseCommand, ReplaysOnFilesWithOneRowReplaced) {
  const std::string first = file("first.csv", plus(common_, "-1e9,Turin"));
  for (const std::string row : {"1e9,Rome", "53.5,Oslo", "17,Turin"}) {
    const std::string second = file("second.csv", plus(common_, row));
    for (const Words& words : statistics()) {
      EXPECT_EQ(difference(with_relation(words, "replace_one"), first, second), "")
          << testing::PrintToString(words) << " row " << row;
    }
  }
}

TEST_F(ReleaseCommand, ReplaysOnFilesWithOneRowNulled) {
  std::vector<Words> all = statistics();
  for (const Words& more :
       {Words{"histogram", "--column", "city", "--values", "Turin,else", "--other", "else"},
        Words{"count", "--column", "city"}, Words{"count", "--column", "age", "--lower", "0"},
        Words{"sum", "--column", "age", "--lower", "60", "--upper", "90"},
        Words{"quantile", "--column", "age", "--lower", "0", "--upper", "100", "--probability",
              "0.1"}}) {
    Words words = {"release"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--epsilon", "3"});
    all.push_back(words);
  }
  for (const std::string row : {"1e9,Rome", "-1e9,Oslo", "53.5,Turin"}) {
    const std::string as_it_is = file("as_it_is.csv", plus(common_, row));
    for (const std::string null : {",", "NaN, ", "?,?"}) {
      const std::string nulled = file("nulled.csv", plus(common_, null));
      for (const Words& words : all) {
        Words full = with_relation(words, "zero_out");
        full.insert(full.end(), {"--missing-values", "?"});
        EXPECT_EQ(difference(full, as_it_is, nulled), "")
            << testing::PrintToString(words) << " row " << row << " nulled as " << null;
      }
    }
  }
}

TEST_F(ReleaseCommand, NulledRowsAreInNoCategoryAndHaveNoPolicy) {
  const std::string path = file("people.csv", std::vector<std::string>(200, ","));
  Rng rng = Rng::insecure_seed(1);
  const Json json = Json::parse(
      run_words({"release", "histogram", "--data", path, "--column", "city", "--unknown-categories",
                 "--epsilon", "10", "--delta", "1e-6", "--relation", "zero_out", "--json"},
                rng));
  EXPECT_EQ(json.at("value"), Json::object());
  EXPECT_THROW(run_words({"release", "quantile", "--data", path, "--column", "age", "--lower", "0",
                          "--upper", "100", "--epsilon", "3", "--relation", "zero_out", "--missing",
                          "midpoint"},
                         rng),
               InvalidArgument);
}

TEST_F(ReleaseCommand, SkippedCellsAreLikeAbsentRows) {
  const std::string without = file("without.csv", common_);
  const std::string with = file("with.csv", plus(common_, ",Turin"));
  for (const std::string name : {"sum", "mean", "variance", "quantile"}) {
    const Words words = {"release", name, "--column",  "age", "--lower",   "17",
                         "--upper", "90", "--epsilon", "1",   "--missing", "skip"};
    EXPECT_EQ(difference(words, without, with), "") << name;
  }
}

TEST_F(ReleaseCommand, ReplayCatchesFilesThatAreNoNeighbours) {
  const std::string a = file("a.csv", common_);
  const std::string b = file("b.csv", plus(plus(common_, "90,Turin"), "90,Turin"));
  for (const std::string name : {"count", "sum"}) {
    Words words = {"release", name,      "--column", "age",       "--lower",
                   "17",      "--upper", "90",       "--epsilon", "1"};
    EXPECT_THAT(difference(words, a, b), HasSubstr("moved by")) << name;
  }
}

TEST_F(ReleaseCommand, ClaimsNoMoreThanWasAsked) {
  const std::string path = file("people.csv", common_);
  Rng rng = Rng::insecure_seed(1);
  for (const Words& statistic : statistics()) {
    for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
      Words words = with_relation(statistic, relation);
      words.insert(words.end(), {"--data", path, "--json", "--dry-run"});
      const Json json = Json::parse(run_words(words, rng));
      if (json.at("epsilon").is_null()) {
        EXPECT_TRUE(json.contains("rho"));
        continue;
      }
      EXPECT_LE(json.at("epsilon").get<double>(), 0.5) << testing::PrintToString(words);
      EXPECT_GT(json.at("epsilon").get<double>(), 0.45) << testing::PrintToString(words);
    }
  }
}

TEST_F(ReleaseCommand, DryRunReadsNoData) {
  Rng rng = Rng::insecure_seed(1);
  const std::string out = run_words({"release", "count", "--data", "/nonexistent/file.csv",
                                     "--epsilon", "1", "--dry-run", "--json"},
                                    rng);
  EXPECT_EQ(Json::parse(out).at("event").begin().key(), "discrete_laplace");
  EXPECT_EQ(rng.words(), 0u);
}

TEST_F(ReleaseCommand, HasTheMembersOfTheContractInOrder) {
  const std::string path = file("people.csv", common_);
  Rng rng = Rng::insecure_seed(1);
  const Json json = Json::parse(
      run_words({"release", "mean", "--data", path, "--column", "age", "--lower", "17", "--upper",
                 "90", "--epsilon", "0.5", "--relation", "replace_one", "--json"},
                rng));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("schema", "value", "noise", "event", "relation", "epsilon",
                                         "delta"));
  EXPECT_EQ(json.at("delta"), 0);
}

TEST_F(ReleaseCommand, WithHugeBudgetIsAccurate) {
  const std::string path = file("people.csv", {"20,A", "30,B", "40,B"});
  Rng rng = Rng::insecure_seed(1);
  const auto value = [&](const Words& words) {
    Words full = {"release"};
    full.insert(full.end(), words.begin(), words.end());
    full.insert(full.end(),
                {"--data", path, "--epsilon", words.size() > 5 ? "2000" : "500", "--json"});
    return Json::parse(run_words(full, rng)).at("value");
  };
  const Words numeric = {"--column", "age", "--lower", "0", "--upper", "100"};
  const auto statistic = [&](const std::string& name) {
    Words words = {name};
    words.insert(words.end(), numeric.begin(), numeric.end());
    return value(words).get<double>();
  };
  EXPECT_EQ(value({"count"}).get<double>(), 3);
  EXPECT_NEAR(statistic("sum"), 90, 1);
  EXPECT_NEAR(statistic("mean"), 30, 0.5);
  EXPECT_NEAR(statistic("variance"), 200.0 / 3, 2);
  EXPECT_NEAR(statistic("quantile"), 30, 0.5);
  EXPECT_EQ(value({"histogram", "--column", "city", "--values", "A,B"}),
            (Json{{"A", 1.0}, {"B", 2.0}}));
}

}  // namespace sotto::cli::release_test
