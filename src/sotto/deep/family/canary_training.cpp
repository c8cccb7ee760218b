#include "sotto/deep/family/detail/canary_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "sotto/core/error.hpp"
#include "sotto/deep/losses.hpp"

namespace sotto::deep {
namespace {

using torch::Tensor;

// The network, and beside it one weight for each canary that nothing else depends on.
struct WatchedNetworkImpl : torch::nn::Module {
  WatchedNetworkImpl(const NetworkOptions& options, std::int64_t canaries)
      : network(options), weights(canaries + 1, 1) {  // the first is nobody's
    register_module("network", network);
    register_module("canaries", weights);
  }
  Network network;
  torch::nn::Embedding weights;
};
TORCH_MODULE(WatchedNetwork);

// Adds up what is released of the canaries' coordinates, in units of its noise.
class Listener final : public QueryObserver {
 public:
  Listener(std::size_t dimension, std::size_t first, std::size_t canaries)
      : dimension_(dimension), first_(first), sums_(canaries) {}

  RandomSource* begin(const NoisedQuery& query, std::uint64_t) override {
    scale_ = query.scale;
    return nullptr;
  }
  void publish(Values result) override {
    std::visit(
        [&](const auto values) {
          if (values.size() != dimension_) return;  // not a gradient: a count of adaptive clipping
          for (std::size_t k = 0; k < sums_.size(); ++k)
            sums_[k] += static_cast<double>(values[first_ + k]) / scale_;
        },
        result);
  }
  void end() override {}
  const std::vector<double>& sums() const { return sums_; }

 private:
  std::size_t dimension_, first_;
  double scale_ = 1;
  std::vector<double> sums_;
};

// Where the canaries' weights begin among all that are trained.
std::size_t first_of(const torch::nn::Module& model, const Tensor& weights) {
  std::int64_t before = 0;
  for (const auto& p : model.parameters()) {
    if (p.is_same(weights)) return static_cast<std::size_t>(before) + 1;
    if (p.requires_grad()) before += p.numel();
  }
  invariant_broken("the weights of the canaries are not part of the model");
}

// A canary is a row of zeros with the number of its weight and the sign of its gradient: 0 for a
// null record.
class Rows {
 public:
  Rows(const Records& records, std::int64_t kept)
      : inputs_(records.inputs().narrow(0, 0, kept)),
        targets_(records.targets().narrow(0, 0, kept)),
        numbers_(static_cast<std::size_t>(kept)),
        signs_(static_cast<std::size_t>(kept)) {}
  void add(std::size_t canary, float sign) {
    numbers_.push_back(static_cast<std::int64_t>(canary) + 1);
    signs_.push_back(sign);
  }
  Records records() const {
    const auto all = static_cast<std::int64_t>(numbers_.size());
    const auto filled = [&](const Tensor& some) {
      std::vector<std::int64_t> shape = some.sizes().vec();
      shape[0] = all - shape[0];
      return torch::cat({some, torch::zeros(shape, some.options())});
    };
    return {filled(inputs_),
            filled(targets_),
            {torch::tensor(numbers_, torch::kLong), torch::tensor(signs_, torch::kFloat)}};
  }

 private:
  Tensor inputs_, targets_;
  std::vector<std::int64_t> numbers_;
  std::vector<float> signs_;
};

Records with_canaries(const Records& records, const std::vector<bool>& in, Relation relation) {
  const auto count = static_cast<std::int64_t>(in.size());
  // Under add_remove as many records make room as canaries are expected.
  const std::int64_t places = relation == Relation::add_remove ? count / 2 : count;
  if (places > records.size())
    throw DataError(fmt::format("{} canaries take the places of {} records, and there are fewer",
                                count, places),
                    "try fewer canaries");
  Rows rows(records, records.size() - places);
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (in[k])
      rows.add(k, 1);
    else if (relation == Relation::replace_one)
      rows.add(k, -1);
    else if (relation == Relation::zero_out)
      rows.add(k, 0);
  }
  return rows.records();
}

}  // namespace

std::vector<double> CanaryTraining::scores(const Records& records, const std::vector<bool>& in,
                                           Rng& rng) const {
  torch::manual_seed(rng.next_u64());  // initial weights
  WatchedNetwork model(network, static_cast<std::int64_t>(in.size()));
  const std::uint64_t dimension = count_parameters(*model);
  // Longer than any threshold, so that clipping makes it as long as records may be.
  const double length = plan != nullptr ? 1e3 * plan->options().clip : 1;
  const auto objective = [&](const Batch& b) {
    const Tensor outputs = model->network->forward(b.inputs);
    const Tensor losses = classification ? softmax_cross_entropy(outputs, b.targets)
                                         : squared_loss(outputs.squeeze(1), b.targets);
    const Tensor &number = b.more[0], &sign = b.more[1];
    const Tensor own = model->weights->forward(number).squeeze(1) * sign * length;
    return torch::where(number > 0, own, losses);
  };
  const Relation relation = plan != nullptr ? plan->relation() : Relation::add_remove;
  const Records all = with_canaries(records, in, relation);
  const std::size_t first = first_of(*model, model->weights->weight);
  const Tensor start = model->weights->weight.detach().clone();
  if (plan == nullptr) {
    Trainer trainer(*model, plain, objective, options);
    trainer.fit(all, rng);
    const Tensor moved = (start - model->weights->weight.detach()).to(torch::kDouble).contiguous();
    return {moved.data_ptr<double>() + 1, moved.data_ptr<double>() + moved.numel()};
  }
  PlanOptions same = plan->options();
  same.noise_multiplier = plan->noise_multiplier();
  same.epsilon.reset();
  same.dimension = dimension;
  Trainer trainer(*model, DpSgdPlan(same), objective, options);
  Listener listener(dimension, first, in.size());
  rng.watch(&listener);
  try {
    trainer.fit(all, rng);
  } catch (...) {
    rng.watch(nullptr);
    throw;
  }
  rng.watch(nullptr);
  return listener.sums();
}

}  // namespace sotto::deep
