#include "sotto/deep/detail/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/intercept.hpp"
#include "sotto/deep/rows/not_row_wise.hpp"

namespace sotto::deep {
namespace {

namespace nn = torch::nn;

// Dropout is off while records are compared, also inside of recurrent layers. Everything is as
// before afterwards.
class Rehearsal {
 public:
  explicit Rehearsal(nn::Module& model) : model_(model) {
    modes_.emplace_back(&model, model.is_training());
    for (const auto& m : model.modules(false)) modes_.emplace_back(m.get(), m->is_training());
    for (const auto& [name, tensor] : untrained()) kept_.push_back({name, tensor.detach().clone()});
    train_mode(model);
    for (const auto& m : model.modules(false))
      if (m->as<nn::RNN>() || m->as<nn::LSTM>() || m->as<nn::GRU>()) m->eval();
  }
  ~Rehearsal() {
    for (const auto& [module, training] : modes_) training ? module->train() : module->eval();
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
  const WithoutDropout without_dropout_;
  std::vector<std::pair<nn::Module*, bool>> modes_;
  Named kept_;
};

// The name of the first parameter whose gradients differ; empty when none does. What cancels to a
// small rest in one parameter is rounded like the whole gradient, hence the floor.
std::string differing(ClippedSum& a, ClippedSum& b, double tolerance) {
  constexpr double kFloor = 0.01;
  const double whole = b.flat().norm().item<double>();
  for (std::size_t k = 0; k < a.parameters().size(); ++k) {
    const double size = std::max(b.sums()[k].norm().item<double>(), kFloor * whole);
    if (!((a.sums()[k] - b.sums()[k]).norm().item<double>() <= tolerance * std::max(size, 1e-9)))
      return a.parameters()[k].name;
  }
  return {};
}

bool close(double a, double b, double tolerance, double least) {
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), least});
}

// The same record among others: reversed, none, negative, large, and such that are hard on
// arithmetic. The last tensor is the target.
std::vector<MadeUp> company_of(const MadeUp& b, std::int64_t row) {
  constexpr std::array<float, 5> kHostile = {1e30f, -INFINITY, NAN, 1e-42f, 3e38f};
  const auto is_number = [&](std::size_t k) {
    return k + 1 < b.size() && b[k].is_floating_point();
  };
  const auto other = [&](std::size_t k, int kind) -> torch::Tensor {
    const torch::Tensor& t = b[k];
    if (kind == 1) return torch::zeros_like(t);
    if (!is_number(k)) {
      if (kind == 3) return t.clone();
      if (t.scalar_type() == torch::kBool) return t.logical_not();
      return t.is_floating_point() ? -t : 1 - t;  // tokens 0 and 1
    }
    if (kind == 0) return t.flip(0);
    if (kind == 2) return -1 - t;
    if (kind == 3) return 1e6 * t;
    auto hostile = t.clone();
    for (std::int64_t i = 0; i < t.size(0); ++i)
      hostile[i].fill_(kHostile[static_cast<std::size_t>(i) % kHostile.size()]);
    return hostile;
  };
  bool numbers = false;
  for (std::size_t k = 0; k < b.size(); ++k) numbers |= is_number(k);
  std::vector<MadeUp> all;
  for (int kind = 0; kind < (numbers ? 5 : 2); ++kind) {
    MadeUp company;
    for (std::size_t k = 0; k < b.size(); ++k) {
      company.push_back(other(k, kind));
      company.back()[row].copy_(b[k][row]);
    }
    all.push_back(std::move(company));
  }
  return all;
}

rows::RecordTensors as_records(const MadeUp& b) { return {b.begin(), b.end()}; }

MadeUp rows_of(const MadeUp& b, const torch::Tensor& which) {
  MadeUp rows;
  for (const auto& t : b) rows.push_back(t.index_select(0, which));
  return rows;
}

constexpr const char* kKeepApart =
    "a record must be processed as if it were alone: no statistics over the batch, no loss "
    "averaged over records, records on the first "
    "axis throughout";

}  // namespace

void train_mode(nn::Module& model) {
  std::vector<nn::Module*> frozen;
  for (const auto& m : model.modules(false))
    if (!m->is_training() &&
        (m->as<nn::BatchNorm1d>() || m->as<nn::BatchNorm2d>() || m->as<nn::BatchNorm3d>()))
      frozen.push_back(m.get());
  model.train();
  for (nn::Module* m : frozen) m->eval();
}

