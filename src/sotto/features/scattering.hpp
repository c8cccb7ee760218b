// The scattering transform of grey images: fixed wavelets instead of learned filters.
//
// What       J = 2 scales, L = 8 directions, two orders: 81 channels of (side/4)² numbers; of 28 ×
//            28 pixels 81 × 7 × 7. The channels: the low pass, 16 of the first order (scale by
//            scale, direction by direction), 64 of the second (a fine direction with each coarse
//            one).
// Guarantee  None needed: a public function of one image, and of no other. Lanes of a batch never
//            meet, so that what becomes of an image does not depend on its company.
// Method     |…|x ⋆ ψ₁| ⋆ ψ₂| ⋆ φ with Morlet wavelets ψ and a Gaussian φ, the image padded by
//            reflection and everything periodic from there on. Convolutions with ψ in the Fourier
//            domain, those with φ (which is separable and subsampled) as two small matrix products.
// Numerics   Single precision, transforms of 36, 18 and 9 in two factors each; within 2e-6 of
//            double precision for pixels in [0, 1].
// Reference  [BM13]; the conventions are those of Kymatio [AALMRXZ20].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sotto/features/points.hpp"

namespace sotto::features {

class Scattering {
 public:
  // side: of the square images, a multiple of 4 from 8 to 64.
  explicit Scattering(std::size_t side = 28);
  ~Scattering();
  Scattering(Scattering&&) noexcept;
  Scattering& operator=(Scattering&&) noexcept;

  static constexpr std::size_t kChannels = 81;
  std::size_t side() const;
  std::size_t channel() const;  // numbers in a channel
  std::size_t width() const { return kChannels * channel(); }

  // pixels: images × side × side bytes, 255 is 1.
  Points apply(std::span<const std::uint8_t> pixels, unsigned threads = 0) const;

 private:
  struct Bank;
  std::unique_ptr<const Bank> bank_;
};

}  // namespace sotto::features
