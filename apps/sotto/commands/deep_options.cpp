#include "deep_options.hpp"

#include <algorithm>
#include <filesystem>

namespace sotto::cli {

bool is_network(const Arguments& arguments) {
  return std::find(kNetworks.begin(), kNetworks.end(), arguments.text("model")) != kNetworks.end();
}

bool is_deep_artifact(const Arguments& arguments) {
  std::error_code ignored;
  return std::filesystem::exists(
      std::filesystem::path(arguments.text("model")) / "model.safetensors", ignored);
}

std::vector<Option> network_options() {
  std::vector<Option> options = {
      {.name = "rows",
       .type = Type::whole,
       .value = "N",
       .help = "declared number of images, a public figure; default 60000, as in MNIST and its "
               "relatives",
       .range = Range::from(1)},
      {.name = "classes",
       .type = Type::whole,
       .value = "K",
       .help = "declared number of classes of images",
       .fallback = "10",
       .range = Range::from(2)},
      {.name = "image",
       .type = Type::text,
       .value = "HxW",
       .help = "declared size of images",
       .fallback = "28x28"},
      {.name = "relation",
       .type = Type::choice,
       .value = "R",
       .help = "which image sets are neighbours; tables have it in their schema",
       .fallback = "add_remove",
       .choices = {"add_remove", "replace_one", "zero_out"}},
      {.name = "epochs",
       .type = Type::number,
       .value = "E",
       .help = "expected passes over the data; default by a public rule",
       .range = Range::above(0)},
      {.name = "steps",
       .type = Type::whole,
       .value = "T",
       .help = "steps, instead of --epochs",
       .range = Range::from(1)},
      {.name = "clip",
       .type = Type::number,
       .value = "C",
       .help = "norm to which each record's gradient is clipped; default by a public rule",
       .range = Range::above(0)},
      {.name = "clipping",
       .type = Type::choice,
       .value = "RULE",
       .help = "how gradients are clipped; adaptive follows a private quantile of their norms",
       .fallback = "flat",
       .choices = {"flat", "per_layer", "normalised", "adaptive"}},
      {.name = "noise-multiplier",
       .type = Type::number,
       .value = "Z",
       .help = "noise by hand; with --epsilon the steps stop when the budget is spent",
       .range = Range::above(0)},
      {.name = "sampling",
       .type = Type::choice,
       .value = "S",
       .help = "how batches are drawn",
       .fallback = "poisson",
       .choices = {"poisson", "without_replacement", "with_replacement", "full_batch"}},
      {.name = "noise",
       .type = Type::choice,
       .value = "N",
       .help =
           "exact noise on an integer grid, or bulk floats; auto: exact up to 65 536 parameters",
       .fallback = "auto",
       .choices = {"auto", "exact", "bulk"}},
      {.name = "optimizer",
       .type = Type::choice,
       .value = "O",
       .help = "what moves the weights",
       .fallback = "sgd",
       .choices = {"sgd", "adam", "adamw"}},
      {.name = "learning-rate",
       .type = Type::number,
       .value = "L",
       .help = "step size; default by a public rule",
       .range = Range::above(0)},
      {.name = "momentum",
       .type = Type::number,
       .value = "M",
       .help = "of sgd; default by a public rule",
       .range = {.lower = 0, .upper = 1, .open_upper = true}},
      {.name = "schedule",
       .type = Type::choice,
       .value = "S",
       .help = "of the learning rate",
       .fallback = "constant",
       .choices = {"constant", "linear", "cosine"}},
      {.name = "warmup",
       .type = Type::number,
       .value = "F",
       .help = "fraction of the steps in which the rate rises",
       .fallback = "0",
       .range = {.lower = 0, .upper = 1, .open_upper = true}},
      {.name = "weight-decay",
       .type = Type::number,
       .value = "W",
       .help = "shrinks the weights",
       .fallback = "0",
       .range = Range::from(0)},
      {.name = "hidden",
       .type = Type::list,
       .value = "W,W,…",
       .help = "widths of the hidden layers of mlp; default 128"},
      {.name = "activation",
       .type = Type::choice,
       .value = "A",
       .help = "between the layers",
       .fallback = "tanh",
       .choices = {"tanh", "relu", "sigmoid", "leaky_relu", "silu", "gelu"}},
      {.name = "memory",
       .type = Type::text,
       .value = "BYTES",
       .help = "cap on the memory of a step; larger batches are cut into parts",
       .fallback = "2G"},
      {.name = "checkpoint",
       .type = Type::file,
       .value = "FILE",
       .help = "where the state of the run is kept; default: --out with .checkpoint"},
      {.name = "checkpoint-seconds",
       .type = Type::number,
       .value = "S",
       .help = "how often it is written",
       .fallback = "60",
       .range = Range::from(0)},
      {.name = "resume",
       .type = Type::flag,
       .help = "go on from the checkpoint; the options must be those of the first call"},
      {.name = "torchscript",
       .type = Type::flag,
       .help = "also write model.pt, a TorchScript program"},
      {.name = "show-private-loss",
       .type = Type::flag,
       .help = "show the training loss on standard error; it is NOT PRIVATE"},
  };
  for (Option& option : options) option.group = kNetworkGroup;
  return options;
}

bool is_about_one_run(const Option& option) {
  static const std::vector<std::string> kNames = {
      "checkpoint",  "checkpoint-seconds", "resume",
      "torchscript", "show-private-loss",  "noise-multiplier"};
  return std::find(kNames.begin(), kNames.end(), option.name) != kNames.end();
}

}  // namespace sotto::cli
