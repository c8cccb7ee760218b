// What many outputs of a mechanism on two inputs prove about ε, δ and Rényi divergence.
//
// What       audit_outputs: lower bounds from runs of any mechanism, ours or not, on two
//            neighbouring inputs. Outputs are lines of text; fields that are numbers are also seen
//            as numbers.
// Guarantee  Each bound holds with the stated confidence if runs are independent: the event that
//            tells the inputs apart is learnt and chosen on one half of the runs and counted on the
//            other.
// Method     Candidate scores: how much likelier a text is on one input; every numeric field, its
//            distance from the middle, the zeros that end its binary form (noise of floating point
//            betrays its centre there); a logistic classifier over all fields. The best
//            (score, threshold, direction) of that half becomes the event S, and with limits
//            P(S) ≥ p, Q(S) ≤ q: ε ≥ ln((p − δ)/q), δ(ε) ≥ p − e^ε·q, and the Rényi divergence is
//            at least that of the two coins p and q.
// Numerics   Limits are Clopper–Pearson's; nothing else enters a bound.
// Reference  [BTV21], [JUO20]; docs/math/audit.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto::audit {

struct OutputOptions {
  double delta = 0;
  double epsilon = 0;  // where a lower bound of δ is wanted
  double order = 2;    // of the Rényi divergence, above 1
  double confidence = 0.95;
};

struct OutputAudit {
  double epsilon = 0;
  double delta = 0;    // at OutputOptions::epsilon
  double renyi = 0;    // at OutputOptions::order
  double ceiling = 0;  // the ε that so many runs can prove
  std::string event;   // in words: which outputs tell the inputs apart
  bool first_likelier = true;
  double probability_lower = 0, other_upper = 0;  // p and q above
};

// Throws InvalidArgument for fewer than 20 outputs on a side.
OutputAudit audit_outputs(const std::vector<std::string>& first,
                          const std::vector<std::string>& second, const OutputOptions& options);

// Of two laws that are known exactly: the smallest ε ≥ 0 with δ(ε) ≤ delta, in the worse direction,
// ∞ when there is none. Probabilities of the same outputs in the same order.
double exact_epsilon(const std::vector<double>& first, const std::vector<double>& second,
                     double delta = 0);

}  // namespace sotto::audit
