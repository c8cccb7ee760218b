#include "sotto/deep/recorder.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

thread_local Recorder* current_recorder = nullptr;

const void* key_of(const torch::Tensor& tensor) { return tensor.unsafeGetTensorImpl(); }

bool overlap(const Rows& x, const Rows& y) {
  if (x.count < 0 || y.count < 0) return true;
  return x.first < y.first + y.count && y.first < x.first + x.count;
}

}  // namespace

std::vector<NamedParameter> trainable_parameters(const torch::nn::Module& model) {
  std::vector<NamedParameter> found;
  std::unordered_map<const void*, bool> seen;
  for (const auto& item : model.named_parameters()) {
    if (!item.value().requires_grad() || !seen.emplace(key_of(item.value()), true).second) continue;
    if (item.value().scalar_type() != torch::kFloat || !item.value().device().is_cpu()) {
      throw Unsupported(
          fmt::format("parameter {} is not a 32-bit float on the processor", item.key()),
          "convert the model with model->to(torch::kFloat) and model->to(torch::kCPU)");
    }
    found.push_back({item.key(), item.value()});
  }
  return found;
}

Recorder::Recorder(const std::vector<NamedParameter>& parameters, std::int64_t batch, NormRoom room)
    : batch_(batch), room_(room) {
  slots_.resize(parameters.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    slots_[k].parameter = &parameters[k];
    slots_[k].squares.assign(static_cast<std::size_t>(batch), 0);
    index_[key_of(parameters[k].tensor)] = k;
  }
}

Recorder* Recorder::current() { return current_recorder; }

Recorder::Scope::Scope(Recorder& recorder) : outer_(current_recorder) {
  current_recorder = &recorder;
}
Recorder::Scope::~Scope() { current_recorder = outer_; }

Recorder::Slot& Recorder::slot(const torch::Tensor& parameter) {
  const auto found = index_.find(key_of(parameter));
  if (found == index_.end()) {
    throw Unsupported("a private layer uses a trainable parameter that the model does not list",
                      "register the parameter or the layer in the model (register_parameter, "
                      "register_module), or freeze it "
                      "with requires_grad_(false)");
  }
  return slots_[found->second];
}

bool Recorder::expect(const torch::Tensor& parameter, const torch::Tensor& input,
                      const std::string& layer) {
  if (!parameter.defined() || !parameter.requires_grad()) return false;
  if (input.dim() == 0 || input.size(0) != batch_) {
    throw Unsupported(fmt::format("{}: the input has shape {} but the batch has {} records; the "
                                  "first axis must count records",
                                  layer, fmt::join(input.sizes().vec(), "×"), batch_),
                      "keep one row for each record all the way through the model (batch first, no "
                      "folding of other axes into the first)");
  }
  ++slot(parameter).expected;
  return true;
}

void Recorder::add(const torch::Tensor& parameter, std::unique_ptr<GradientTerm> use) {
  Slot& s = slot(parameter);
  if (s.expected == 1) use->add_squared_norms(s.squares, room_);
  s.uses.push_back(std::move(use));
}

// Norms of a parameter with several uses: ‖Σ_k g_k‖ is not made of the ‖g_k‖.
void Recorder::settle(Slot& slot) {
  auto& uses = slot.uses;
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = i + 1; j < uses.size();)
      if (uses[i]->join(*uses[j])) {
        uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(j));
      } else {
        ++j;
      }
  bool separate = true;
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = i + 1; j < uses.size(); ++j)
      separate &= !overlap(uses[i]->rows, uses[j]->rows);
  if (separate) {
    for (auto& use : uses) use->add_squared_norms(slot.squares, room_);
    return;
  }
  const torch::Tensor& parameter = slot.parameter->tensor;
  const std::size_t one = static_cast<std::size_t>(parameter.numel()) * sizeof(float);
  const std::size_t bytes = static_cast<std::size_t>(room_.rows_for(batch_)) * one;
  if (bytes <= room_.memory / 2) {  // one for the sum, one for the use that is being written out
    auto sum = torch::zeros({batch_, parameter.numel()}, torch::kFloat);
    const std::int64_t width = parameter.numel() / std::max<std::int64_t>(parameter.size(0), 1);
    for (auto& use : uses) {
      const auto part = use->per_sample();
      sum.narrow(1, use->rows.first * width, part.size(1)).add_(part);
      use.reset();
    }
    uses.clear();
    uses.push_back(std::make_unique<DirectTerm>(std::move(sum)));
    uses.front()->add_squared_norms(slot.squares, room_);
    room_.take(batch_, one);
    return;
  }
  std::vector<double> norms(slot.squares.size(), 0);
  for (auto& use : uses) {
    std::vector<double> squares(slot.squares.size(), 0);
    use->add_squared_norms(squares, room_);
    for (std::size_t i = 0; i < norms.size(); ++i) norms[i] += std::sqrt(squares[i]);
  }
  for (std::size_t i = 0; i < norms.size(); ++i) slot.squares[i] += norms[i] * norms[i];
}

void Recorder::finish() {
  for (Slot& slot : slots_) {
    const NamedParameter& p = *slot.parameter;
    if (p.tensor.grad().defined()) {
      throw Unsupported(fmt::format("parameter {} is used by an operation that is not a private "
                                    "layer, so its gradient is not separated by record",
                                    p.name),
                        "use the private layers of sotto/deep/layers, wrap the parameter in "
                        "deep::per_record, freeze it with "
                        "requires_grad_(false), or train with micro-batches (slow)");
    }
    if (slot.uses.empty()) {
      throw Unsupported(fmt::format("parameter {} received no per-sample gradient", p.name),
                        "no private layer used it on the way to the loss: use it, freeze it with "
                        "requires_grad_(false), or take it "
                        "out of the model");
    }
    if (static_cast<int>(slot.uses.size()) > slot.expected) {
      throw Unsupported(
          fmt::format("parameter {}: a use of it was differentiated more than once", p.name),
          "differentiate the losses once, and leave that to ClippedSum::add");
    }
    if (slot.expected > 1) settle(slot);
  }
}

void Recorder::weighted_sum(std::size_t k, const torch::Tensor& factors,
                            const std::vector<std::int64_t>& dropped, torch::Tensor& sum,
                            bool overwrite) {
  Slot& slot = slots_[k];
  double beta = overwrite ? 0 : 1;
  if (overwrite && (slot.uses.size() > 1 || slot.uses.front()->rows.count >= 0)) {
    sum.zero_();
    beta = 1;
  }
  for (auto& use : slot.uses) {
    if (!dropped.empty()) use->drop(torch::tensor(dropped, torch::kLong));
    torch::Tensor out = use->rows.count < 0 ? sum : sum.narrow(0, use->rows.first, use->rows.count);
    use->weighted_sum(factors, out, beta);
    use.reset();  // activations and output gradients go as early as possible
  }
  slot.uses.clear();
}

}  // namespace sotto::deep
