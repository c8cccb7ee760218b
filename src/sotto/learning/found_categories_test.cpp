#include "sotto/learning/detail/found_categories.hpp"

#include <gtest/gtest.h>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/encoder.hpp"

namespace sotto::found_categories_test {

Schema schema_of(const std::string& more = {}) {
  const std::string user = more.find("unit") != std::string::npos
                               ? "[columns.who]\ntype = \"text\"\nrole = \"user\"\n"
                               : "";
  return Schema::from_toml("relation = \"add_remove\"\nrows = 1000\nmissing_values = [\"?\"]\n" +
                           more + R"(
[columns.x]
type = "numeric"
bounds = [0, 1]
[columns.city]
type = "ignore"
[columns.job]
type = "ignore"
[columns.y]
type = "boolean"
role = "target"
)" + user);
}

const FoundCategories::Options kBoth = {{"city", "job"}, 4};

std::string file_of(std::size_t rows) {
  std::string text = "x,city,job,y,who\n";
  const char* const cities[] = {"Turin", "Milan", "Rome", " Turin "};
  for (std::size_t i = 0; i < rows; ++i)
    text += "0.5," + std::string(cities[i % 4]) + "," + (i % 2 == 0 ? "?" : "baker") + ",true,u" +
            std::to_string(i) + "\n";
  return text + "0.5,Atlantis,,true,u0\n";
}

TEST(FoundCategories, CommonValuesAreFoundAndRareOnesAreOther) {
  const FoundCategories plan(schema_of(), kBoth, 2, 1e-6);
  CsvReader file = CsvReader::from_text(file_of(1000));
  Rng rng = Rng::insecure_seed(1);
  const Release<Schema> found = plan.run(file, rng);
  EXPECT_EQ(found.event, plan.event());
  const ColumnSchema& city = found.value.column("city");
  EXPECT_EQ(city.type, ColumnType::categorical);
  EXPECT_EQ(city.missing, Missing::other);
  EXPECT_EQ(city.values, (std::vector<std::string>{"Milan", "Rome", "Turin", "(unused 1)"}));
  EXPECT_EQ(found.value.column("job").values.front(), "baker");  // what is missing is no value
  EXPECT_EQ(found.value.column("job").values.size(), 4u);
}

// What is planned before data is read has the size of what is found in it.
TEST(FoundCategories, AsManyValuesAreExpectedAsAreFound) {
  const FoundCategories plan(schema_of(), kBoth, 2, 1e-6);
  for (const std::size_t rows : {0u, 1000u}) {
    CsvReader file = CsvReader::from_text(file_of(rows));
    Rng rng = Rng::insecure_seed(1);
    const Schema found = plan.run(file, rng).value;
    EXPECT_EQ(Encoder(found).width(), Encoder(plan.expected()).width());
  }
}

TEST(FoundCategories, CostsWhatItWasGivenInBothParts) {
  for (const char* more : {"", "unit = \"user\"\nmax_contributions = 3\n"}) {
    const FoundCategories plan(schema_of(more), kBoth, 2, 1e-6);
    const Spec spec{Relation::add_remove, {plan.event()}};
    EXPECT_LE(guarantee(spec, 1e-6).upper, 2 + 1e-9);
    EXPECT_ANY_THROW(guarantee(spec, 1e-7));  // δ is charged
  }
}

// A user with a thousand records and a city of their own is as hidden as one with three.
TEST(FoundCategories, AUserCountsOnlySoOften) {
  const FoundCategories plan(schema_of("unit = \"user\"\nmax_contributions = 3\n"), kBoth, 20,
                             1e-6);
  std::string text = file_of(1000);
  for (int i = 0; i < 1000; ++i) text += "0.5,Ys,diver,true,one\n";
  CsvReader file = CsvReader::from_text(text);
  Rng rng = Rng::insecure_seed(1);
  const Schema found = plan.run(file, rng).value;
  EXPECT_EQ(found.column("city").values,
            (std::vector<std::string>{"Milan", "Rome", "Turin", "(unused 1)"}));
}

TEST(FoundCategories, RefusesWhatCannotBeFound) {
  const auto plan = [](FoundCategories::Options options) {
    return FoundCategories(schema_of(), std::move(options), 1, 1e-6);
  };
  EXPECT_THROW(plan({{}, 4}), InvalidArgument);
  EXPECT_THROW(plan({{"y"}, 4}), InvalidArgument);
  EXPECT_THROW(plan({{"city", "city"}, 4}), InvalidArgument);
  EXPECT_THROW(plan({{"town"}, 4}), DataError);
  EXPECT_THROW(plan({{"city"}, 0}), InvalidArgument);
}

}  // namespace sotto::found_categories_test
