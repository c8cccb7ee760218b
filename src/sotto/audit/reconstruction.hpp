// Reconstruction: a secret bit of every record from counts over many subsets of them.
//
// What       random_subsets and exact_counts make the questions and their answers; reconstruct
//            finds bits that fit answers, exact or noisy.
// Guarantee  None: an attack. With exact answers to as many random subsets as there are records,
//            or a few more, nearly every bit comes out; with noise of order √records it does not.
// Method     A x ≈ b with 0 ≤ x ≤ 1, rows of A the subsets. least_squares: projected accelerated
//            gradient. linear_programming: Σ|A x − b| by primal-dual steps, which does not mind a
//            share of answers that are far off. Rows and answers are taken relative to their means:
//            the constant direction has an eigenvalue larger by the number of records than all
//            others.
// Numerics   Single precision for A, double for sums; a fixed number of steps.
// Reference  [DN03], [DMT07]; docs/math/audit.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sotto::audit {

struct Subsets {
  std::size_t records = 0, count = 0;
  std::vector<std::uint8_t> contains;  // count × records

  bool has(std::size_t subset, std::size_t record) const {
    return contains[subset * records + record] != 0;
  }
};

// Every record is in every subset by a fair coin. The questions are public: any seed will do.
// Throws InvalidArgument for none of either, and where records × count exceeds 2²⁶.
Subsets random_subsets(std::size_t records, std::size_t count, std::uint64_t seed);
std::vector<double> exact_counts(const Subsets& subsets, const std::vector<bool>& secrets);

enum class Solver { least_squares, linear_programming };
std::string_view name(Solver solver);
Solver parse_solver(std::string_view text);  // throws InvalidArgument

// How sure each bit is to be 1, from 0 to 1.
std::vector<double> reconstruct(const Subsets& subsets, const std::vector<double>& answers,
                                Solver solver);

}  // namespace sotto::audit
