#include "sotto/data/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "sotto/core/error.hpp"

namespace sotto::picture_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& bytes) {
  try {
    parse_picture(bytes, "it");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return word(static_cast<std::uint32_t>(data.size())) + checked +
         word(static_cast<std::uint32_t>(sum));
}

std::string packed(const std::string& raw) {
  std::string out(compressBound(raw.size()), '\0');
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
           raw.size());
  return out.substr(0, size);
}

struct Png {
  std::uint32_t width = 2, height = 2;
  int bits = 8, colour = 0, interlaced = 0;
  std::string rows, between = "";  // filtered rows; further chunks
};

std::string png(const Png& p) {
  std::string header = word(p.width) + word(p.height);
  for (const int byte : {p.bits, p.colour, 0, 0, p.interlaced}) header += static_cast<char>(byte);
  const std::string all = packed(p.rows);
  const std::size_t half = all.size() / 2;  // pixels may come in several chunks
  return std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", header) + p.between +
         chunk("tEXt", "a remark") + chunk("IDAT", all.substr(0, half)) +
         chunk("IDAT", all.substr(half)) + chunk("IEND", "");
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int v : values) text += static_cast<char>(v);
  return text;
}

TEST(Picture, ReadsGreyAndColouredNetpbmAsTextAndRaw) {
  const Picture text = parse_picture("P2 # grey\n3 2\n# levels\n255\n0 1 2\n253 254 255\n", "it");
  EXPECT_EQ(text.width, 3u);
  EXPECT_EQ(text.height, 2u);
  EXPECT_THAT(text.pixels, ElementsAre(0, 1, 2, 253, 254, 255));
  EXPECT_THAT(parse_picture("P5 3 1 255 " + bytes({7, 35, 255}), "it").pixels,
              ElementsAre(7, 35, 255))
      << "a byte of the body may look like a comment";
  EXPECT_THAT(parse_picture("P5\n2 1\n3\n" + bytes({1, 3}), "it").pixels, ElementsAre(85, 255));
  // (299·r + 587·g + 114·b)/1000, rounded.
  EXPECT_THAT(parse_picture("P6 3 1 255\n" + bytes({255, 0, 0, 0, 255, 0, 0, 0, 255}), "it").pixels,
              ElementsAre(76, 150, 29));
  EXPECT_THAT(parse_picture("P3 1 1 255 255 255 255", "it").pixels, ElementsAre(255));
}

TEST(Picture, UndoesEveryFilterOfAPng) {
  // One 3×5 picture, each row filtered in another way, by hand.
  const std::string rows = bytes({0, 10, 20, 30}) +  // none: 10 20 30
                           bytes({1, 5, 5, 250}) +   // left: 5 10 4
                           bytes({2, 1, 1, 1}) +     // up: 6 11 5
                           bytes({3, 1, 2, 3}) +     // mean: 4 9 10
                           bytes({4, 1, 1, 255});    // paeth: 5 10 9
  const Picture picture = parse_picture(png({.width = 3, .height = 5, .rows = rows}), "it");
  EXPECT_EQ(picture.height, 5u);
  EXPECT_THAT(picture.pixels, ElementsAre(10, 20, 30, 5, 10, 4, 6, 11, 5, 4, 9, 10, 5, 10, 9));
}

TEST(Picture, ReadsColoursAndPalettesOfAPng) {
  EXPECT_THAT(
      parse_picture(
          png({.width = 2, .height = 1, .colour = 2, .rows = bytes({1, 255, 0, 0, 1, 255, 0})}),
          "it")
          .pixels,
      ElementsAre(76, 150))
      << "three bytes a pixel: the second is (0, 255, 0)";
  const std::string palette = chunk("PLTE", bytes({0, 0, 0, 9, 9, 9}));
  EXPECT_THAT(parse_picture(png({.width = 3,
                                 .height = 1,
                                 .colour = 3,
                                 .rows = bytes({0, 1, 0, 1}),
                                 .between = palette}),
                            "it")
                  .pixels,
              ElementsAre(9, 0, 9));
}

