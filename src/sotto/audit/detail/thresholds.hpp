// Bounds of ε from scores by the four ways of choosing a threshold; scores ascend.
#pragma once

#include <span>
#include <vector>

#include "sotto/audit/scores.hpp"

namespace sotto::audit {

struct ThresholdBounds {
  double epsilon = 0;  // certified
  double mu = 0;       // under the Gaussian assumption
};

// How members and non-members fall beside a threshold: beyond it is called a member.
AttackCounts count_beyond(std::span<const double> members, std::span<const double> nonmembers,
                          double threshold);

ThresholdBounds threshold_bounds(std::span<const double> members,
                                 std::span<const double> nonmembers, const ScoreOptions& options);
// What scores without a single error would give.
ThresholdBounds threshold_ceiling(std::size_t members, std::size_t nonmembers,
                                  const ScoreOptions& options);

}  // namespace sotto::audit
