// The inner loop for any processor; see CMakeLists.txt for its compile options.
#define SOTTO_KERNEL_NAME kernel_portable
#define SOTTO_SMALLEST_NAME smallest_portable
#include "sotto/noise/detail/bulk_gaussian_kernel.hpp"

namespace sotto::detail {
void gaussian_block_portable(float* block, float sigma, const float* const soon[2]) {
  kernel_portable(block, sigma, soon);
}
std::uint32_t smallest_radius_portable(const float* block) { return smallest_portable(block); }
}  // namespace sotto::detail