void without_dropout(nn::Module& model, const std::function<void()>& work) {
  const Rehearsal rehearsal(model);
  work();
}

void probe(nn::Module& model, const MadeUp& made_up, const rows::LossesOf& losses,
           const ClipOptions& options, const std::vector<torch::Tensor>& constants,
           double tolerance) {
  const std::int64_t records = made_up.front().size(0);
  if (records < 2 || made_up.back().size(0) != records)
    throw InvalidArgument("the probe needs at least 2 made-up records and a target for each");
  const Rehearsal rehearsal(model);
  ClipOptions open = options;
  open.rule = ClipRule::flat;
  open.norm = 1e12;  // nothing is clipped: gradients are compared
  ClippedSum among(model, open), alone(model, open), ordinary(model, open);
  for (ClippedSum* sum : {&among, &alone})
    for (const auto& constant : constants) sum->declare_public(constant);
  for (std::int64_t i = 0; i < records; ++i) {
    const MadeUp one = rows_of(made_up, torch::full({1}, i, torch::kLong));
    alone.clear();
    ordinary.clear();
    const double loss = alone.add(as_records(one), [&] { return losses(one); })[0].item<double>();
    const double norm = alone.private_norms()[0];
    rehearsal.require_unchanged();
    ordinary.add_by_micro_batches(1, [&](std::int64_t) { return losses(one); });
    if (const auto name = differing(alone, ordinary, tolerance); !name.empty())
      throw Unsupported(
          fmt::format("parameter {}: its per-sample gradient is not the ordinary gradient of the "
                      "record alone",
                      name),
          "a custom operation differentiates wrongly; train with micro-batches and report it");
    // The others count as empty rows, so that gradients are compared one record at a time.
    std::vector<bool> empty(static_cast<std::size_t>(records), true);
    empty[static_cast<std::size_t>(i)] = false;
    auto companies = company_of(made_up, i);
    companies.push_back(made_up);
    for (const MadeUp& b : companies) {
      among.clear();
      torch::Tensor all;
      try {
        all = among.add(
            as_records(b), [&] { return losses(b); }, empty);
      } catch (const c10::Error&) {
        continue;  // the model does not take such company
      }
      rehearsal.require_unchanged();
      if (!close(all[i].item<double>(), loss, tolerance, 1e-3))
        throw NotRowWise(
            fmt::format(
                "the loss of a record changes with the others in its batch (made-up record {})", i),
            kKeepApart);
      if (!close(among.private_norms()[static_cast<std::size_t>(i)], norm, 10 * tolerance, 1e-9))
        throw NotRowWise(fmt::format("the norm of a record's gradient changes with the others in "
                                     "its batch (made-up record {})",
                                     i),
                         kKeepApart);
      if (const auto name = differing(among, alone, tolerance); !name.empty())
        throw NotRowWise(fmt::format("parameter {}: the gradient of a record changes with the "
                                     "others in its batch (made-up record {})",
                                     name, i),
                         kKeepApart);
    }
  }
}

bool rows_are_apart(nn::Module& model, const MadeUp& made_up, const rows::LossesOf& losses,
                    const ClipOptions& options, const std::vector<torch::Tensor>& constants) {
  const Rehearsal rehearsal(model);
  ClippedSum sum(model, options);
  for (const auto& constant : constants) sum.declare_public(constant);
  const std::int64_t rows = made_up.front().size(0);
  // The loss and the gradient of one row: the others count as empty.
  const auto run = [&](const MadeUp& b, std::int64_t row) {
    std::vector<bool> empty(static_cast<std::size_t>(rows), true);
    empty[static_cast<std::size_t>(row)] = false;
    sum.clear();
    const auto all = sum.add(
        as_records(b), [&] { return losses(b); }, empty);
    return std::pair(all[row].clone(), sum.flat().clone());
  };
  try {
    for (const std::int64_t row : {rows / 3, rows - 1}) {
      const auto [loss, gradient] = run(made_up, row);
      for (const MadeUp& company : company_of(made_up, row)) {
        const auto [other_loss, other_gradient] = run(company, row);
        if (!torch::equal(loss, other_loss) || !torch::equal(gradient, other_gradient))
          return false;
      }
    }
  } catch (const c10::Error&) {
    return false;  // the model does not take such company
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
                m.as<nn::ConvTranspose2d>() || m.as<nn::ConvTranspose3d>() || m.as<nn::PReLU>())) {
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
