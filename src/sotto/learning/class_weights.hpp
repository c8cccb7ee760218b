// Class weights: predictions for someone to whom classes do not matter as often as they occur.
//
// What       weighted(): a classifier whose probabilities are p_c·w_c, normalised, and whose class
//            is the likeliest of these. balanced_weights(): w_c = 1/share_c, so that a rare class
//            counts as much as a common one. ClassSharesPlan: the shares where nobody knows them.
// Guarantee  Weighting is post-processing of a released model: given weights and declared shares
//            cost nothing. Estimated shares cost the event of one noisy histogram: a record is in
//            one class, so that neighbours differ by 1 in one count
//            (add_remove, zero_out: ℓ1 = ℓ2 = 1) or in two (replace_one: ℓ1 = 2, ℓ2 = √2), times
//            the records of one unit.
// Method     A classifier that learnt p_c(x) ∝ share_c·f_c(x) gives the answer for other shares by
//            p_c·w_c. Weighting records in training instead would scale the signal of common
//            classes down and leave the noise as it is.
// Numerics   Integer counts, exact noise (mechanisms/counts.hpp). A share below 1/rows counts as
//            1/rows.
// Reference  docs/math/linear-models.md, section "Class weights".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/learning/training_plan.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto {

inline constexpr const char* kClassWeightsFile = "class_weights.json";

// One positive weight for each class, in their order. Throws InvalidArgument for another number of
// them, or for one that is not positive and finite.
std::unique_ptr<Model> weighted(std::unique_ptr<Model> model, std::vector<double> weights);
// What the file of a weighted model says; throws DataError.
std::vector<double> read_class_weights(const std::string& text);

// shares: not negative; smallest: what a smaller one counts as. Throws InvalidArgument.
std::vector<double> balanced_weights(const std::vector<double>& shares, double smallest);

// Trains with a part of the budget and weights by the shares that the rest finds. `inner` has the
// other part: the two events compose. Records must be a table.
std::unique_ptr<TrainingPlan> balanced_training(std::unique_ptr<TrainingPlan> inner,
                                                const Facts& facts, const Budget& share_budget);

// Trains, then weights: given weights, or those of declared shares.
std::unique_ptr<TrainingPlan> weighted_training(std::unique_ptr<TrainingPlan> inner,
                                                std::vector<double> weights);

}  // namespace sotto
