// Detail: losses of margins, and the residuals that a noisy descent sums.
//
// A residual is divided by a public clip c and bounded afterwards. c is fixed for classes; for a
// number it follows the residuals: 1.2 times their noisy root mean square, released
// kResidualReleases times. A record adds min(1, (r/a)²) ∈ [0, 1] each time, so that adding,
// removing or replacing one moves the sum by at most 1. The reach a = min(2, 3c) follows from the
// clip that was released before: noise is then as small as the residuals have become.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sotto/core/event.hpp"
#include "sotto/learning/family.hpp"

namespace sotto {

enum class MarginLoss { two_classes, classes, number };

inline constexpr double kResidualShare = 0.03;  // of the descent's budget
inline constexpr std::size_t kResidualReleases = 5;

MarginLoss margin_loss(const Facts& facts);
// Margins of a model for these facts: one, or one for each of several classes.
std::size_t margins_of(const Facts& facts);

// From the target of the encoder to [−1, 1], for marginals.
double (*label_of(MarginLoss loss))(double);

double first_clip(MarginLoss loss);
// Residuals of one record divided by the clip, each in [−1, 1]; those of several classes in [−1, 1]
// undivided. Returns how much the loss curves there, as a part of the most it can: a number in [0,
// 1].
double residuals(MarginLoss loss, double clip, std::span<const double> margins, float target,
                 std::span<double> out);
// Of many records, one behind the other: margins and residuals of each, and a curvature of each
// unless there is no place for it. What one record has depends on no other. Residuals may be longer
// than 1 here, or not be finite.
void residuals_of_all(MarginLoss loss, double clip, std::span<const double> margins,
                      std::span<const float> targets, std::span<double> out,
                      std::span<double> curvatures = {});
// Scales the residuals of each record down to norm 1 and truncates them to whole steps of 2^−20;
// what is not finite becomes 0.
inline constexpr int kResidualBits = 20;
void to_residual_steps(std::span<double> residuals, std::size_t of_a_record);
// In units of the clip for a number, whose residuals beyond it count as long as the clip.
double loss_of(MarginLoss loss, double clip, std::span<const double> margins, float target);
// A Newton step of margins, or a part of it for several classes, is minus this times a sum of
// residuals over a sum of curvatures.
double newton_scale(MarginLoss loss, double clip, std::size_t margins);

// Whether the residuals of a number are measured before this round.
bool measures_residuals(std::uint64_t round, std::uint64_t rounds);
double reach_of(double clip);
// Of the residual of the clamped prediction, which is cut at the reach: in [0, 1].
double part_of_reach(double margin, float target, double reach);
// After the clip that the reach is of, from the noisy mean of these parts.
double next_clip(double clip, double mean_part);

// The largest ρ whose event the budget pays for. Refuses a pure ε.
double confirmed_rho(const TrainingRequest& request, Relation relation,
                     const std::function<Event(double rho)>& event_of);

}  // namespace sotto
