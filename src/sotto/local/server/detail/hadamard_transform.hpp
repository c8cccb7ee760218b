// Detail: the Walsh–Hadamard transform of a power-of-two number of values, in place, without
// scaling: entry i becomes Σ_j (−1)^{popcount(i & j)} v_j.
#pragma once

#include <cstddef>
#include <span>

namespace sotto::local {

template <class T>
void hadamard_transform(std::span<T> values) {
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    for (std::size_t start = 0; start < values.size(); start += 2 * half) {
      for (std::size_t i = start; i < start + half; ++i) {
        const T a = values[i], b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
}

template <class Container>
void hadamard_transform(Container& values) {
  hadamard_transform(std::span(values));
}

}  // namespace sotto::local
