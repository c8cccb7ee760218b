#include "sotto/learning/source.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sotto/core/error.hpp"

namespace sotto::source_test {

constexpr std::size_t kRows = 9001;

// x, 2·x mod 7 and the number of records.
void add(const Table& block, std::span<int128> sums) {
  for (std::size_t i = 0; i < block.rows(); ++i) {
    const auto x = static_cast<std::int64_t>(block.dense(i)[0] * 1024);
    sums[0] += x;
    sums[1] += 2 * x % 7;
  }
  sums[2] += static_cast<std::int64_t>(block.rows());
}

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    std::ofstream out(path_);
    out << "x,y\n";
    for (std::size_t i = 0; i < kRows; ++i) out << i % 11 << ',' << i % 2 << '\n';
  }
  ~SourceTest() override { std::filesystem::remove(path_); }

  std::string path_ =
      (std::filesystem::temp_directory_path() / fmt::format("sotto_source_{}.csv", ::getpid()))
          .string();
  std::shared_ptr<const Encoder> encoder_ = std::make_shared<Encoder>(
      Schema::from_toml("relation = \"add_remove\"\nrows = 9\n[columns.x]\ntype = \"numeric\"\n"
                        "bounds = [0, 10]\n[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n"));
};

TEST_F(SourceTest, SumsDoNotDependOnBlocksThreadsOrPasses) {
  const Table table = load_table(path_, *encoder_);
  std::vector<int128> expected(3);
  add(table, expected);
  ASSERT_EQ(static_cast<std::size_t>(expected[2]), kRows);
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_EQ(table_in_memory(table, threads)->sum(3, add), expected);
    for (const std::size_t bytes : {500u, 1u << 20}) {
      const auto file =
          table_file(path_, encoder_, {.csv = {.threads = threads, .block_bytes = bytes}});
      for (const std::size_t at_once : {1u, 100u, 5000u, 1000000u})
        EXPECT_EQ(file->sum(3, add, at_once), expected) << bytes << ' ' << at_once;
      file->keep();
      EXPECT_EQ(file->sum(3, add), expected);
    }
  }
}

TEST_F(SourceTest, BlocksHaveAsManyRecordsAsAreAskedForUntilTheLast) {
  const auto file = table_file(path_, encoder_, {.csv = {.threads = 1, .block_bytes = 500}});
  std::vector<std::size_t> sizes;
  file->sum(
      1, [&](const Table& b, std::span<int128>) { sizes.push_back(b.rows()); }, 1000);
  ASSERT_GT(sizes.size(), 1u);
  sizes.pop_back();
  for (const std::size_t size : sizes) EXPECT_GE(size, 1000u);
}

TEST_F(SourceTest, MapKeepsTheOrderOfTheRecords) {
  const Table table = load_table(path_, *encoder_);
  for (Source* source : {table_in_memory(table, 3).release(),
                         table_file(path_, encoder_, {.csv = {.block_bytes = 500}}).release()}) {
    const std::unique_ptr<Source> owner(source);
    std::vector<double> targets;
    source->map<std::vector<double>>(
        [](const Table& b) { return std::vector<double>(b.targets().begin(), b.targets().end()); },
        [&](std::vector<double>&& part) {
          targets.insert(targets.end(), part.begin(), part.end());
        });
    EXPECT_EQ(targets, std::vector<double>(table.targets().begin(), table.targets().end()));
  }
}

TEST_F(SourceTest, AFailureOfAWorkerIsTheFailureOfTheSum) {
  const auto fail = [](const Table&, std::span<int128>) { throw DataError("no"); };
  EXPECT_THROW(table_file(path_, encoder_)->sum(1, fail), DataError);
  const Table table = load_table(path_, *encoder_);
  EXPECT_THROW(table_in_memory(table)->sum(1, fail), DataError);
}

TEST_F(SourceTest, ATableIsNoFolderOfImagesAndTheOtherWayRound) {
  EXPECT_THROW(table_file(path_, encoder_)->images(), Unsupported);
  const auto images = image_folder("/nonexistent", "train", {});
  EXPECT_THROW(images->table(), Unsupported);
  EXPECT_THROW(images->sum(1, add), Unsupported);
  EXPECT_THROW(images->images(), DataError);
}

}  // namespace sotto::source_test
