// Membership attacks: from what models say of records to a score that tells members.
//
// What       membership_scores: one score for each record, high for "it was trained on". The
//            attacker sees what the attacked model says of the records and, for all attacks but
//            loss and entropy, has shadow models whose members are known.
// Guarantee  None: an attack. What audit_scores proves from its scores is a bound whatever the
//            attack, if the coins of the attacked model were fair and its own.
// Method     loss: the confidence in the truth. entropy: modified entropy of the outputs. shadow: a
//            classifier for each class, learnt from the shadow models. lira: ln N(φ; μ_in, σ_in) −
//            ln N(φ; μ_out, σ_out) with means of each record's confidence φ over the shadow models;
//            lira_offline: Φ((φ − μ_out)/σ_out); lira_offline_density: −ln N(φ; μ_out, σ_out).
//            rmia: the share of records z with (p(x)/p̄(x)) / (p(z)/p̄(z)) ≥ 1.
// Numerics   Spreads are those of all records together below 64 shadow models, and at least 1e-6.
// Reference  [YGFJ18], [SM21], [SSSS17], [CCN+22], [ZLS24]; docs/math/audit.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sotto::audit {

// What one model says of one record.
struct Sight {
  double confidence = 0;    // φ: ln p − ln(1 − p) of the true class; −|residual| of a number
  double likelihood = 0;    // p of the truth
  double entropy = 0;       // modified entropy of the outputs; the loss of a number
  std::uint32_t label = 0;  // the true class
};

// From class probabilities, whatever their sum; the truth is a position.
Sight sight_of_class(std::span<const double> probabilities, std::uint32_t truth);
// From a residual in units of a typical one.
Sight sight_of_number(double residual);

enum class Attack { loss, entropy, shadow, lira, lira_offline, lira_offline_density, rmia };
std::string_view name(Attack attack);
Attack parse_attack(std::string_view text);  // throws InvalidArgument
bool needs_shadows(Attack attack);

// One model: what it says of every record, and who was in its data.
struct SeenModel {
  std::vector<Sight> sights;
  std::vector<bool> members;
};

// Throws InvalidArgument where the attack needs shadow models and there are fewer than two, or
// where models do not say something of every record.
std::vector<double> membership_scores(Attack attack, const std::vector<Sight>& target,
                                      const std::vector<SeenModel>& shadows);

}  // namespace sotto::audit
