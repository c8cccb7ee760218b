// Options of the networks, which sotto-deep trains; declared here so that help and completion know them.
#pragma once

#include "commands.hpp"

namespace sotto::cli {

inline const std::vector<std::string> kNetworks = {"softmax", "mlp", "cnn"};

bool is_network(const Arguments& arguments);  // train: --model names one
bool is_deep_artifact(
    const Arguments& arguments);  // evaluate, predict: --model is the directory of one

inline constexpr const char* kNetworkGroup = "Networks (softmax, mlp, cnn)";
std::vector<Option> network_options();
bool is_about_one_run(
    const Option& option);  // checkpoints and files: no meaning for a sweep of many

}  // namespace sotto::cli
