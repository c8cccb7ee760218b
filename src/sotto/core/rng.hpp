// Rng: the generator every mechanism draws from.
//
// What       A buffered stream of 64-bit words over a RandomSource, plus the seam through which
//            tests watch noised queries.
// Guarantee  Secure unless made with insecure_seed or a test source; words drawn before a fork are
//            not drawn again in the child.
// Method     Buffer of 4 KiB; no lock, no virtual call per draw. One Rng per thread: rng.split()
//            gives independent ones.
// Numerics   Words are uniform on [0, 2^64).
// Reference  docs/adr/0004-random-generator.md.
//
// Watching queries. A mechanism announces each noised query through query(): what is noised, with
// which sensitivity and scale.
// In production nobody listens and this costs one comparison. A test harness listens, checks that
// the same randomness on neighbouring data gives queries no further apart than declared, and gives
// every query its own replayable stream, so that a mechanism whose *internal* use of randomness
// depends on its noise (rejection sampling) does not shift what follows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "sotto/core/norm.hpp"
#include "sotto/core/random_source.hpp"

namespace sotto {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// What a mechanism is about to noise. `values`, `sensitivity` and `scale` are in the same unit.
struct NoisedQuery {
  std::string_view mechanism;  // "discrete_laplace", "exponential", …
  std::variant<std::span<const double>, std::span<const std::int64_t>, std::span<const int128>>
      values;
  double sensitivity = 0;
  Norm norm = Norm::l1;
  double scale = 0;
};

class QueryObserver {
 public:
  using Values = std::variant<std::span<double>, std::span<std::int64_t>, std::span<int128>>;

  virtual ~QueryObserver() = default;
  // words: how many words the main stream has given so far. Returns the source to use inside the
  // query, or null for the main one.
  virtual RandomSource* begin(const NoisedQuery& query, std::uint64_t words) = 0;
  // The noisy result, just before it leaves the mechanism. A replay overwrites it with what the
  // recorded run released, so that both runs go on from the same public past and later queries can
  // be compared.
  virtual void publish(Values result) = 0;
  virtual void end() = 0;
};

class Rng {
 public:
  Rng() : Rng(secure_source()) {}
  explicit Rng(std::unique_ptr<RandomSource> source);
  static Rng insecure_seed(std::uint64_t seed) { return Rng(insecure_seed_source(seed)); }
  ~Rng();
  Rng(Rng&&) = default;
  Rng& operator=(Rng&&) = default;

  std::uint64_t next_u64() {
    if (position_ == kWords || generation_ != fork_generation()) [[unlikely]]
      refill();
    return (*buffer_)[position_++];
  }
  void fill(std::span<std::byte> out);  // bulk: straight from the source, not through the buffer

  Rng split();  // an independent generator, e.g. for another thread
  std::string_view kind() const { return source_->kind(); }
  bool secure() const { return source_->secure(); }
  // Words drawn so far. A fresh generator has a used-up buffer and no refills, hence the two kWords
  // cancel.
  std::uint64_t words() const { return refills_ * kWords + position_ - kWords + bulk_words_; }

  void watch(QueryObserver* observer) { observer_ = observer; }
  bool watched() const { return observer_ != nullptr; }

  // Alive while a mechanism noises one query.
  class QueryScope {
   public:
    QueryScope(Rng& rng, const NoisedQuery& query);
    ~QueryScope();
    QueryScope(const QueryScope&) = delete;
    QueryScope& operator=(const QueryScope&) = delete;

    // Every mechanism hands its result through here last. Does nothing unless somebody listens.
    void publish(QueryObserver::Values result) {
      if (rng_ != nullptr) rng_->observer_->publish(result);
    }

   private:
    struct Saved;
    Rng* rng_;  // null when nobody listens
    std::unique_ptr<Saved> saved_;
  };
  [[nodiscard]] QueryScope query(const NoisedQuery& query) { return QueryScope(*this, query); }

 private:
  static constexpr std::size_t kWords = 512;
  using Buffer = std::array<std::uint64_t, kWords>;
  void refill();

  std::unique_ptr<RandomSource> source_;
  RandomSource* active_ = nullptr;  // source_ except inside a watched query
  std::unique_ptr<Buffer> buffer_;
  std::size_t position_ = kWords;
  std::uint64_t generation_ = 0, refills_ = 0, bulk_words_ = 0;
  QueryObserver* observer_ = nullptr;
};

}  // namespace sotto
