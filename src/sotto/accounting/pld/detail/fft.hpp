// Real Fourier transforms of sizes 2^a·3^b·5^c, over KissFFT's templates in double precision.
//
// Numerics   Every output is Σ x_j ω^{jk}(1 + e), |e| ≤ fft_error(n): each input passes log2(n) + 3
//            additions and multiplications by twiddle factors that are themselves correct to 2e-15.
//            Hence |error| ≤ fft_error(n)·Σ|x_j| for each output, and the same factor bounds the ℓ2
//            error relative to the ℓ2 norm.
// Reference  docs/adr/0005-fft-kissfft.md; docs/math/pld.md §6.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

std::size_t fft_size(std::size_t at_least);  // even, of small factors
double fft_error(std::size_t n);

// The first n/2 + 1 values of Σ_j x_j e^{−2πijk/n}; n = x.size() even.
void fft_real(std::span<const double> x, std::vector<std::complex<double>>& spectrum);
// The inverse, with the factor 1/n; the spectrum is overwritten.
void fft_real_inverse(std::vector<std::complex<double>>& spectrum, std::vector<double>& x);

}  // namespace sotto
