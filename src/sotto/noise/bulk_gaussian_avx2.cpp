// The inner loop for processors with AVX2 and FMA; see CMakeLists.txt for its compile options.
#if defined(__AVX2__) && defined(__FMA__)
#define SOTTO_KERNEL_NAME kernel_avx2
#define SOTTO_SMALLEST_NAME smallest_avx2
#include "sotto/noise/detail/bulk_gaussian_kernel.hpp"

namespace sotto::detail {
void gaussian_block_avx2(float* block, float sigma, const float* const soon[2]) {
  kernel_avx2(block, sigma, soon);
}
std::uint32_t smallest_radius_avx2(const float* block) { return smallest_avx2(block); }
}  // namespace sotto::detail
#endif
