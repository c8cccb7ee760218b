#include "sotto/core/random_source.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "sotto/core/aes_ctr.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

struct ForkHook {
  ForkHook() {
    if (pthread_atfork(nullptr, nullptr,
                       [] { detail::fork_counter.fetch_add(1, std::memory_order_relaxed); }) != 0) {
      invariant_broken("no fork hook could be installed for the random generator");
    }
  }
};

AesCtr system_stream() {
  AesCtr::Seed seed;
  system_random(seed);
  AesCtr stream(seed);
  AesCtr::wipe(seed);
  return stream;
}

class SecureSource final : public RandomSource {
 public:
  SecureSource() : stream_(system_stream()), generation_(fork_generation()) { install_fork_hook(); }

  void fill(std::span<std::byte> out) override {
    if (generation_ !=
        fork_generation()) {  // in a child: the parent has the same state, so take a new one
      stream_ = system_stream();
      generation_ = fork_generation();
    }
    stream_.fill(out);
  }
  std::unique_ptr<RandomSource> split() override { return std::make_unique<SecureSource>(); }
  std::string_view kind() const override { return "aes256ctr"; }
  bool secure() const override { return true; }

 private:
  AesCtr stream_;
  std::uint64_t generation_;
};

class InsecureSeedSource final : public RandomSource {
 public:
  explicit InsecureSeedSource(const AesCtr::Seed& seed) : stream_(seed) {}

  void fill(std::span<std::byte> out) override { stream_.fill(out); }
  std::unique_ptr<RandomSource> split() override {
    AesCtr::Seed seed;
    stream_.fill(seed);
    return std::make_unique<InsecureSeedSource>(seed);
  }
  std::string_view kind() const override { return "insecure_seed"; }

 private:
  AesCtr stream_;
};

}  // namespace

void install_fork_hook() { static const ForkHook hook; }

void system_random(std::span<std::byte> out) {
  while (!out.empty()) {
    ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw StorageError(
          fmt::format("the operating system gives no random bytes: {}", std::strerror(errno)));
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

std::unique_ptr<RandomSource> secure_source() { return std::make_unique<SecureSource>(); }

std::unique_ptr<RandomSource> insecure_seed_source(std::uint64_t seed) {
  AesCtr::Seed bytes{};
  std::memcpy(bytes.data(), &seed, sizeof seed);
  return std::make_unique<InsecureSeedSource>(bytes);
}

}  // namespace sotto
