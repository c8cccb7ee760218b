#include "sotto/data/fingerprint.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Digest = std::array<unsigned char, 32>;

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Read now, unless a witness saw it go by.
std::string content_digest(const std::string& path, const ReadWitness* witness) {
  if (witness != nullptr) {
    if (const auto seen = witness->digest(path)) return *seen;
  }
  const auto source = open_unwatched(path);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
  bool good = hash && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (std::size_t n = buffer.size(); good && n == buffer.size();) {
    n = source->read(buffer);
    good = EVP_DigestUpdate(hash.get(), buffer.data(), n) == 1;
  }
  Digest digest{};
  if (!good || EVP_DigestFinal_ex(hash.get(), digest.data(), nullptr) != 1)
    invariant_broken("OpenSSL refuses SHA-256");
  return hexadecimal(digest);
}

// One line for each file. Names are hashed so that none can imitate a line.
std::string listing(const std::string& path, const ReadWitness* witness) {
  if (!fs::is_directory(path)) return content_digest(path, witness) + "\n";
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_regular_file()) files.insert(entry.path());
  }
  std::string lines;
  for (const fs::path& file : files)
    lines += content_digest(file, witness) + " " + sha256(file.filename().string()) + "\n";
  return lines;
}

std::string keyed(std::string_view key, const std::string& nonce, const std::string& path,
                  const ReadWitness* witness) {
  if (key.size() < kSmallestFingerprintKey)
    throw InvalidArgument(fmt::format("the fingerprint key has {} bytes; at least {} are needed",
                                      key.size(), kSmallestFingerprintKey),
                          "sotto key fingerprint FILE makes one");
  return nonce + ":" +
         keyed_fingerprint(key, "sotto fingerprint\n" + nonce + "\n" + listing(path, witness));
}

}  // namespace

std::string fingerprint(std::string_view key, const std::string& path, const ReadWitness* witness) {
  std::array<std::byte, 16> bytes{};
  system_random(bytes);
  std::string nonce;
  for (std::byte b : bytes) nonce += fmt::format("{:02x}", std::to_integer<int>(b));
  return keyed(key, nonce, path, witness);
}

bool fingerprint_matches(std::string_view text, std::string_view key, const std::string& path,
                         const ReadWitness* witness) {
  const std::string expected =
      keyed(key, std::string(text.substr(0, text.find(':'))), path, witness);
  return expected.size() == text.size() &&
         CRYPTO_memcmp(expected.data(), text.data(), text.size()) == 0;
}

}  // namespace sotto
