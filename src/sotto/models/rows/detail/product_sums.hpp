// Detail: Σ y yᵀ over rows of whole numbers, exact in double precision.
//
// What       add(row) for every row, then sum(i, j) for j ≥ i.
// Guarantee  None of its own. Exact while all sums stay within 2^53 (points of a ball: up to 2^21
//            rows), so that neither the order nor fused operations change a bit.
// Method     Rows are packed in strips of eight columns until there are enough of them; strips are
//            then multiplied pairwise, four by eight sums at a time in registers.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace sotto::detail {

class ProductSums {
 public:
  explicit ProductSums(std::size_t width);

  void add(const float* row);
  void finish() { flush(); }  // before sum()
  double sum(std::size_t i, std::size_t j) const { return sums_[i * stride_ + j]; }

 private:
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };
  using Doubles = std::unique_ptr<double[], Free>;
  static Doubles zeros(std::size_t count);
  void flush();

  std::size_t width_, stride_, waiting_ = 0;
  Doubles packed_, sums_;
};

}  // namespace sotto::detail
