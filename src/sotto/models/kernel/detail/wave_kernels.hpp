// The inner loops over waves: cosines and sines as 16-bit integers, their products and exact sums.
//
// What       waves(): cos and sin of 2π times a row's turns. centre(): less their means, scaled to
//            a length. products(): row times parameters. add_weighted(): Σ slope × row.
// Guarantee  A pair (cos, sin) has length ≤ 1, a centred row the length that was asked for at most,
//            as integers in steps of 2^−15. Sums are exact, whatever the width of vectors is.
// Method     Plain loops, compiled once for 256-bit vectors and once for any processor. sin and cos
//            of half the angle by Taylor's polynomials to x^13 and x^12, off by less than 10^−6
//            with rounding; values are drawn in by 2^−12 and truncated towards 0.
// Numerics   |slope| ≤ 2^14 and |row| ≤ √(1/1.09)·2^15 steps: four products fit 32 bits.
// Reference  docs/math/kernel.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::wave_kernels {

inline constexpr double kRowSteps = 0x1p15, kSlopeSteps = 0x1p14;

// directions: for each column, `pairs` numbers of turns; places: one for each column. out[2k],
// out[2k + 1]: cos and sin of wave k. turns: room for 2·`pairs`
// numbers.
void waves(const float* directions, const float* places, std::size_t columns, std::size_t pairs,
           float* turns, std::int16_t* out);
// row ← (row − means)·reach/max(least, |row − means|), both in steps. means and least are natural.
// room: `width` numbers.
void centre(std::int16_t* row, const float* means, std::size_t width, double reach, double least,
            float* room);
// products[i] = Σ_j rows[i·width + j]·theta[j], exact: ‖theta‖ ≤ 2^15, rows of norm below 2^15, so
// that every sum of products, of all or of some, fits 32 bits.
void products(const std::int16_t* rows, std::size_t count, std::size_t width,
              const std::int16_t* theta, std::int32_t* products);
// sums[j] += Σ_i slopes[i]·rows[i·width + j].
void add_weighted(const std::int16_t* rows, std::size_t count, std::size_t width,
                  const std::int16_t* slopes, std::int64_t* sums);

}  // namespace sotto::wave_kernels
