// What a trainer hands out, and what it needs to go on later.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {

std::optional<Event> Trainer::event() const {
  if (!plan_) return std::nullopt;
  return plan_->event(done_);
}

Bound Trainer::epsilon(double delta, const AccountOptions& options) const {
  if (!plan_) throw Unsupported("plain training has no epsilon: it is NOT PRIVATE");
  return plan_->epsilon(done_, delta, options);
}

TensorMap Trainer::parameters_to_release() {
  if (const torch::Tensor value = iterate_.value(); value.defined())
    unflatten(value, clipped_.parameters());
  model_.eval();
  TensorMap result;
  for (const auto& p : model_.named_parameters()) result[p.key()] = p.value().detach();
  for (const auto& b : model_.named_buffers()) result[b.key()] = b.value().detach();
  return result;
}

Release<TensorMap> Trainer::release() {
  if (!plan_) throw Unsupported("plain training makes no release: its result is NOT PRIVATE");
  return {parameters_to_release(), plan_->after(done_)};
}

Unprotected<TensorMap> Trainer::unprotected() {
  if (plan_) throw Unsupported("a private run makes a release", "use release()");
  return {parameters_to_release()};
}

std::string Trainer::fingerprint() const {
  nlohmann::ordered_json json = {{"private", is_private()},
                                 {"plan", plan_ ? plan_->fingerprint() : ""},
                                 {"clip_rule", static_cast<int>(options_.clip_rule)},
                                 {"zero_above", options_.zero_above},
                                 {"planned", planned_},
                                 {"sampling", name(sampler_.sampling())},
                                 {"batch", sampler_.expected_batch()},
                                 {"optimizer", to_json(options_.optimizer)},
                                 {"iterate", name(options_.iterate)},
                                 {"ema_decay", options_.ema_decay},
                                 {"insecure_seed", options_.insecure_seed.has_value()}};
  return json.dump();
}

TensorFile Trainer::state() const {
  TensorFile file;
  for (const auto& p : model_.named_parameters()) file.tensors["model." + p.key()] = p.value();
  for (const auto& b : model_.named_buffers()) file.tensors["model." + b.key()] = b.value();
  file.tensors.merge(optimizer_.state());
  file.tensors.merge(iterate_.state());
  file.tensors["clip"] = torch::full({1}, clip_, torch::kDouble);
  if (!group_clips_.empty())
    file.tensors["group_clips"] = torch::tensor(group_clips_, torch::kDouble);
  file.tensors["done"] = torch::full({1}, static_cast<std::int64_t>(done_), torch::kLong);
  file.tensors["proved"] = torch::full({1}, proved_, torch::kLong);
  file.tensors["row_sizes"] =
      torch::tensor({used_.rehearsed, used_.least, used_.most}, torch::kLong);
  file.metadata["sotto_trainer"] = "3";
  file.metadata["fingerprint"] = fingerprint();
  return file;
}

void Trainer::restore(const TensorFile& file) {
  const auto refuse = [](const std::string& why) {
    throw VerificationFailed(
        "the checkpoint does not belong to this run: " + why,
        "resume with the options the run was started with, or start a new run");
  };
  const auto metadata = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  if (metadata("sotto_trainer") != "3") refuse("it was not written by this version");
  if (metadata("fingerprint") != fingerprint())
    refuse("privacy parameters, sampler, steps or optimiser differ");
  const TensorFile mine = state();
  if (mine.tensors.size() != file.tensors.size()) refuse("it has other tensors");
  for (const auto& [key, tensor] : mine.tensors) {
    const auto it = file.tensors.find(key);
    if (it == file.tensors.end() || it->second.sizes() != tensor.sizes() ||
        it->second.scalar_type() != tensor.scalar_type())
      refuse(fmt::format("tensor '{}' is missing or has another shape", key));
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [key, tensor] : mine.tensors) torch::Tensor(tensor).copy_(file.tensors.at(key));
  const auto done = file.tensors.at("done").item<std::int64_t>();
  if (done < 0 || static_cast<std::uint64_t>(done) > planned_)
    refuse("its step is not one of the plan");
  if (plan_ && plan_->charges() && static_cast<std::uint64_t>(done) < planned_)
    refuse("what records have spent of their budgets is private and in no checkpoint");
  done_ = static_cast<std::uint64_t>(done);
  const double clip = file.tensors.at("clip").item<double>();
  if (!std::isfinite(clip) || !(clip > 0)) refuse("its clipping norm is not a number above 0");
  clip_ = clip;
  proved_ = file.tensors.at("proved").item<std::int64_t>() != 0;
  const auto* const sizes = file.tensors.at("row_sizes").data_ptr<std::int64_t>();
  used_ = {sizes[0], sizes[1], sizes[2]};
  if (plan_) clipped_.set_norm(clip_);
  if (!group_clips_.empty()) {
    const auto* const norms = file.tensors.at("group_clips").data_ptr<double>();
    for (std::size_t k = 0; k < group_clips_.size(); ++k) {
      if (!std::isfinite(norms[k]) || !(norms[k] > 0)) refuse("a clipping norm is not above 0");
      group_clips_[k] = norms[k];
    }
    set_group_clips();
  }
  iterate_.restored(done_);
}

}  // namespace sotto::deep
