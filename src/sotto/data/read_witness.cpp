#include "sotto/data/read_witness.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

std::string normal(const std::string& path) {
  return path == "-" ? path : std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

struct ReadWitness::Seen {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> digests;  // of each path, each reading

  static std::mutex& turn() {
    static std::mutex mutex;
    return mutex;
  }
  static std::shared_ptr<Seen>& current() {
    static std::shared_ptr<Seen> seen;
    return seen;
  }
};

namespace {

struct Freed {
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
};

void check(bool good) {
  if (!good) invariant_broken("OpenSSL refuses SHA-256");
}

class WatchedSource final : public ByteSource {
 public:
  using Note = std::function<void(const std::string&)>;
  WatchedSource(std::unique_ptr<ByteSource> source, Note note)
      : source_(std::move(source)), note_(std::move(note)), hash_(EVP_MD_CTX_new()) {
    check(hash_ && EVP_DigestInit_ex(hash_.get(), EVP_sha256(), nullptr) == 1);
  }

  std::size_t read(std::span<char> out) override {
    const std::size_t n = source_->read(out);
    if (ended_) return n;
    check(EVP_DigestUpdate(hash_.get(), out.data(), n) == 1);
    if (n == out.size()) return n;
    ended_ = true;
    std::array<unsigned char, 32> digest{};
    check(EVP_DigestFinal_ex(hash_.get(), digest.data(), nullptr) == 1);
    std::string text;
    for (unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    note_(text);
    return n;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  Note note_;
  std::unique_ptr<EVP_MD_CTX, Freed> hash_;
  bool ended_ = false;
};

}  // namespace

ReadWitness::ReadWitness() : seen_(std::make_shared<Seen>()) {
  const std::scoped_lock lock(Seen::turn());
  if (Seen::current()) invariant_broken("two witnesses of what is read at a time");
  Seen::current() = seen_;
}

ReadWitness::~ReadWitness() {
  const std::scoped_lock lock(Seen::turn());
  Seen::current().reset();
}

std::unique_ptr<ByteSource> ReadWitness::watched(std::unique_ptr<ByteSource> source,
                                                 const std::string& path) {
  std::shared_ptr<Seen> seen;
  {
    const std::scoped_lock lock(Seen::turn());
    seen = Seen::current();
  }
  if (!seen) return source;
  return std::make_unique<WatchedSource>(std::move(source),
                                         [seen, name = normal(path)](const std::string& digest) {
                                           const std::scoped_lock lock(seen->mutex);
                                           seen->digests[name].insert(digest);
                                         });
}

std::optional<std::string> ReadWitness::digest(const std::string& path) const {
  const std::scoped_lock lock(seen_->mutex);
  const auto it = seen_->digests.find(normal(path));
  if (it == seen_->digests.end()) return std::nullopt;
  if (it->second.size() > 1)
    throw DataError(fmt::format("{} changed while it was read", path),
                    "give a file that nobody writes to");
  return *it->second.begin();
}

}  // namespace sotto
