#include "sotto/deep/family/detail/network_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/deep/family/detail/network_records.hpp"
#include "sotto/deep/family/detail/sequence.hpp"
#include "sotto/deep/training/safetensors.hpp"
#include "sotto/deep/training/safetensors_layout.hpp"

namespace sotto::deep {
namespace {

constexpr const char *kWeights = "model.safetensors", *kNetwork = "network.json";
constexpr std::int64_t kAtOnce = 128;  // whole tiles of every product

class NetworkModel final : public SupervisedModel {
 public:
  NetworkModel(Network network, const Facts& facts, NetworkFiles files)
      : SupervisedModel(facts), network_(std::move(network)), files_(files) {
    network_->eval();
  }

  Files files() const override { return files_of(network_, files_); }

 private:
  // A network whose weights are not finite says nothing: all classes are then equally likely.
  // What is said of a record must not depend on its company, or scores that are released with a
  // budget would move by more than one record: products of other sizes round otherwise. So all
  // batches have one size, the last one filled up, and where rows of that size are not computed
  // alike, records go one by one.
  std::vector<Prediction> predict(const Block& block) const override {
    const torch::NoGradGuard no_grad;
    const bool classification = task() == Task::classify;
    const std::int64_t outputs = network_->options().outputs;
    const Records records = records_of(block, classification);
    const std::int64_t at_once = rows_are_alike() ? kAtOnce : 1;
    std::vector<Prediction> predictions;
    predictions.reserve(block.rows());
    for (std::int64_t first = 0; first < records.size(); first += at_once) {
      const std::int64_t rows = std::min(at_once, records.size() - first);
      torch::Tensor inputs = records.range(first, rows).inputs;
      if (rows < at_once) {
        std::vector<std::int64_t> rest = inputs.sizes().vec();
        rest[0] = at_once - rows;
        inputs = torch::cat({inputs, torch::zeros(rest, inputs.options())});
      }
      const torch::Tensor raw = forward(inputs).to(torch::kDouble);
      const torch::Tensor said =
          (classification ? torch::softmax(raw, 1).nan_to_num(1.0 / static_cast<double>(outputs))
                          : raw.clamp(-1, 1).nan_to_num(0.0))
              .contiguous();
      const double* values = said.data_ptr<double>();
      for (std::int64_t i = 0; i < rows; ++i, values += outputs)
        predictions.push_back(classification ? most_likely(values, outputs)
                                             : Prediction{{}, *values});
    }
    return predictions;
  }
  torch::Tensor forward(const torch::Tensor& inputs) const {
    return Network(network_)->forward(inputs);
  }
  // On made-up records, to the last bit: one record on all rows, and a record among others.
  bool rows_are_alike() const {
    std::vector<std::int64_t> sizes = {kAtOnce};
    for (const std::int64_t n : network_->options().input) sizes.push_back(n);
    const torch::Tensor others = made_up(sizes);
    const torch::Tensor one = others.slice(0, 0, 1);
    const torch::Tensor same = forward(one.expand(sizes).contiguous());
    const torch::Tensor said = same.slice(0, 0, 1);
    return torch::equal(same, said.expand_as(same).contiguous()) &&
           torch::equal(forward(others).slice(0, 0, 1), said) &&
           torch::equal(
               forward(others.roll({kAtOnce / 2}, {0})).slice(0, kAtOnce / 2, kAtOnce / 2 + 1),
               said);
  }
  // The same ones each time, without a generator whose state somebody may rely on.
  static torch::Tensor made_up(const std::vector<std::int64_t>& sizes) {
    std::int64_t count = 1;
    for (const std::int64_t n : sizes) count *= n;
    return torch::sin(torch::arange(count, torch::kFloat).mul(0.7)).reshape(sizes);
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
  if (network.kind == NetworkKind::sequence) {
    if (network.input[0] != static_cast<std::int64_t>(encoder.features().size()) ||
        encoder.hot_columns() != encoder.features().size() ||
        network.outputs != values_of_places(facts))
      fail("a record has other places or values than the sequence");
    return;
  }
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

Files files_of(const Network& network, NetworkFiles how) {
  TensorFile weights;
  for (const auto& p : network->named_parameters()) weights.tensors[p.key()] = p.value();
  weights.metadata["format"] = "sotto";
  if (how.not_private) weights.metadata["warning"] = "NOT PRIVATE";
  Files files = {{kWeights, to_safetensors(weights)},
                 {kNetwork, to_json(network->options()).dump(1) + "\n"}};
  if (how.torchscript) files["model.pt"] = to_torchscript(network);
  return files;
}

std::unique_ptr<Model> network_model(Network network, const Facts& facts, NetworkFiles files) {
  if (network->options().kind == NetworkKind::sequence)
    return sequence_model(std::move(network), facts, files);
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
