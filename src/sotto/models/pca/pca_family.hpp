// Principal components with privacy: the family `pca`.
//
// What       k orthonormal directions that hold as much of the variance of encoded records as
//            possible, and a mean; `transform` writes the coordinates along them and takes them
//            back.
// Guarantee  As the method's plan says (detail/pca_training.hpp), under every relation and unit.
// Method     gauss: symmetric Gaussian noise on the scatter matrix. laplace: Laplace noise on the
//            moments, pure ε. bingham: directions drawn one by one from the exponential mechanism,
//            pure ε. sulq: noise on every entry, a baseline.
// Numerics   Sums are exact integers, noise is exact; the rest is post-processing.
// Reference  [DTTZ14], [CSS13], [BDMN05]; docs/math/pca.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family pca_family();

}  // namespace sotto
