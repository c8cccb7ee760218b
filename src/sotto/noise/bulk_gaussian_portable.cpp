// The inner loop for any processor; see CMakeLists.txt for its compile options.
#define SOTTO_KERNEL_NAME kernel_portable
#include "sotto/noise/bulk_gaussian_kernel.hpp"

namespace sotto::detail {
void gaussian_block_portable(float* block, float sigma) { kernel_portable(block, sigma); }
}  // namespace sotto::detail
