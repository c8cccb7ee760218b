// sotto-deep: runs the calls of sotto that need LibTorch. It has the same table of commands
// (apps/sotto/shell/deep_dispatch.hpp).
#include <ATen/Parallel.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bench_dpsgd.hpp"
#include "families.hpp"
#include "shell/deep_dispatch.hpp"
#include "shell/shell.hpp"
#include "sotto/deep/family/network_family.hpp"

int main(int argc, char** argv) {
  using namespace sotto::cli;
  // LibTorch's own choice counts two threads of one core as one.
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  // A step allocates what the step before has freed. Left alone, the allocator hands the end of its
  // heap back to the system after each step and has the pages cleared anew in the next: a tenth of
  // the time of a small network.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that it would reach by itself
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // The benchmark measures memory in processes of their own.
  if (argc == 5 && std::strcmp(argv[1], "peak-memory") == 0)
    return guarded([&] { return print_peak_memory(argv[2], argv[3], argv[4]); });
  host(sotto::deep::network_family());
  deep_runs() = {{"dpsgd", bench_dpsgd}};
  return run_shell(argc, argv);
}
