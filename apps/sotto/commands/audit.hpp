// What the audits share: the claim that a bound is held against.
#pragma once

#include "options/arguments.hpp"
#include "options/command.hpp"
#include "shell/context.hpp"
#include "sotto/audit/counts.hpp"

namespace sotto::cli {

Command audit_counts_command();
Command audit_mechanism_command();
Command audit_replay_command();
Command audit_one_run_command();
Command audit_scores_command();

// --delta, --confidence, --claim.
std::vector<Option> audit_options();
// Throws VerificationFailed when the bound exceeds what --claim says. What was printed stays: it is
// the evidence.
void hold_against_claim(const Arguments& arguments, double epsilon_lower, Context& context);
// One line for people; nothing where δ = 0 leaves no ε.
void print_gaussian(const audit::GaussianEstimate& estimate, Context& context);

}  // namespace sotto::cli
