#include "sotto/deep/training/iterate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/optimizer.hpp"

namespace sotto::deep {
namespace {
constexpr std::array<std::string_view, 3> kIterates = {"last", "average", "ema"};
}  // namespace

std::string_view name(Iterate iterate) { return kIterates[static_cast<std::size_t>(iterate)]; }

Iterate parse_iterate(std::string_view text) {
  for (std::size_t i = 0; i < kIterates.size(); ++i)
    if (kIterates[i] == text) return static_cast<Iterate>(i);
  throw InvalidArgument(fmt::format("'{}' is not an iterate", text), "choose last, average or ema");
}

IterateTracker::IterateTracker(Iterate iterate, double decay, std::uint64_t planned,
                               const std::vector<NamedParameter>& parameters)
    : iterate_(iterate), decay_(decay), planned_(planned) {
  if (!(decay >= 0 && decay < 1))
    throw InvalidArgument(fmt::format(
        "the decay of the moving average is {}; it must be at least 0 and below 1", decay));
  if (iterate_ != Iterate::last) value_ = torch::zeros_like(flatten(parameters));
}

void IterateTracker::follow(std::uint64_t done, const std::vector<NamedParameter>& parameters) {
  if (iterate_ == Iterate::last) return;
  double weight = 1;  // of the new iterate
  if (iterate_ == Iterate::average) {
    if (done <= first_averaged()) return;
    weight = 1.0 / static_cast<double>(done - first_averaged());
  } else if (averaged_) {
    const auto t = static_cast<double>(done);
    weight = 1 - std::min(decay_, (1 + t) / (10 + t));
  }
  value_.lerp_(flatten(parameters), weight);
  averaged_ = true;
}

std::map<std::string, torch::Tensor> IterateTracker::state() const {
  if (!value_.defined()) return {};
  return {{"iterate", value_}};
}

void IterateTracker::restored(std::uint64_t done) {
  averaged_ =
      iterate_ == Iterate::ema ? done > 0 : iterate_ == Iterate::average && done > first_averaged();
}

}  // namespace sotto::deep
