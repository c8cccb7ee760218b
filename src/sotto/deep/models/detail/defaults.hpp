// What training uses where nothing is asked for: a function of public facts only.
//
// What       Batch, epochs, clip norm, step size and momentum from the kind of network, the
//            declared number of records and whether there is a budget.
// Guarantee  Nothing here looks at data. The rules were set on public data sets and on the settings
//            of published work.
// Method     Large batches (about n/30) and some dozens of epochs: the noise on the mean falls with
//            the batch, and calibration gives back most of what more steps cost. With momentum 0.9
//            the useful product of step size and clip norm is steady, 0.4 at a batch of 2048 and in
//            proportion to it [TB21]. Convolutions take a small clip norm. Dense networks take one
//            near the norm of a record's gradient: clipping hard makes them sure of themselves,
//            which costs log-loss first and accuracy next.
// Numerics   –
// Reference  [TB21], [DBHSB22].
#pragma once

#include <cstdint>
#include <optional>

#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/optimizer.hpp"

namespace sotto::deep {

struct TrainingDefaults {
  double batch = 0, epochs = 0, clip = 1;
  OptimizerOptions optimizer = {};
};

// epsilon: the budget; none for plain training.
TrainingDefaults training_defaults(NetworkKind kind, std::uint64_t records,
                                   std::optional<double> epsilon);

}  // namespace sotto::deep
