#include "sotto/deep/probe.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"

namespace sotto::deep {
namespace {

namespace nn = torch::nn;

// Dropout draws differently for each batch, so it is off while records are compared. Everything is as before afterwards.
class Rehearsal {
 public:
  explicit Rehearsal(nn::Module& model) : model_(model), training_(model.is_training()) {
    for (const auto& [name, tensor] : untrained()) kept_.push_back({name, tensor.detach().clone()});
    model.train();
    for (const auto& m : model.modules(false))
      if (m->as<nn::Dropout>() || m->as<nn::Dropout2d>() || m->as<nn::Dropout3d>() ||
          m->as<nn::AlphaDropout>() || m->as<nn::FeatureAlphaDropout>())
        m->eval();
  }
  ~Rehearsal() {
    model_.train(training_);
    torch::NoGradGuard no_grad;
    const auto live = untrained();
    for (std::size_t i = 0; i < live.size(); ++i)
      torch::Tensor(live[i].second).copy_(kept_[i].second);
  }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  void require_unchanged() const {
    const auto live = untrained();
    for (std::size_t i = 0; i < live.size(); ++i) {
      if (torch::equal(live[i].second, kept_[i].second)) continue;
      throw Unsupported(
          fmt::format("{} is changed by a forward pass, so it takes in records without noise",
                      live[i].first),
          "turn running statistics off, or keep buffers and frozen parameters as they are");
    }
  }

 private:
  using Named = std::vector<std::pair<std::string, torch::Tensor>>;
  // Buffers and frozen parameters.
  Named untrained() const {
    Named all;
    for (const auto& b : model_.named_buffers()) all.push_back({"buffer " + b.key(), b.value()});
    for (const auto& p : model_.named_parameters())
      if (!p.value().requires_grad()) all.push_back({"frozen parameter " + p.key(), p.value()});
    return all;
  }

  nn::Module& model_;
  bool training_;
  Named kept_;
};

bool close(const torch::Tensor& a, const torch::Tensor& b, double tolerance, double size) {
  return (a - b).norm().item<double>() <= tolerance * std::max(size, 1e-6);
}

// The name of the first parameter whose gradients differ; empty when none does.
std::string differing(ClippedSum& a, ClippedSum& b, double tolerance) {
  const double size = std::max(a.flat().norm().item<double>(), b.flat().norm().item<double>());
  for (std::size_t k = 0; k < a.parameters().size(); ++k)
    if (!close(a.sums()[k], b.sums()[k], tolerance, size)) return a.parameters()[k].name;
  return {};
}

constexpr const char* kKeepApart =
    "a record must be processed as if it were alone: no statistics over the batch, no loss "
    "averaged over records, records on the first "
    "axis throughout";

}  // namespace

void probe(nn::Module& model, const torch::Tensor& x, const torch::Tensor& y,
           const std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>& losses,
           const ClipOptions& options, double tolerance) {
  const std::int64_t records = x.size(0);
  if (records < 2 || y.size(0) != records)
    throw InvalidArgument("the probe needs at least 2 made-up records and a target for each");
  const Rehearsal rehearsal(model);
  ClipOptions open = options;
  open.rule = ClipRule::flat;
  open.norm = 1e12;  // nothing is clipped: sums of gradients are compared
  ClippedSum together(model, open), others(model, open), alone(model, open), ordinary(model, open);
  const auto all = together.add(records, [&] { return losses(x, y); });
  rehearsal.require_unchanged();
  for (std::int64_t i = 0; i < records; ++i) {
    const auto xi = x.narrow(0, i, 1), yi = y.narrow(0, i, 1);
    const auto one = alone.add(1, [&] { return losses(xi, yi); });
    ordinary.add_by_micro_batches(1, [&](std::int64_t) { return losses(xi, yi); });
    const double a = all[i].item<double>(), b = one[0].item<double>();
    if (!(std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-3})))
      throw Unsupported(
          fmt::format(
              "the loss of a record changes with the others in its batch (made-up record {})", i),
          kKeepApart);
    // The batch without record i, so that gradients are compared one record at a time.
    others.clear();
    std::vector<std::int64_t> rest;
    for (std::int64_t j = 0; j < records; ++j)
      if (j != i) rest.push_back(j);
    const auto index = torch::tensor(rest, torch::kLong);
    others.add(records - 1,
               [&] { return losses(x.index_select(0, index), y.index_select(0, index)); });
    others.flat().add_(alone.flat());
    if (const auto name = differing(together, others, tolerance); !name.empty())
      throw Unsupported(fmt::format("parameter {}: the gradient of a record changes with the "
                                    "others in its batch (made-up record {})",
                                    name, i),
                        kKeepApart);
    if (const auto name = differing(alone, ordinary, tolerance); !name.empty())
      throw Unsupported(
          fmt::format("parameter {}: its per-sample gradient is not the ordinary gradient of the "
                      "record alone",
                      name),
          "a custom operation differentiates wrongly; train with micro-batches and report it");
    alone.clear();
    ordinary.clear();
  }
}

