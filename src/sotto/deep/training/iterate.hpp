// Which iterate is released: the last one, the average of the later ones, or an exponential moving
// average. Post-processing.
//
// What       IterateTracker follows the parameters step by step; value() is what will be released.
// Guarantee  None of its own: every iterate is already private under the event of the run.
// Method     average: uniform over the last half of the planned steps. ema: decay min(d, (1 +
//            t)/(10 + t)), so that early steps do not weigh for ever.
// Numerics   32-bit floats; the average is updated in place.
// Reference  [PJ92]; [DBHSB22] for EMA in private training.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/deep/recorder.hpp"

namespace sotto::deep {

enum class Iterate { last, average, ema };

std::string_view name(Iterate iterate);
Iterate parse_iterate(std::string_view text);  // throws InvalidArgument

class IterateTracker {
 public:
  IterateTracker(Iterate iterate, double decay, std::uint64_t planned,
                 const std::vector<NamedParameter>& parameters);

  // After step number `done` (counted from 1).
  void follow(std::uint64_t done, const std::vector<NamedParameter>& parameters);
  // What to release; undefined for `last`, and before anything was averaged: then the parameters
  // are.
  torch::Tensor value() const { return averaged_ ? value_ : torch::Tensor(); }

  std::map<std::string, torch::Tensor> state() const;
  void restored(std::uint64_t done);

 private:
  std::uint64_t first_averaged() const { return planned_ / 2; }

  Iterate iterate_;
  double decay_;
  std::uint64_t planned_;
  bool averaged_ = false;
  torch::Tensor value_;
};

}  // namespace sotto::deep
