#include "sotto/models/linear/row_store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/exact_rows.hpp"

namespace sotto::row_store_test {

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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#endif
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

// Whether the limit was passed may depend on one record: neither a place where no file can be nor a
// full disk may show.
TEST(RowStore, StaysInMemoryWhereNoFileCanBe) {
  const char* old = std::getenv("TMPDIR");
  const std::string kept = old != nullptr ? old : "";
  ::setenv("TMPDIR", "/nonexistent-directory", 1);
  RowStore<float> store(0);
  store.append(std::vector<float>{1, 2});
  store.append(std::vector<float>{3});
  EXPECT_TRUE(store.in_memory());
  EXPECT_EQ(store.data()[0], 1);
  EXPECT_EQ(store.data()[2], 3);
  old != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

TEST(RowStore, StaysInMemoryWhenTheDiskIsFull) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  for (const std::size_t room : {std::size_t{0}, std::size_t{3} << 20, std::size_t{100} << 20}) {
    RowStore<float> store(1 << 20);
    std::vector<float> part(300'001);
    rlimit small = before;
    small.rlim_cur = room;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 8; ++i) {
      std::iota(part.begin(), part.end(), static_cast<float>(i));
      store.append(part);
    }
    bool equal = true;
    for (int i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < part.size(); ++j)
        equal = equal && store.data()[static_cast<std::size_t>(i) * part.size() + j] ==
                             static_cast<float>(static_cast<std::size_t>(i) + j);
    store.append(std::vector<float>{-1});
    equal = equal && store.data()[8 * part.size()] == -1 && store.data()[1] == 1;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_TRUE(equal) << room;
    EXPECT_EQ(store.in_memory(), room < (std::size_t{100} << 20)) << room;
  }
  ::signal(SIGXFSZ, handler);
}

}  // namespace sotto::row_store_test
