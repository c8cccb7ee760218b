#include "sotto/noise/bulk_gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

#include "sotto/core/aes_ctr.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {
namespace detail {
// One block of random words to normal floats, in place (bulk_gaussian_kernel.hpp).
void gaussian_block_avx512(float* block, float sigma, const float* const soon[2]);
void gaussian_block_avx2(float* block, float sigma, const float* const soon[2]);
void gaussian_block_portable(float* block, float sigma, const float* const soon[2]);
std::uint32_t smallest_radius_avx512(const float* block);
std::uint32_t smallest_radius_avx2(const float* block);
std::uint32_t smallest_radius_portable(const float* block);
}  // namespace detail

namespace {

constexpr std::size_t kPairs = 512,
                      kBlock = GaussianChunks::kPart;  // as in bulk_gaussian_kernel.hpp
static_assert(kBlock == 2 * kPairs);
constexpr std::size_t kPiece =
    4 * kBlock;  // random bytes made at a time: they stay in the first-level cache
constexpr std::uint32_t kRefine = 1u << 16;  // radius words below are in the far tail

struct Kernel {
  const char* name;
  void (*transform)(float*, float, const float* const*);
  std::uint32_t (*smallest)(const float*);
};

Kernel kernel() {
#if defined(SOTTO_BULK_AVX2)
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) return {"avx512", detail::gaussian_block_avx512, detail::smallest_radius_avx512};
  if (avx2) return {"avx2", detail::gaussian_block_avx2, detail::smallest_radius_avx2};
#endif
  return {"portable", detail::gaussian_block_portable, detail::smallest_radius_portable};
}

struct FarPair {
  std::size_t index;
  std::uint32_t radius, angle;
};

// A pair whose radius word is small: 64 more bits below it, and double arithmetic.
void refine(const FarPair& pair, float* block, float sigma, AesCtr& stream) {
  std::array<std::byte, 16> fresh;
  stream.fill(fresh);
  std::uint64_t low = 0;
  std::memcpy(&low, fresh.data(), sizeof low);
  const double u =
      static_cast<double>(pair.radius) * 0x1p-32 + (static_cast<double>(low) + 0.5) * 0x1p-96;
  const double r = static_cast<double>(sigma) * std::sqrt(-2 * std::log(u));
  const double angle = (static_cast<double>(pair.angle) + 0.5) * 0x1p-31 * std::numbers::pi;
  block[pair.index] = static_cast<float>(r * std::cos(angle));
  block[pair.index + kPairs] = static_cast<float>(r * std::sin(angle));
}

void transform_block(float* block, float sigma, const Kernel& kernel, AesCtr& stream,
                     GaussianChunks::Soon soon) {
  if (kernel.smallest(block) >= kRefine) [[likely]] {
    kernel.transform(block, sigma, soon.data());
    return;
  }
  std::vector<FarPair> pairs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const auto radius = std::bit_cast<std::uint32_t>(block[i]);
    if (radius < kRefine)
      pairs.push_back({i, radius, std::bit_cast<std::uint32_t>(block[i + kPairs])});
  }
  kernel.transform(block, sigma, soon.data());
  for (const FarPair& pair : pairs) refine(pair, block, sigma, stream);
}

// The bits are made in the output itself; only a last, partial block needs a place of its own.
void fill_chunk(std::span<float> out, float sigma, const Kernel& kernel, AesCtr& stream) {
  while (out.size() >= kBlock) {
    const auto piece = out.first(std::min(kPiece, out.size() / kBlock * kBlock));
    stream.fill(std::as_writable_bytes(piece));
    for (std::size_t at = 0; at < piece.size(); at += kBlock)
      transform_block(&piece[at], sigma, kernel, stream, {&piece[at], &piece[at]});
    out = out.subspan(piece.size());
  }
  if (out.empty()) return;
  std::array<float, kBlock> last;
  stream.fill(std::as_writable_bytes(std::span(last)));
  transform_block(last.data(), sigma, kernel, stream, {last.data(), last.data()});
  std::copy_n(last.begin(), out.size(), out.begin());
}

void require_chunk(std::size_t draws) {
  if (draws > GaussianChunks::kSize)
    throw InvalidArgument(fmt::format("a chunk has at most {} draws, {} were asked for",
                                      GaussianChunks::kSize, draws));
}

}  // namespace

const char* bulk_gaussian_kernel() { return kernel().name; }

GaussianChunks::GaussianChunks(Rng& rng, float sigma) : sigma_(sigma) {
  if (!(sigma >= 0) || !std::isfinite(sigma)) {
    throw InvalidArgument(fmt::format(
        "Gaussian noise needs a finite standard deviation of at least 0, not {}", sigma));
  }
  rng.fill(seed_);
}

GaussianChunks::~GaussianChunks() { AesCtr::wipe(seed_); }

AesCtr GaussianChunks::stream_of(std::size_t chunk) const {
  // The upper half of the counter is the chunk: ranges of 2^64 blocks that cannot meet.
  AesCtr::Seed own = seed_;
  for (std::size_t byte = 0; byte < 8; ++byte)
    own[32 + byte] = static_cast<std::byte>(chunk >> (56 - 8 * byte));
  std::fill_n(own.begin() + 40, 8, std::byte{0});
  AesCtr stream(own);
  AesCtr::wipe(own);
  return stream;
}

void GaussianChunks::fill(std::size_t chunk, std::span<float> out) const {
  require_chunk(out.size());
  AesCtr stream = stream_of(chunk);
  fill_chunk(out, sigma_, kernel(), stream);
}

// The same bits for the same draws as fill_chunk: a piece of random bytes, its blocks, the next.
void GaussianChunks::visit(std::size_t chunk, std::size_t count, const Use& use) const {
  require_chunk(count);
  AesCtr stream = stream_of(chunk);
  const Kernel own = kernel();
  alignas(64) std::array<float, kPiece> piece;
  Soon soon = {piece.data(), piece.data()};
  for (std::size_t at = 0; at < count;) {
    const std::size_t blocks = std::clamp<std::size_t>((count - at) / kBlock, 1, kPiece / kBlock);
    stream.fill(std::as_writable_bytes(std::span(piece).first(blocks * kBlock)));
    for (std::size_t k = 0; k < blocks; ++k, at += kBlock) {
      float* const block = &piece[k * kBlock];
      transform_block(block, sigma_, own, stream, soon);
      soon = use(at, {block, std::min(kBlock, count - at)});
    }
  }
}

void fill_gaussian(Rng& rng, std::span<float> out, float sigma, int threads) {
  if (threads < 0)
    throw InvalidArgument(fmt::format("the number of threads must be at least 0, not {}", threads));
  const GaussianChunks noise(rng, sigma);
  constexpr std::size_t kSize = GaussianChunks::kSize, kTask = 4 * kSize;  // worth a thread
  parallel_blocks((out.size() + kTask - 1) / kTask, static_cast<unsigned>(threads),
                  [&](std::size_t task, unsigned) {
                    const std::size_t end = std::min(out.size(), (task + 1) * kTask);
                    for (std::size_t at = task * kTask; at < end; at += kSize)
                      noise.fill(at / kSize, out.subspan(at, std::min(kSize, end - at)));
                  });
}

}  // namespace sotto
