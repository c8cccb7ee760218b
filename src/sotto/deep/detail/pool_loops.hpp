// Detail: the largest number under a window, and where it stands. Free of LibTorch, compiled with
// -O3 (CMakeLists.txt).
#pragma once

#include <cstdint>
#include <vector>

namespace sotto::deep {

struct PoolShape {
  std::int64_t height, width;                // of a plane; windows lie inside of it
  std::int64_t kernel_height, kernel_width;  // of a window
  std::int64_t down, across;                 // from one window to the next

  std::int64_t out_height() const { return (height - kernel_height) / down + 1; }
  std::int64_t out_width() const { return (width - kernel_width) / across + 1; }
  // Windows at every place of a row, for steps of one; at those of one output row otherwise.
  std::int64_t places() const {
    return across == 1 && down == 1 ? (out_height() - 1) * width + out_width() : out_width();
  }
};

struct PoolScratch {
  explicit PoolScratch(const PoolShape& shape)
      : largest(static_cast<std::size_t>(shape.places())), where(largest.size()) {}
  std::vector<float> largest;
  std::vector<std::int32_t> where;
};

// out: the largest of each window; of equals the first by rows, of NaNs the last. where: its place,
// counted from the window's first number along the plane.
void largest_of_windows(const PoolShape& shape, const float* plane, PoolScratch& scratch,
                        float* out, std::int32_t* where);

// plane: zeros, and each gradient added at the place it came from, windows in order.
void spread_to_windows(const PoolShape& shape, const float* gradient, const std::int32_t* where,
                       float* plane);

}  // namespace sotto::deep
