// Detail: the patches of a convolution as columns. Free of LibTorch, compiled with -O3
// (CMakeLists.txt).
//
// Rows of the image are first copied with their padding, every stride-th number together (a
// *phase*); each row of a column is then a run of one of these, however wide the stride.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sotto::deep {

struct PatchShape {
  using Three = std::array<std::int64_t, 3>;  // depth, height, width; missing ones are 1
  std::int64_t channels;
  Three in, out, kernel, stride, padding, dilation;

  // Floats of one phase of a row, and of all rows of an image.
  std::int64_t phase() const { return (dilation[2] * (kernel[2] - 1)) / stride[2] + out[2]; }
  std::int64_t split() const { return channels * in[0] * in[1] * stride[2] * phase() + kSlack; }
  std::int64_t columns() const {
    return channels * kernel[0] * kernel[1] * kernel[2] * out[0] * out[1] * out[2] + kSlack;
  }
  static constexpr std::int64_t kSlack = 8;  // copies go in steps of eight

  // What is the same for every image.
  struct Rows {
    std::int64_t first, begin, end;  // first + o·stride is a row for begin ≤ o < end
  };
  std::vector<std::int64_t> taps = {};  // by offset in the width: its phase and place there
  std::vector<Rows> rows = {};          // by offset in the height
  void settle();                        // fills in these two
};

// image: (channels, in). shape: settled. split: room for shape.split() floats. columns: room for
// shape.columns(), [channel, kernel offset][output position].
void lay_out_patches(const PatchShape& shape, const float* image, float* split, float* columns);

// to[s] += x², over `rows` rows of t floats, in double.
void add_squares_of_columns(const float* x, std::int64_t rows, std::int64_t t, double* to);

}  // namespace sotto::deep
