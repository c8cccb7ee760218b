// What a network is trained on: a table with its schema, or a folder of images in IDX files. The plan sees public facts only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/table.hpp"
#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/records.hpp"

namespace sotto::cli {

// Declared, never read from the data.
struct DeepFacts {
  std::shared_ptr<const Encoder> encoder;  // of a table; none for images
  deep::NetworkOptions network;
  std::uint64_t rows = 0;
  Relation relation = Relation::add_remove;
  std::string unit = "record";
  bool classification = true;
};

// Throws InvalidArgument or DataError.
DeepFacts training_facts(const Arguments& arguments);
// The records to train on. Throws DataError.
// No records, of the shape of those to come.
deep::Records no_records(const DeepFacts& facts);
deep::Records training_records(const Arguments& arguments, const DeepFacts& facts);

// Part "train" or "t10k" of a folder of images. A label that is not one of the declared classes counts for nothing in training.
deep::Records image_records(const std::string& folder, const std::string& part,
                            const deep::NetworkOptions& network, bool with_targets);
deep::Records table_records(const Table& table, bool classification, bool with_targets);

// The loss of a network for these facts.
torch::Tensor losses_of(bool classification, const torch::Tensor& outputs,
                        const torch::Tensor& targets);

}  // namespace sotto::cli
