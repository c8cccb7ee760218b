#include "sotto/data/fingerprint.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/source_error.hpp"

namespace sotto::fingerprint_test {

struct FingerprintTest : ::testing::Test {
  std::filesystem::path place = std::filesystem::path(::testing::TempDir()) /
                                ("sotto-fingerprint-" + std::to_string(::getpid()));
  std::string key = std::string(32, 'k');
  FingerprintTest() { std::filesystem::create_directories(place); }
  ~FingerprintTest() override { std::filesystem::remove_all(place); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(place / name, std::ios::binary) << text;
    return (place / name).string();
  }
};

TEST_F(FingerprintTest, IsThatOfItsDataAndKeyOnly) {
  const std::string data = file("a.csv", "age\n30\n40\n"), other = file("b.csv", "age\n30\n41\n");
  const std::string text = fingerprint(key, data);
  EXPECT_EQ(text.size(), 32u + 1 + 64);
  EXPECT_TRUE(fingerprint_matches(text, key, data));
  EXPECT_FALSE(fingerprint_matches(text, key, other));
  EXPECT_FALSE(fingerprint_matches(text, std::string(32, 'l'), data));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(fingerprint_matches(changed, key, data)) << i;
  }
}

// Whoever replaces or rewrites the file after it was read does not change what the fingerprint
// says.
TEST_F(FingerprintTest, IsThatOfWhatWasReadAndNotOfWhatIsThereAfterwards) {
  const std::string data = file("a.csv", "age\n30\n40\n"), same = file("same.csv", "age\n30\n40\n");
  const ReadWitness witness;
  char head[4];
  open_bytes(data)->read(head);  // a look at the first bytes is no reading
  EXPECT_FALSE(witness.digest(data));
  EXPECT_EQ(read_all((place / "." / "a.csv").string(), 1000), "age\n30\n40\n");
  file("a.csv", "age\n31\n41\n");
  const std::string text = fingerprint(key, data, &witness);
  EXPECT_TRUE(fingerprint_matches(text, key, same));
  EXPECT_FALSE(fingerprint_matches(text, key, data));
  EXPECT_TRUE(fingerprint_matches(text, key, data, &witness));
  // The same for a directory: what was read, as it was; the rest, as it is.
  const std::string folder = fingerprint(key, place.string(), &witness);
  EXPECT_FALSE(fingerprint_matches(folder, key, place.string()));
  EXPECT_EQ(read_all(data, 1000), "age\n31\n41\n");
  EXPECT_THROW(fingerprint(key, data, &witness), DataError);
}

TEST_F(FingerprintTest, DoesNotShowThatTwoDataSetsAreEqual) {
  const std::string data = file("a.csv", "age\n30\n");
  EXPECT_NE(fingerprint(key, data), fingerprint(key, data));
}

// HMAC by hand, from its definition: python3 -c "import
// hmac,hashlib;d=hashlib.sha256(b'abc').hexdigest(); print(hmac.new(b'k'*32,('sotto
// fingerprint\n'+'0'*32+'\n'+d+'\n').encode(),hashlib.sha256).hexdigest())"
TEST_F(FingerprintTest, IsHmacOfNonceAndDigest) {
  EXPECT_TRUE(fingerprint_matches(
      std::string(32, '0') + ":"
                             "2c4fbf54591d6d0f2d005ad78db825e152c32f369a91a95eb2c4bb8fe52921d3",
      key, file("a", "abc")));
}

TEST_F(FingerprintTest, CoversEveryFileOfADirectory) {
  file("images", "one"), file("labels", "two");
  const std::string text = fingerprint(key, place.string());
  EXPECT_TRUE(fingerprint_matches(text, key, place.string()));
  file("labels", "tvo");
  EXPECT_FALSE(fingerprint_matches(text, key, place.string()));
  file("labels", "two");
  std::filesystem::rename(place / "labels", place / "targets");
  EXPECT_FALSE(fingerprint_matches(text, key, place.string()));
}

TEST_F(FingerprintTest, NeedsAKeyThatCannotBeGuessed) {
  const std::string data = file("a.csv", "age\n30\n");
  EXPECT_THROW(fingerprint("", data), InvalidArgument);
  EXPECT_THROW(fingerprint(std::string(31, 'k'), data), InvalidArgument);
  EXPECT_THROW(fingerprint(key, data + ".absent"), SourceError);
}

}  // namespace sotto::fingerprint_test
