// What one noisy vote costs in Rényi divergence, given the votes.
//
// What       gnmax_renyi, lnmax_renyi, threshold_renyi: bounds at one order for this data set
//            against any neighbour, from q, the probability that the answer is not the likely one.
//            log_q_*: bounds of q from the counts. epsilon_of_renyi: the two conversions to (ε, δ).
// Guarantee  About one data set and all its neighbours, not about all pairs: a bound is as private
//            as the votes, and leaves only through SanitisePlan. Where a condition of a theorem
//            does not hold, the answer is the bound that holds for any votes.
// Method     GNMax: with μ2 = σ√ln(1/q), μ1 = μ2 + 1, ε_i = μ_i/σ²,
//              A = (1−q)/(1 − (q e^{ε2})^{(μ2−1)/μ2}),  B = e^{ε1}/q^{1/(μ1−1)},
//              ln[(1−q)A^{α−1} + q B^{α−1}]/(α−1),
//            valid for α < μ1, μ2 > 1, q e^{ε2} < 1 and
//              q ≤ e^{(μ2−1)ε2} / (μ1/(μ1−1)·μ2/(μ2−1))^{μ2}; else α/σ².
//            LNMax, ε0 = 2/scale: the least of αε0²/2, ε0 and, for q ≤ 1/(e^{ε0}+1),
//              ln[(1−q)((1−q)/(1−e^{ε0}q))^{α−1} + q e^{ε0(α−1)}]/(α−1).
//            A threshold on a maximum that one record moves by 1 is GNMax with √2·σ and the less
//            likely of its two answers. q may be any upper bound: all theorems allow it.
// Numerics   Logarithms throughout, results widened by 1e-12. granularity: noise on the lattice
//            granularity·ℤ ties and jumps; the gap is shortened by one step for it
//            (docs/math/pate.md). 0: the continuous law of the papers.
// Reference  [PAEGT17], [PSMRTE18], [CKS20]; docs/math/pate.md.
#pragma once

#include <cstdint>
#include <span>

namespace sotto::pate {

double log_one_minus_exp(double x);  // ln(1 − e^x) for x < 0

// ln P[the noise of one class beats that of another by `gap`].
double log_tail_gaussian(double gap, double sigma, double granularity = 0);
double log_tail_laplace(double gap, double scale, double granularity = 0);

// ln of a bound on the probability that the answer is not the largest count: the sum over the
// others, at most 1 − 1/classes.
double log_q_gaussian(std::span<const std::int64_t> counts, double sigma, double granularity = 0);
double log_q_laplace(std::span<const std::int64_t> counts, double scale, double granularity = 0);

double gnmax_renyi(double log_q, double sigma, double order);
double lnmax_renyi(double log_q, double scale, double order);
// log_probability: ln of the probability that the query is answered.
double threshold_renyi(double log_probability, double sigma, double order);

// Whether the theorem of GNMax speaks about this q and this order.
bool gnmax_bound_holds(double log_q, double sigma, double order);
// Above this ln q the bound that holds for any votes is the better one.
double gnmax_log_q0(double sigma, double order);

enum class Conversion { paper, cks20 };
// ε at δ of a mechanism with this Rényi divergence at this order.
double epsilon_of_renyi(double renyi, double order, double delta, Conversion conversion);

}  // namespace sotto::pate
