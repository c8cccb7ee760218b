// Additive mechanisms: a number or a vector plus noise of the right size.
//
// What       AdditiveMechanism noises real queries on the safe grid; GeometricMechanism noises
//            whole numbers with discrete Laplace noise.
// Guarantee  For every pair of neighbours under `relation` whose query values (as doubles) are at
//            most the stated sensitivity apart, the release costs at most the budget. Event: the
//            discrete noise that was drawn, in natural units.
// Method     The query is put on a power-of-two grid (⌊q/g + ½⌋), which moves neighbours apart by
//            at most one step a coordinate: the sensitivity in steps is ⌈Δ/g⌉ + d − 1 in ℓ1 and Δ/g
//            + √d in ℓ2. Exact integer noise is added there; g is 2^-40 of the noise, so the
//            rounding costs about d·2^-40 of it. A sensitivity in another norm is converted (ℓ∞ →
//            ℓ1 costs d, …).
// Numerics   The grid depends on public facts only, the output lies on it whatever the input;
//            saturation at 2^100 steps.
// Reference  [DMNS06], [CKS20], [Mir12], [GRS09]; docs/math/additive-mechanisms.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

// The same bound stated in another norm for vectors of this dimension, rounded up.
double sensitivity_in(const Sensitivity& sensitivity, Norm norm, std::size_t dimension);

class AdditiveMechanism {
 public:
  // The budget picks the noise: pure ε → Laplace, else Gaussian.
  AdditiveMechanism(Relation relation, const Sensitivity& sensitivity, const Budget& budget,
                    std::size_t dimension = 1);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return noise_.describe(); }
  const LatticeNoise& noise() const { return noise_; }

  // Throws InvalidArgument when a value is not finite (fail closed) or the dimension is another.
  Release<double> run(double query, Rng& rng) const;
  Release<std::vector<double>> run(std::span<const double> query, Rng& rng) const;

 private:
  LatticeNoise noise_;
};

class GeometricMechanism {
 public:
  // sensitivity: ℓ1, a whole number ≥ 1. Budget: pure ε (a ρ or (ε, δ) would be wasted on it and is
  // refused).
  GeometricMechanism(Relation relation, std::int64_t sensitivity, Epsilon epsilon,
                     std::size_t dimension = 1);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return noise_.describe(); }
  const LatticeNoise& noise() const { return noise_; }

  Release<std::int64_t> run(std::int64_t query, Rng& rng) const;  // saturates at the ends of int64
  Release<std::vector<std::int64_t>> run(std::span<const std::int64_t> query, Rng& rng) const;

 private:
  LatticeNoise noise_;
};

}  // namespace sotto
