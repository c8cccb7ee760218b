#include "sotto/core/random_source.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sotto/core/aes_ctr.hpp"

namespace sotto::random_source_test {

using Block = std::array<std::byte, 16>;

template <class Source>
Block take(Source& source) {
  Block block;
  source.fill(block);
  return block;
}

AesCtr::Seed seed_from_hex(const char* hex) {
  AesCtr::Seed seed;
  for (std::size_t i = 0; i < seed.size(); ++i) {
    unsigned value = 0;
    std::sscanf(hex + 2 * i, "%2x", &value);
    seed[i] = static_cast<std::byte>(value);
  }
  return seed;
}

// NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt): output block = ciphertext ⊕ plaintext.
TEST(AesCtr, MatchesTheNistVector) {
  AesCtr stream(
      seed_from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4f0f1f2f3f4f5f6"
                    "f7f8f9fafbfcfdfeff"));
  const unsigned char expected[16] = {0x0b, 0xdf, 0x7d, 0xf1, 0x59, 0x17, 0x16, 0x33,
                                      0x5e, 0x9a, 0x8b, 0x15, 0xc8, 0x60, 0xc5, 0x02};
  EXPECT_EQ(std::memcmp(take(stream).data(), expected, 16), 0);
}

// Both ways to the same bytes, in pieces of any length, also where the counter carries into its
// upper half or starts again from zero. (Where the processor has no vector AES both are OpenSSL.)
TEST(AesCtr, WideRegistersGiveTheSameBytes) {
  AesCtr::Seed seed;
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::byte>(37 * i + 11);
  for (const std::size_t carried : {0u, 8u, 16u}) {
    for (const int before : {1, 2, 3, 4, 5, 31, 32, 33, 70}) {
      std::fill(seed.end() - static_cast<std::ptrdiff_t>(carried), seed.end(), std::byte{0xff});
      if (carried > 0) seed.back() = static_cast<std::byte>(0x100 - before);
      AesCtr wide(seed), narrow(seed, false);
      for (const std::size_t size :
           {1u, 15u, 16u, 17u, 3u, 64u, 700u, 1u, 5000u, 0u, 512u, 4096u}) {
        std::vector<std::byte> a(size), b(size);
        wide.fill(a);
        narrow.fill(b);
        ASSERT_EQ(a, b) << carried << ' ' << before << ' ' << size;
      }
    }
  }
}

TEST(SecureSource, TwoSourcesAndTheirChildrenDiffer) {
  auto a = secure_source(), b = secure_source(), c = a->split();
  EXPECT_NE(take(*a), take(*b));
  EXPECT_NE(take(*a), take(*c));
  EXPECT_TRUE(a->secure());
}

TEST(SecureSource, ChildOfAForkDoesNotRepeatTheParent) {
  auto source = secure_source();
  take(*source);
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Block block = take(*source);
    _exit(write(channel[1], block.data(), block.size()) == 16 ? 0 : 1);
  }
  Block of_child;
  ASSERT_EQ(read(channel[0], of_child.data(), 16), 16);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(take(*source), of_child);
}

TEST(InsecureSeedSource, RepeatsAndSaysThatItIsNotSecure) {
  auto a = insecure_seed_source(7), b = insecure_seed_source(7), c = insecure_seed_source(8);
  EXPECT_EQ(take(*a), take(*b));
  EXPECT_NE(take(*a), take(*c));
  EXPECT_EQ(take(*insecure_seed_source(9)->split()), take(*insecure_seed_source(9)->split()));
  EXPECT_FALSE(a->secure());
  EXPECT_EQ(a->kind(), "insecure_seed");
}

}  // namespace sotto::random_source_test
