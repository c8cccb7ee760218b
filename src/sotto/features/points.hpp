// Points: rows of numbers, one after the other. What the parts of this module pass around.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::features {

struct Points {
  std::size_t width = 0;
  std::vector<float> values = {};  // rows × width

  std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> row(std::size_t i) const { return {values.data() + i * width, width}; }
  std::span<float> row(std::size_t i) { return {values.data() + i * width, width}; }
};

}  // namespace sotto::features
