// What reports about numbers say: means, and the distribution behind a square wave.
//
// What       MeanAggregator::means estimates the mean of the clients' numbers, or of each
//            coordinate, with its standard error. WaveAggregator::distribution estimates the shares
//            of the cells of the bounds, WaveAggregator::mean the mean.
// Guarantee  Post-processing. Means are unbiased for what lies in the bounds; a distribution is
//            not: smoothing spreads what is steep.
// Method     Every mechanism for means is linear: E[report] = a + b·place. The standard error is
//            that of the sample: noise and spread of the numbers together; one report has none.
//            The distribution: the likeliest one by expectation–maximisation, smoothed towards
//            (1, 2, 1)/4 in each round [LWLLS20], as much as the reports allow: the strongest
//            smoothing whose result is no further from them (Pearson's χ²) than the truth would be
//            on average.
// Numerics   Sums of whole numbers; a round of the maximisation takes time linear in the cells.
// Reference  [DJW18], [WXYZHSSY19], [LWLLS20], [DKY17].
#pragma once

#include <memory>
#include <vector>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {

struct EstimatedMean {
  double value, standard_error;
};

class MeanAggregator : public Aggregator {
 public:
  using Aggregator::Aggregator;
  virtual std::vector<EstimatedMean> means() = 0;  // one, or one a coordinate
};

class WaveAggregator : public Aggregator {
 public:
  using Aggregator::Aggregator;
  // Shares of the declared positions.
  virtual std::vector<double> distribution(bool smooth) = 0;
  // Of the numbers, from the mean of the reports: without bias, unlike that of the distribution.
  virtual EstimatedMean mean() = 0;
};

// Nothing for protocols that are not about numbers.
std::unique_ptr<Aggregator> make_number_aggregator(const Declaration& declaration);

}  // namespace sotto::local
