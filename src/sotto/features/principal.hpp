// Standardisation and principal components, fitted on public records.
//
// What       PublicComponents centres each column, divides it by its (or its channel's) standard
//            deviation, keeps the first components and scales each record to length 1.
// Guarantee  None of its own: fitted on public records only, it is a public function, so applying
//            it to private records keeps neighbours neighbours. Every coordinate of what comes out
//            lies in [−1, 1], a record that cannot be scaled becomes 0.
// Method     Eigenvectors of the covariance matrix; signs fixed by the largest entry.
// Numerics   Double precision sums, single precision results.
// Reference  docs/math/pate.md.
#pragma once

#include <string>
#include <vector>

#include "sotto/features/points.hpp"

namespace sotto::features {

class PublicComponents {
 public:
  // channel: so many columns in a row share a standard deviation, e.g. 49 of a 7 × 7 map.
  static PublicComponents fit(const Points& records, std::size_t components,
                              std::size_t channel = 1, unsigned threads = 0);

  // The numbers of it, and one made of such numbers: throws InvalidArgument when they do not fit
  // together or are not finite.
  struct Parts {
    std::vector<float> mean, inverse_deviation;
    std::vector<float> directions;  // inputs × components
  };
  explicit PublicComponents(Parts parts);
  const Parts& parts() const { return parts_; }

  std::size_t inputs() const { return parts_.mean.size(); }
  std::size_t components() const { return parts_.directions.size() / inputs(); }
  Points apply(const Points& records, unsigned threads = 0) const;

 private:
  Parts parts_;
};

}  // namespace sotto::features
