#include "sotto/deep/models/detail/defaults.hpp"

#include <algorithm>
#include <cmath>

namespace sotto::deep {

TrainingDefaults training_defaults(NetworkKind kind, std::uint64_t records,
                                   std::optional<double> epsilon) {
  const auto n = static_cast<double>(records);
  const bool convolutions = kind == NetworkKind::cnn;
  TrainingDefaults d;
  if (!epsilon) {  // plain training
    d.batch = std::min(n, 128.0);
    d.epochs = std::clamp(600000 / n, 10.0, 100.0);
    d.optimizer = {.learning_rate = convolutions ? 0.05 : 0.1, .momentum = 0.9};
    return d;
  }
  // A power of two near n/30.
  d.batch = std::min(n, std::exp2(std::round(std::log2(std::clamp(n / 30, 256.0, 8192.0)))));
  d.epochs = convolutions ? 30 : 20;
  d.clip = convolutions ? 0.1 : 4;
  // The product with the clip norm is what matters: 0.4 at a batch of 2048, in proportion to the
  // batch.
  d.optimizer = {.learning_rate = 0.4 / d.clip * d.batch / 2048, .momentum = 0.9};
  return d;
}

}  // namespace sotto::deep
