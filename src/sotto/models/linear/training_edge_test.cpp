// Data at the edge: what training makes of them, through files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/linear/training.hpp"

namespace sotto::training_edge_test {

// As the command line has them.
Facts facts_as_trained(const Schema& schema, LinearKind kind) {
  const Family family = linear_family();
  return facts_for(family, schema,
                   make_request(family, std::string(name(kind)), Budget::approximate(1, 1e-6)));
}

class File {
 public:
  explicit File(const std::string& text)
      : path_(
            (std::filesystem::temp_directory_path() / fmt::format("sotto_edge_{}.csv", ::getpid()))
                .string()) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string schema(const std::string& columns, std::size_t rows, bool classes) {
  return fmt::format("relation = \"add_remove\"\nrows = {}\n{}[columns.y]\nrole = \"target\"\n{}",
                     rows, columns,
                     classes ? "type = \"boolean\"\n" : "type = \"numeric\"\nbounds = [-1, 1]\n");
}

const std::string kX = "[columns.x]\ntype = \"numeric\"\nbounds = [0, 10]\n";

// Trains by auto, with and without δ; every weight must be finite.
void expect_finite_models(const std::string& toml, const std::string& csv, LinearKind kind) {
  const File file(csv);
  for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
    const Facts facts = facts_as_trained(Schema::from_toml(toml), kind);
    const LinearTraining training(facts, {.kind = kind, .budget = budget});
    Rng rng = Rng::insecure_seed(1);
    const LinearModel model = training.fit(*table_file(file.path(), facts.encoder), rng).value();
    for (const double w : model.weights) ASSERT_TRUE(std::isfinite(w)) << csv.substr(0, 40);
  }
}

TEST(TrainingEdge, OneRowOneClassAndConstantColumnsTrain) {
  for (const bool classes : {true, false}) {
    const LinearKind kind = classes ? LinearKind::logistic : LinearKind::linear;
    expect_finite_models(schema(kX, 1, classes), "x,y\n3,1\n", kind);
    expect_finite_models(schema(kX, 4, classes), "x,y\n3,1\n3,1\n3,1\n3,1\n", kind);
    expect_finite_models(schema(kX, 3, classes), "x,y\n1,0\n1,1\n1,0\n", kind);
  }
}

TEST(TrainingEdge, HugeValuesAreClampedAndMoveNothingFurther) {
  const std::string toml = schema(kX, 3, true);
  const Facts facts = facts_as_trained(Schema::from_toml(toml), LinearKind::logistic);
  const LinearTraining training(facts, {.budget = Budget::approximate(1, 1e-6)});
  const auto weights = [&](const std::string& csv) {
    const File file(csv);
    Rng rng = Rng::insecure_seed(2);
    return training.fit(*table_file(file.path(), facts.encoder), rng).value().weights;
  };
  EXPECT_EQ(weights("x,y\n1e308,1\n-1e308,0\n5,1\n"), weights("x,y\n10,1\n0,0\n5,1\n"));
}

TEST(TrainingEdge, MoreColumnsThanRowsTrain) {
  std::string columns, header, row;
  for (int c = 0; c < 60; ++c) {
    columns += fmt::format("[columns.c{}]\ntype = \"numeric\"\nbounds = [0, 1]\n", c);
    header += fmt::format("c{},", c);
    row += "0.5,";
  }
  const std::string csv = header + "y\n" + row + "1\n" + row + "0\n";
  expect_finite_models(schema(columns, 2, true), csv, LinearKind::logistic);
  expect_finite_models(schema(columns, 2, false), csv, LinearKind::linear);
}

TEST(TrainingEdge, TenThousandCategoriesTrainByGradientAndObjective) {
  std::string values;
  for (int c = 0; c < 10000; ++c) values += fmt::format("{}\"v{}\"", c ? "," : "", c);
  const std::string toml =
      schema("[columns.x]\ntype = \"categorical\"\nvalues = [" + values + "]\n", 50, true);
  std::string csv = "x,y\n";
  for (int i = 0; i < 50; ++i) csv += fmt::format("v{},{}\n", i * 7, i % 2);
  const File file(csv);
  const Facts facts = table_facts(Schema::from_toml(toml));
  EXPECT_EQ(facts.encoder->width(), 10001u);
  const Budget budget = Budget::approximate(1, 1e-6);
  const LinearTraining training(
      facts, {.method = "gradient", .budget = budget, .options = {.iterations = 3}});
  Rng rng = Rng::insecure_seed(3);
  EXPECT_EQ(training.fit(*table_file(file.path(), facts.encoder), rng).value().weights.size(),
            10002u);
}

TEST(TrainingEdge, AnEmptyFileIsRefusedAndOneWithoutRowsTrains) {
  const File empty("");
  const Facts facts = table_facts(Schema::from_toml(schema(kX, 5, true)));
  const LinearTraining training(facts, {.budget = Budget::approximate(1, 1e-6)});
  Rng rng = Rng::insecure_seed(4);
  EXPECT_THROW(training.fit(*table_file(empty.path(), facts.encoder), rng), DataError);
  // Under add_remove the number of rows is private: none is as good as some.
  expect_finite_models(schema(kX, 5, true), "x,y\n", LinearKind::logistic);
}

TEST(TrainingEdge, AFileTrainsLikeItsTableWhateverTheBlocksAndThreads) {
  std::string csv = "x,y\n";
  for (int i = 0; i < 2000; ++i) csv += fmt::format("{},{}\n", i % 11, i % 3 == 0);
  const File file(csv);
  const Facts facts =
      facts_as_trained(Schema::from_toml(schema(kX, 2000, true)), LinearKind::logistic);
  const LinearTraining training(facts, {.budget = Budget::approximate(1, 1e-6)});
  const Table table = load_table(file.path(), *facts.encoder);
  Rng reference = Rng::insecure_seed(5);
  const std::vector<double> expected =
      training.fit(*table_in_memory(table), reference).value().weights;
  for (const unsigned threads : {1u, 3u}) {
    for (const std::size_t bytes : {100u, 5000u}) {
      Rng rng = Rng::insecure_seed(5);
      const TableOptions options{.csv = {.threads = threads, .block_bytes = bytes}};
      EXPECT_EQ(training.fit(*table_file(file.path(), facts.encoder, options), rng).value().weights,
                expected);
    }
  }
}

}  // namespace sotto::training_edge_test
