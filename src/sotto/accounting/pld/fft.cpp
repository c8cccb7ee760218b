#include "sotto/accounting/pld/detail/fft.hpp"

#include <array>
#include <cmath>
#include <kissfft/kissfft.hh>
#include <memory>
#include <numbers>

namespace sotto {
namespace {

using Complex = std::complex<double>;

// Plans cost more than a small transform; the few sizes of one computation are kept per thread.
struct Plan {
  explicit Plan(std::size_t n)
      : size(n), forward(n / 2, false), inverse(n / 2, true), twiddle(n / 4 + 1) {
    for (std::size_t k = 0; k < twiddle.size(); ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      twiddle[k] = {std::cos(angle), std::sin(angle)};
    }
  }
  std::size_t size;
  kissfft<double> forward, inverse;
  std::vector<Complex> twiddle;
};

const Plan& plan(std::size_t n) {
  constexpr std::size_t kKept = 1 << 18;  // larger plans are few and would hold memory
  thread_local std::array<std::unique_ptr<Plan>, 8> kept;
  thread_local std::size_t next = 0;
  for (const auto& p : kept)
    if (p && p->size == n) return *p;
  for (auto& p : kept)
    if (p && p->size > kKept) p.reset();
  auto& slot = kept[next++ % kept.size()];
  slot = std::make_unique<Plan>(n);
  return *slot;
}

}  // namespace

std::size_t fft_size(std::size_t at_least) {
  std::size_t best = 8;
  while (best < at_least) best *= 2;
  for (std::size_t five : {1, 5, 25})
    for (std::size_t three : {1, 3, 9}) {
      std::size_t n = 8 * five * three;
      while (n < at_least) n *= 2;
      if (n < best) best = n;
    }
  return best;
}

double fft_error(std::size_t n) { return 4e-15 * (std::log2(static_cast<double>(n)) + 3); }

void fft_real(std::span<const double> x, std::vector<Complex>& spectrum) {
  const std::size_t n = x.size(), m = n / 2;
  spectrum.resize(m + 1);
  plan(n).forward.transform_real(x.data(), spectrum.data());
  spectrum[m] = spectrum[0].imag();
  spectrum[0] = spectrum[0].real();
}

void fft_real_inverse(std::vector<Complex>& spectrum, std::vector<double>& x) {
  const std::size_t m = spectrum.size() - 1, n = 2 * m;
  const Plan& p = plan(n);
  // Pack the even and odd halves of the real output into one complex transform of half the size.
  const double scale = 1 / static_cast<double>(n);
  for (std::size_t k = 0; 2 * k <= m; ++k) {
    const Complex a = spectrum[k], b = std::conj(spectrum[m - k]);
    const Complex even = a + b, odd = (a - b) * p.twiddle[k];
    spectrum[k] = scale * Complex(even.real() - odd.imag(), even.imag() + odd.real());
    // The twiddle of m − k is −conj(twiddle of k).
    const Complex even2 = std::conj(even), odd2 = std::conj(a - b) * std::conj(p.twiddle[k]);
    if (k > 0 || m == 0)
      spectrum[m - k] = scale * Complex(even2.real() - odd2.imag(), even2.imag() + odd2.real());
  }
  x.resize(n);
  p.inverse.transform(spectrum.data(), reinterpret_cast<Complex*>(x.data()));
}

}  // namespace sotto
