// The inner loop for processors with AVX-512; see CMakeLists.txt for its compile options.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define SOTTO_KERNEL_NAME kernel_avx512
#define SOTTO_SMALLEST_NAME smallest_avx512
#include "sotto/noise/detail/bulk_gaussian_kernel.hpp"

namespace sotto::detail {
void gaussian_block_avx512(float* block, float sigma, const float* const soon[2]) {
  kernel_avx512(block, sigma, soon);
}
std::uint32_t smallest_radius_avx512(const float* block) { return smallest_avx512(block); }
}  // namespace sotto::detail
#endif
