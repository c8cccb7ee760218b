#include "sotto/models/linear/row_store.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/exact_rows.hpp"

namespace sotto {
namespace {

TEST(RowStore, GivesBackWhatWasStoredWhereverItIs) {
  for (const std::size_t limit : {std::size_t{0}, std::size_t{4000}, std::size_t{1} << 30}) {
    RowStore<float> store(limit);
    std::vector<float> expected;
    for (int part = 0; part < 50; ++part) {
      std::vector<float> values(100 + static_cast<std::size_t>(part));
      std::iota(values.begin(), values.end(), static_cast<float>(expected.size()));
      store.append(values);
      expected.insert(expected.end(), values.begin(), values.end());
      if (part % 7 == 0) {  // reading in between changes nothing
        EXPECT_EQ(store.data()[expected.size() - 1], expected.back());
        store.done(0, expected.size());
      }
    }
    EXPECT_EQ(store.in_memory(), limit > 1000000);
    ASSERT_EQ(store.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), store.data()));
    store.done(10, 3000);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), store.data()));
    RowStore<float> moved = std::move(store);
    EXPECT_EQ(moved.data()[5], 5.0f);
  }
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

TEST(RowStore, MemoryDoesNotGrowWithTheNumberOfRows) {
  if (!std::ifstream("/proc/self/statm")) GTEST_SKIP() << "no /proc here";
  RowStore<float> store(std::size_t{1} << 20);
  const std::vector<float> part(1 << 18, 1.5f);  // 1 MiB
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 64; ++i) store.append(part);
  double sum = 0;
  std::size_t most = 0;
  for (std::size_t first = 0; first < store.size(); first += part.size()) {
    for (std::size_t i = 0; i < part.size(); ++i) sum += store.data()[first + i];
    most = std::max(most, resident_bytes());
    store.done(first, part.size());
  }
  EXPECT_EQ(sum, 1.5 * static_cast<double>(store.size()));
  EXPECT_LT(most, before + (std::size_t{16} << 20));
}

TEST(RowStore, SaysWhereTheFileCannotBe) {
  const char* old = std::getenv("TMPDIR");
  const std::string kept = old != nullptr ? old : "";
  ::setenv("TMPDIR", "/nonexistent-directory", 1);
  RowStore<float> store(0);
  EXPECT_THROW(store.append(std::vector<float>{1}), DataError);
  old != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace sotto