bool rows_are_apart(
    nn::Module& model, const torch::Tensor& x, const torch::Tensor& y,
    const std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>& losses,
    const ClipOptions& options) {
  const Rehearsal rehearsal(model);
  ClippedSum sum(model, options);
  const auto run = [&](const torch::Tensor& inputs, std::int64_t row) {
    sum.clear();
    const auto all = sum.add(x.size(0), [&] { return losses(inputs, y); });
    return std::pair(all[row].item<float>(), sum.private_norms()[static_cast<std::size_t>(row)]);
  };
  for (const std::int64_t row : {std::int64_t{0}, x.size(0) / 3, x.size(0) - 1}) {
    auto others = x.flip(0).contiguous();
    others[row].copy_(x[row]);
    auto none = torch::zeros_like(x);
    none[row].copy_(x[row]);
    const auto expected = run(x, row);
    if (run(others, row) != expected || run(none, row) != expected) return false;
  }
  return true;
}

void require_private(const nn::Module& model) {
  const auto refuse = [](const std::string& name, const char* why, const char* what) {
    throw Unsupported(fmt::format("layer {}: {}", name, why), what);
  };
  for (const auto& item : const_cast<nn::Module&>(model).named_modules("", false)) {
    nn::Module& m = *item.value();
    const std::string& name = item.key();
    const bool trained = [&] {
      for (const auto& p : m.parameters(false))
        if (p.requires_grad()) return true;
      return false;
    }();
    if (m.as<nn::BatchNorm1d>() || m.as<nn::BatchNorm2d>() || m.as<nn::BatchNorm3d>()) {
      if (m.is_training() || trained)
        refuse(
            name, "BatchNorm makes the output for one record depend on the others",
            "use GroupNorm or LayerNorm, or freeze it: eval mode and parameters without gradient");
    } else if (trained &&
               (m.as<nn::EmbeddingBag>() || m.as<nn::Bilinear>() || m.as<nn::ConvTranspose1d>() ||
                m.as<nn::ConvTranspose2d>() || m.as<nn::ConvTranspose3d>() || m.as<nn::PReLU>() ||
                m.as<nn::RNNCell>() || m.as<nn::LSTMCell>() || m.as<nn::GRUCell>())) {
      refuse(name, "this kind of layer has no per-sample gradient in one pass",
             "build it from Linear, Conv, Embedding, RNN, LSTM, GRU or deep::per_record, freeze "
             "it, or train with micro-batches (slow)");
    } else if (auto* e = m.as<nn::Embedding>();
               e != nullptr &&
               (e->options.max_norm().has_value() || e->options.scale_grad_by_freq())) {
      refuse(name, "max_norm and scale_grad_by_freq make one record's part depend on others",
             "leave both at their defaults");
    }
  }
}

}  // namespace sotto::deep
