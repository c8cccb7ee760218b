// LibTorch's normal_, only for comparison. A file of its own because its headers are slow to
// compile.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

namespace sotto::bench {

void torch_normal(std::size_t count, int threads) {
  static at::Tensor tensor = at::empty({static_cast<std::int64_t>(count)});
  at::set_num_threads(threads);
  tensor.normal_();
}

}  // namespace sotto::bench
