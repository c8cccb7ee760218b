// Components of products of features, fitted on public records.
//
// What       KernelComponents sends a record of length 1 to its leading components in the space of
//            all products of `degree` of its coordinates: what a linear model makes of them is a
//            polynomial of the record.
// Guarantee  None of its own: fitted on public records only, it is a public function, so applying
//            it to private records keeps neighbours neighbours. Every coordinate of what comes out
//            lies in [−1, 1], a record that cannot be scaled becomes 0.
// Method     Nyström: with the kernel k(x, y) = (⟨x, y⟩ + ½)^degree and public landmarks l_i, the
//            first eigenvectors of k(l_i, l_j), divided by the roots of their eigenvalues, times
//            k(x, l_i). Then centred on the public records and scaled to length 1.
// Numerics   Single precision products in blocks of one size, double precision eigenvectors.
// Reference  [WS01]; docs/math/pate.md.
#pragma once

#include <vector>

#include "sotto/features/points.hpp"

namespace sotto::features {

class KernelComponents {
 public:
  // records: of length 1. Landmarks are `landmarks` of them, evenly spaced (all where there are
  // fewer). Throws InvalidArgument where there are fewer landmarks than components.
  static KernelComponents fit(const Points& records, std::size_t components, std::size_t landmarks,
                              unsigned degree = 2, unsigned threads = 0);

  // The numbers of it, and one made of such numbers: throws InvalidArgument when they do not fit
  // together or are not finite.
  struct Parts {
    unsigned degree = 2;
    Points landmarks = {};
    std::vector<float> projection = {};  // landmarks × components
    std::vector<float> centre = {};      // components
  };
  explicit KernelComponents(Parts parts);
  const Parts& parts() const { return parts_; }

  std::size_t inputs() const { return parts_.landmarks.width; }
  std::size_t components() const { return parts_.centre.size(); }
  Points apply(const Points& records, unsigned threads = 0) const;

 private:
  Parts parts_;
};

}  // namespace sotto::features
