#include "sotto/deep/family/detail/network_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/deep/family/detail/network_records.hpp"
#include "sotto/deep/training/safetensors.hpp"
#include "sotto/deep/training/safetensors_layout.hpp"

namespace sotto::deep {
namespace {

constexpr const char *kWeights = "model.safetensors", *kNetwork = "network.json";
constexpr std::int64_t kAtOnce = 1024;

class NetworkModel final : public SupervisedModel {
 public:
  NetworkModel(Network network, const Facts& facts, NetworkFiles files)
      : SupervisedModel(facts), network_(std::move(network)), files_(files) {
    network_->eval();
  }

  Files files() const override {
    TensorFile weights;
    for (const auto& p : network_->named_parameters()) weights.tensors[p.key()] = p.value();
    weights.metadata["format"] = "sotto";
    if (files_.not_private) weights.metadata["warning"] = "NOT PRIVATE";
    Files files = {{kWeights, to_safetensors(weights)},
                   {kNetwork, to_json(network_->options()).dump(1) + "\n"}};
    if (files_.torchscript) files["model.pt"] = to_torchscript(network_);
    return files;
  }

 private:
  // A network whose weights are not finite says nothing: all classes are then equally likely.
  std::vector<Prediction> predict(const Block& block) const override {
    const torch::NoGradGuard no_grad;
    const bool classification = task() == Task::classify;
    const std::int64_t outputs = network_->options().outputs;
    const Records records = records_of(block, classification);
    std::vector<Prediction> predictions;
    predictions.reserve(block.rows());
    for (std::int64_t first = 0; first < records.size(); first += kAtOnce) {
      const Batch batch = records.range(first, std::min(kAtOnce, records.size() - first));
      const torch::Tensor raw = Network(network_)->forward(batch.inputs).to(torch::kDouble);
      const torch::Tensor said =
          (classification ? torch::softmax(raw, 1).nan_to_num(1.0 / static_cast<double>(outputs))
                          : raw.clamp(-1, 1).nan_to_num(0.0))
              .contiguous();
      const double* values = said.data_ptr<double>();
      for (std::int64_t i = 0; i < said.size(0); ++i, values += outputs)
        predictions.push_back(classification ? most_likely(values, outputs)
                                             : Prediction{{}, *values});
    }
    return predictions;
  }
  static Prediction most_likely(const double* probabilities, std::int64_t classes) {
    Prediction p{{probabilities, probabilities + classes}, 0};
    p.value = static_cast<double>(std::max_element(p.probabilities.begin(), p.probabilities.end()) -
                                  p.probabilities.begin());
    return p;
  }

  Network network_;
  NetworkFiles files_;
};

const std::string& file_of(const Files& files, const char* name) {
  const auto it = files.find(name);
  if (it == files.end())
    throw DataError(fmt::format("'{}' is missing or not certified", name),
                    "is this the directory that 'sotto train' wrote?");
  return it->second;
}

// Whoever hands over an artifact may have put any three files together. Checked before the network
// is built: a description costs nothing, what it describes may not fit into memory.
void check_fit(const NetworkOptions& network, const Facts& facts, std::string_view weights) {
  const auto fail = [](const std::string& why) {
    throw DataError("the parts of the artifact do not fit each other: " + why,
                    "restore the artifact from where it was copied");
  };
  std::uint64_t elements = 0;
  for (const auto& [name, tensor] : safetensors_layout(weights, kWeights).tensors)
    elements += tensor.elements();
  if (elements != static_cast<std::uint64_t>(network.parameters()))
    fail(fmt::format("the network has {} parameters, the file {}", network.parameters(), elements));
  if (!facts.encoder) {
    if (network.input.size() != 3 || network.input[0] != 1)
      fail("a network without an encoder takes images of one channel");
    return;
  }
  const Encoder& encoder = *facts.encoder;
  if (network.input != std::vector{static_cast<std::int64_t>(encoder.width())})
    fail(fmt::format("an encoded record has {} features, the network takes others",
                     encoder.width()));
  if (!encoder.has_target()) fail("the schema has no target");
  const std::size_t outputs =
      encoder.is_classification() ? encoder.target().labels().size() : std::size_t{1};
  if (static_cast<std::uint64_t>(network.outputs) != outputs)
    fail(fmt::format("the network has {} outputs, the target needs {}", network.outputs, outputs));
}

}  // namespace

std::unique_ptr<Model> network_model(Network network, const Facts& facts, NetworkFiles files) {
  return std::make_unique<NetworkModel>(std::move(network), facts, files);
}

std::unique_ptr<Model> load_network(const Files& files, Facts& facts) {
  const NetworkOptions options =
      network_from_json(parse_json(file_of(files, kNetwork), fmt::format("'{}'", kNetwork)));
  const std::string& bytes = file_of(files, kWeights);
  check_fit(options, facts, bytes);
  if (!facts.encoder)
    facts.images = ImageFacts{.height = static_cast<std::size_t>(options.input[1]),
                              .width = static_cast<std::size_t>(options.input[2]),
                              .classes = static_cast<std::size_t>(options.outputs)};
  Network network(options);
  const TensorFile weights = from_safetensors(bytes, kWeights);
  const torch::NoGradGuard no_grad;
  for (auto& p : network->named_parameters()) {
    const auto it = weights.tensors.find(p.key());
    if (it == weights.tensors.end() || it->second.sizes() != p.value().sizes())
      throw DataError(
          fmt::format("'{}' does not fit {}: tensor '{}'", kWeights, kNetwork, p.key()));
    p.value().copy_(it->second);
  }
  return network_model(network, facts, {.not_private = weights.metadata.contains("warning")});
}

}  // namespace sotto::deep
