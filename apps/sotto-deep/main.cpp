// sotto-deep: runs the calls of sotto that need LibTorch. It has the same table of commands (apps/sotto/helper.hpp).
#include <cstring>

#include "bench_dpsgd.hpp"
#include "deep_commands.hpp"
#include "helper.hpp"
#include "shell.hpp"

int main(int argc, char** argv) {
  using namespace sotto::cli;
  if (argc >= 3 && std::strcmp(argv[1], "bench") == 0 && std::strcmp(argv[2], "dpsgd") == 0)
    return guarded([&] { return sotto::deep::bench_dpsgd({argv + 3, argv + argc}); });
  deep_runs() = {{"train", deep_train}, {"evaluate", deep_evaluate}, {"predict", deep_predict}};
  return run_shell(argc, argv);
}
