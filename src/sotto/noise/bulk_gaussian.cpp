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
void gaussian_block_avx512(float* block, float sigma);
void gaussian_block_avx2(float* block, float sigma);
void gaussian_block_portable(float* block, float sigma);
std::uint32_t smallest_radius_avx512(const float* block);
std::uint32_t smallest_radius_avx2(const float* block);
std::uint32_t smallest_radius_portable(const float* block);
}  // namespace detail

namespace {

constexpr std::size_t kPairs = 512, kBlock = 2 * kPairs;  // as in bulk_gaussian_kernel.hpp
constexpr std::size_t kPiece =
    4 * kBlock;  // random bytes made at a time: they stay in the first-level cache
constexpr std::uint32_t kRefine = 1u << 16;  // radius words below are in the far tail

struct Kernel {
  const char* name;
  void (*transform)(float*, float);
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

void transform_block(float* block, float sigma, const Kernel& kernel, AesCtr& stream) {
  if (kernel.smallest(block) >= kRefine) [[likely]] {
    kernel.transform(block, sigma);
    return;
  }
  std::vector<FarPair> pairs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const auto radius = std::bit_cast<std::uint32_t>(block[i]);
    if (radius < kRefine)
      pairs.push_back({i, radius, std::bit_cast<std::uint32_t>(block[i + kPairs])});
  }
  kernel.transform(block, sigma);
  for (const FarPair& pair : pairs) refine(pair, block, sigma, stream);
}

// The bits are made in the output itself; only a last, partial block needs a place of its own.
void fill_chunk(std::span<float> out, float sigma, const Kernel& kernel, AesCtr& stream) {
  while (out.size() >= kBlock) {
    const auto piece = out.first(std::min(kPiece, out.size() / kBlock * kBlock));
    stream.fill(std::as_writable_bytes(piece));
    for (std::size_t at = 0; at < piece.size(); at += kBlock)
      transform_block(&piece[at], sigma, kernel, stream);
    out = out.subspan(piece.size());
  }
  if (out.empty()) return;
  std::array<float, kBlock> last;
  stream.fill(std::as_writable_bytes(std::span(last)));
  transform_block(last.data(), sigma, kernel, stream);
  std::copy_n(last.begin(), out.size(), out.begin());
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

void GaussianChunks::fill(std::size_t chunk, std::span<float> out) const {
  if (out.size() > kSize)
    throw InvalidArgument(
        fmt::format("a chunk has at most {} draws, {} were asked for", kSize, out.size()));
  // The upper half of the counter is the chunk: ranges of 2^64 blocks that cannot meet.
  AesCtr::Seed own = seed_;
  for (std::size_t byte = 0; byte < 8; ++byte)
    own[32 + byte] = static_cast<std::byte>(chunk >> (56 - 8 * byte));
  std::fill_n(own.begin() + 40, 8, std::byte{0});
  AesCtr stream(own);
  AesCtr::wipe(own);
  fill_chunk(out, sigma_, kernel(), stream);
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
