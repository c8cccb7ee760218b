// Splits a range of blocks over threads. For work whose result does not depend on how it is split:
// sums on an integer grid.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace sotto {

// 0 means as many as the machine has.
inline unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

// Calls f(block, thread) once for every block in [0, blocks). The first exception is thrown again
// here.
template <class F>
void parallel_blocks(std::size_t blocks, unsigned threads, F&& f) {
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(thread_count(threads), blocks));
  if (workers <= 1) {
    for (std::size_t b = 0; b < blocks; ++b) f(b, 0u);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto work = [&](unsigned thread) {
    try {
      for (std::size_t b = next++; b < blocks && !failed; b = next++) f(b, thread);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 1; t < workers; ++t) pool.emplace_back(work, t);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sotto
