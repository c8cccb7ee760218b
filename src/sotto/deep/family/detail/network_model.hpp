// Detail: a trained network as a model of the shelf: model.safetensors, network.json and, if asked
// for, model.pt.
#pragma once

#include <memory>

#include "sotto/deep/models/network.hpp"
#include "sotto/learning/model.hpp"

namespace sotto::deep {

struct NetworkFiles {
  bool torchscript = false;
  bool not_private = false;  // said in the file of weights, which may travel alone
};

Files files_of(const Network& network, NetworkFiles files);
// The network goes on to be used by the model.
std::unique_ptr<Model> network_model(Network network, const Facts& facts, NetworkFiles files);

// Completes the facts by the size of images. Throws DataError.
std::unique_ptr<Model> load_network(const Files& files, Facts& facts);

}  // namespace sotto::deep
