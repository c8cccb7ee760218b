#include "sotto/core/rng.hpp"

#include <openssl/crypto.h>

namespace sotto {

Rng::Rng(std::unique_ptr<RandomSource> source)
    : source_(std::move(source)),
      active_(source_.get()),
      buffer_(std::make_unique<Buffer>()),
      generation_(fork_generation()) {
  install_fork_hook();
}

Rng::~Rng() {
  if (buffer_) OPENSSL_cleanse(buffer_.get(), sizeof(Buffer));
}

void Rng::refill() {
  active_->fill(std::as_writable_bytes(std::span(*buffer_)));
  generation_ = fork_generation();
  position_ = 0;
  ++refills_;
}

void Rng::fill(std::span<std::byte> out) {
  active_->fill(out);
  bulk_words_ += (out.size() + 7) / 8;
}

// Inside a watched query the stream of that query is split, so that a replay reaches mechanisms
// that draw on several threads.
Rng Rng::split() { return Rng(active_->split()); }

struct Rng::QueryScope::Saved {
  std::unique_ptr<Buffer> buffer;
  std::size_t position;
  std::uint64_t refills, bulk_words;
};

Rng::QueryScope::QueryScope(Rng& rng, const NoisedQuery& query) : rng_(nullptr) {
  if (rng.observer_ == nullptr) [[likely]]
    return;
  rng_ = &rng;
  RandomSource* inside = rng.observer_->begin(query, rng.words());
  if (inside == nullptr) return;
  saved_ = std::make_unique<Saved>(
      Saved{std::move(rng.buffer_), rng.position_, rng.refills_, rng.bulk_words_});
  rng.buffer_ = std::make_unique<Buffer>();
  rng.position_ = kWords;
  rng.active_ = inside;
}

Rng::QueryScope::~QueryScope() {
  if (rng_ == nullptr) return;
  if (saved_) {
    rng_->buffer_ = std::move(saved_->buffer);
    rng_->position_ = saved_->position;
    rng_->refills_ = saved_->refills;
    rng_->bulk_words_ = saved_->bulk_words;
    rng_->active_ = rng_->source_.get();
  }
  rng_->observer_->end();
}

}  // namespace sotto
