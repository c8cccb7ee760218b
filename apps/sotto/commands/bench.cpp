// Benchmarks that a user can repeat: what privacy costs in time and memory on this machine.
#include "commands.hpp"

namespace sotto::cli {
Command bench_command() {
  return {
      .name = "bench",
      .summary = "measure what privacy costs in time and memory",
      .examples = {{"A private step of a small network against an ordinary one",
                    "sotto bench dpsgd --model softmax --seconds 1"}},
      .commands = {{
          .name = "dpsgd",
          .summary = "a private training step against an ordinary one",
          .description = "Steps of the same model with ordinary LibTorch (forward, backward, "
                         "update) and with per-sample "
                         "clipping, noise and update, in turns; medians, and the peak memory of a "
                         "process for each. Private batches are filled as in training under "
                         "add_remove. Both kinds of noise are measured. With --epoch, whole "
                         "training: the trainer against an ordinary loop that gathers its batches "
                         "in the same way. The data is made up.",
          .examples = {{"A multi-layer perceptron, for one second",
                        "sotto bench dpsgd --model mlp --seconds 1"},
                       {"Training as a program does it, with exact noise",
                        "sotto bench dpsgd --model softmax --noise exact --epoch --seconds 1"}},
          .options = {{.name = "model",
                       .type = Type::choice,
                       .value = "NAME",
                       .help = "which model",
                       .choices = {"softmax", "mlp", "cnn", "cifar_cnn", "embedding", "lstm",
                                   "transformer"},
                       .required = true},
                      {.name = "batch",
                       .type = Type::whole,
                       .value = "B",
                       .help = "records in a batch; the model's usual batch when not given",
                       .range = Range::between(1, 1e6)},
                      {.name = "noise",
                       .type = Type::choice,
                       .value = "KIND",
                       .help = "the kind of noise that the times, shares and memory are of; the "
                               "default of training when not given",
                       .choices = {"exact", "bulk"}},
                      {.name = "epoch",
                       .type = Type::flag,
                       .help = "sampling and gathering of batches too, on both sides"},
                      {.name = "processor-time",
                       .type = Type::flag,
                       .help = "count processor time of all threads instead of time on the wall: "
                               "for machines that do other things too, with --threads 1"},
                      {.name = "seconds",
                       .type = Type::number,
                       .value = "S",
                       .help = "how long to measure",
                       .fallback = "6",
                       .range = Range::between(0, 3600)},
                      {.name = "threads",
                       .type = Type::whole,
                       .value = "N",
                       .help = "threads of both; as many as the machine has when not given",
                       .range = Range::between(1, 1024)},
                      json_option()},
          .run = [](const Arguments&, Context&) {},  // sotto-deep has it (shell/deep_dispatch.hpp)
          .networks = true,
      }},
  };
}

}  // namespace sotto::cli
