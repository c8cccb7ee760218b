#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sotto/core/error.hpp"
#include "sotto/data/idx.hpp"
#include "sotto/data/npy.hpp"
#include "temporary_file_test.hpp"

namespace sotto::arrays_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

template <class T>
std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& values,
                int version = 1, const std::string& order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header += "      \n";
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  bytes += header;
  if (!values.empty())
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

TEST(Npy, ReadsEveryTypeAndVersion) {
  for (const int version : {1, 2, 3}) {
    const NpyArray a = parse_npy(npy<double>("<f8", "(2, 2)", {1, 2, 3, 4.5}, version), "a");
    EXPECT_THAT(a.shape, ElementsAre(2, 2));
    EXPECT_THAT(a.values, ElementsAre(1, 2, 3, 4.5));
  }
  EXPECT_THAT(parse_npy(npy<float>("<f4", "(2,)", {1.5F, -2}), "a").values, ElementsAre(1.5, -2));
  EXPECT_THAT(parse_npy(npy<std::int32_t>("<i4", "(2,)", {7, -2}), "a").values, ElementsAre(7, -2));
  EXPECT_THAT(parse_npy(npy<std::int64_t>("<i8", "()", {1LL << 40}), "a").values,
              ElementsAre(0x1p40));
  EXPECT_THAT(parse_npy(npy<std::uint8_t>("|u1", "(3,)", {0, 255, 3}), "a").values,
              ElementsAre(0, 255, 3));
  EXPECT_EQ(parse_npy(npy<double>("<f8", "(0, 5)", {}), "a").values.size(), 0U);
}

TEST(Npy, WritesWhatItReads) {
  const TemporaryFile file("");
  const NpyArray array{{2, 3}, {1, 2, 3, 4, 5, 0.1}};
  write_npy(file.path(), array);
  const NpyArray back = read_npy(file.path());
  EXPECT_EQ(back.shape, array.shape);
  EXPECT_EQ(back.values, array.values);
}

TEST(Npy, RefusesHostileFiles) {
  const std::string good = npy<double>("<f8", "(2,)", {1, 2});
  EXPECT_THAT(error_of([] { parse_npy("", "f"); }), HasSubstr("f: not a .npy file"));
  EXPECT_THAT(error_of([&] { parse_npy(good + "x", "f"); }), HasSubstr("bytes after the array"));
  EXPECT_THAT(error_of([&] { parse_npy(std::string_view(good).substr(0, good.size() - 1), "f"); }),
              HasSubstr("ends before"));
  EXPECT_THAT(
      error_of([] { parse_npy(npy<double>("<f8", "(99999999999, 99999999999)", {}), "f"); }),
      HasSubstr("more than"));
  EXPECT_THAT(
      error_of([] { parse_npy(npy<double>("<f8", "(65536, 65536, 65536, 65536)", {}), "f"); }),
      HasSubstr("more than"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>("<f8", "(4000000000,)", {1}), "f"); }),
              HasSubstr("ends before"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>("|O", "(1,)", {1}), "f"); }),
              HasSubstr("type is not one of"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>(">f8", "(1,)", {1}), "f"); }),
              HasSubstr("type is not one of"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>("<f8", "(1,)", {1}, 4), "f"); }),
              HasSubstr("must be 1, 2 or 3"));
  EXPECT_THAT(error_of([] {
                parse_npy(npy<double>("<f8", "(2, 2)", {1, 2, 3, 4}, 1, "True"), "f");
              }),
              HasSubstr("Fortran"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>("<f8", "(-1,)", {1}), "f"); }),
              HasSubstr("syntax error"));
  EXPECT_THAT(error_of([] { parse_npy(npy<double>("<f8", "(1,", {1}), "f"); }),
              HasSubstr("syntax error"));
}

TEST(Npy, MutatedFilesNeverCrash) {
  std::mt19937_64 random(2);
  const std::string good = npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6});
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (int i = 0; i < 3 && !bytes.empty(); ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    error_of([&] { parse_npy(bytes, "f", {.max_elements = 1000}); });
  }
}

TEST(Idx, ReadsImagesAndLabels) {
  const std::string images(
      "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02"
      "abcd",
      20);
  const IdxArray a = parse_idx(images, "f");
  EXPECT_THAT(a.shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(a.values, ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(parse_idx(std::string("\0\0\x08\x01\0\0\0\x01\x05", 9), "f").values, ElementsAre(5));
}

TEST(Idx, RefusesHostileFiles) {
  EXPECT_THAT(error_of([] { parse_idx("", "f"); }), HasSubstr("header is incomplete"));
  EXPECT_THAT(error_of([] { parse_idx("abcd", "f"); }), HasSubstr("not an IDX file"));
  EXPECT_THAT(error_of([] { parse_idx(std::string("\0\0\x0d\x01\0\0\0\x01\x05", 9), "f"); }),
              HasSubstr("unsigned bytes"));
  EXPECT_THAT(error_of([] { parse_idx(std::string("\0\0\x08\x01\xff\xff\xff\xff\x05", 9), "f"); }),
              HasSubstr("ends before"));
  EXPECT_THAT(error_of([] {
                parse_idx(std::string("\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", 12), "f");
              }),
              HasSubstr("too large"));
  EXPECT_THAT(error_of([] { parse_idx(std::string("\0\0\x08\x01\0\0\0\x01\x05\x06", 10), "f"); }),
              HasSubstr("bytes after"));
}

}  // namespace sotto::arrays_test