TEST(Picture, RefusesByNameWhatItDoesNotRead) {
  const std::string rows = bytes({0, 1, 2, 0, 3, 4});
  EXPECT_EQ(error_of(png({.rows = rows})), "no error");
  EXPECT_THAT(error_of(png({.bits = 16, .rows = rows})), HasSubstr("8 bits"));
  EXPECT_THAT(error_of(png({.colour = 6, .rows = rows})), HasSubstr("transparency"));
  EXPECT_THAT(error_of(png({.rows = rows, .between = chunk("tRNS", "ab")})),
              HasSubstr("transparency"));
  EXPECT_THAT(error_of(png({.interlaced = 1, .rows = rows})), HasSubstr("interlaced"));
  EXPECT_THAT(error_of(png({.rows = rows, .between = chunk("CgBI", "")})), HasSubstr("not known"));
  EXPECT_THAT(error_of(png({.width = 1 << 20, .rows = rows})), HasSubstr("side"));
  EXPECT_THAT(error_of(png({.width = 0, .rows = rows})), HasSubstr("side"));
  EXPECT_THAT(error_of(png({.rows = bytes({5, 1, 2, 0, 3, 4})})), HasSubstr("filtered"));
  EXPECT_THAT(error_of(png({.rows = bytes({0, 1, 2, 0, 3})})), HasSubstr("unpack"));
  EXPECT_THAT(error_of(png({.rows = bytes({0, 1, 2, 0, 3, 4, 5})})), HasSubstr("unpack"));
  EXPECT_THAT(error_of(png({.colour = 3, .rows = rows})), HasSubstr("palette"));
  std::string damaged = png({.rows = rows});
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  EXPECT_THAT(error_of(damaged), HasSubstr("checksum"));
  EXPECT_THAT(error_of(damaged.substr(0, 60)), HasSubstr(""));
  EXPECT_THAT(error_of("P5 2 1 65535 abcd"), HasSubstr("65535"));
  EXPECT_THAT(error_of("P5 2 1 255 a"), HasSubstr("as many bytes"));
  EXPECT_THAT(error_of("P5 2 1 255 abc"), HasSubstr("as many bytes"));
  EXPECT_THAT(error_of("P5 99999999999 1 255 a"), HasSubstr("too large"));
  EXPECT_THAT(error_of("P5 2"), HasSubstr("missing"));
  EXPECT_THAT(error_of("P2 2 1 9 1 10"), HasSubstr("larger"));
  EXPECT_THAT(error_of("P2 2 1 9 1 1 1"), HasSubstr("after"));
  EXPECT_THAT(error_of("P4 8 1 a"), HasSubstr("neither"));
  EXPECT_THAT(error_of(""), HasSubstr("neither"));
}

TEST(Picture, AShortFileTakesLittleMemory) {
  EXPECT_THAT(error_of(png({.width = 1 << 14, .height = 1 << 14, .rows = "a"})),
              HasSubstr("too early"));
  EXPECT_THAT(error_of("P2 16384 16384 255 1"), HasSubstr("as many numbers"));
}

TEST(Picture, MutatedFilesNeverCrash) {
  std::mt19937 random(1);
  const std::string good = png({.rows = bytes({0, 1, 2, 0, 3, 4})});
  for (int i = 0; i < 2000; ++i) {
    std::string bad = i % 2 == 0 ? good : "P2 2 2 255 1 2 3 4";
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    error_of(bad.substr(0, random() % (bad.size() + 1)));
  }
}

TEST(Picture, IsToldByItsName) {
  for (const char* name : {"a.png", "A.PNG", "b.pgm", "c.ppm.gz", "d.pnm"})
    EXPECT_TRUE(is_picture_name(name)) << name;
  for (const char* name : {"a.jpg", "png", "t10k-images-idx3-ubyte", "a.png.txt", ""})
    EXPECT_FALSE(is_picture_name(name)) << name;
}

}  // namespace sotto::picture_test
