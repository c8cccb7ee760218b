#include "sotto/deep/detail/patch_loops.hpp"

#include <algorithm>
#include <cstring>

#include "sotto/core/vector_clones.hpp"

namespace sotto::deep {
namespace {

// Inlined into its callers, which have clones for vector units.
[[gnu::always_inline]] inline void split_rows(const PatchShape& s, const float* image,
                                              float* split) {
  const std::int64_t rows = s.channels * s.in[0] * s.in[1], width = s.in[2];
  const std::int64_t stride = s.stride[2], length = s.phase();
  for (std::int64_t f = 0; f < stride; ++f) {
    // from[first + k·stride], inside of the row for begin ≤ k < end.
    const std::int64_t first = f - s.padding[2];
    const std::int64_t begin =
        std::clamp<std::int64_t>(first < 0 ? (-first + stride - 1) / stride : 0, 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(
        width > first ? (width - first + stride - 1) / stride : 0, begin, length);
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* __restrict from = image + r * width + first;
      float* __restrict to = split + (r * stride + f) * length;
      for (std::int64_t k = 0; k < begin; ++k) to[k] = 0;
      if (stride == 1)
        for (std::int64_t k = begin; k < end; ++k) to[k] = from[k];
      else if (stride == 2)
        for (std::int64_t k = begin; k < end; ++k) to[k] = from[2 * k];
      else
        for (std::int64_t k = begin; k < end; ++k) to[k] = from[k * stride];
      for (std::int64_t k = end; k < length; ++k) to[k] = 0;
    }
  }
}

// count rows of `wide` floats, from every `step` floats on, in kEights steps of eight each (0: as
// many as it takes): what is too much is overwritten by the next row, or lies in the slack.
template <int kEights>
[[gnu::always_inline]] inline void copy_rows(const float* from, std::int64_t step,
                                             std::int64_t count, std::int64_t wide, float* to) {
  for (std::int64_t r = 0; r < count; ++r, from += step, to += wide) {
    if constexpr (kEights == 0)
      for (std::int64_t k = 0; k < wide; k += 8) std::memcpy(to + k, from + k, 8 * sizeof(float));
    else
      for (int k = 0; k < 8 * kEights; k += 8) std::memcpy(to + k, from + k, 8 * sizeof(float));
  }
}

template <int kEights>
[[gnu::always_inline]] inline void lay_out_columns(const PatchShape& s, const float* split,
                                                   float* columns) {
  const std::int64_t length = s.phase(), row = s.stride[2] * length, plane = s.in[1] * row;
  const std::int64_t wide = s.out[2], high = s.out[1], down = s.stride[1];
  const auto clear = [&](std::int64_t rows) {
    std::memset(columns, 0, static_cast<std::size_t>(rows * wide) * sizeof(float));
    columns += rows * wide;
  };
  for (std::int64_t c = 0; c < s.channels; ++c)
    for (std::int64_t kd = 0; kd < s.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < s.kernel[1]; ++kh) {
        const auto [first, begin, end] = s.rows[static_cast<std::size_t>(kh)];
        for (const std::int64_t tap : s.taps) {
          const float* const taps =
              split + c * s.in[0] * plane + tap + (first + begin * down) * row;
          for (std::int64_t od = 0; od < s.out[0]; ++od) {
            const std::int64_t d = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
            if (d < 0 || d >= s.in[0]) {
              clear(high);
              continue;
            }
            if (begin > 0) clear(begin);
            copy_rows<kEights>(taps + d * plane, down * row, end - begin, wide, columns);
            columns += (end - begin) * wide;
            if (end < high) clear(high - end);
          }
        }
      }
}

}  // namespace

void PatchShape::settle() {
  for (std::int64_t kw = 0; kw < kernel[2]; ++kw) {
    const std::int64_t at = kw * dilation[2];
    taps.push_back(at % stride[2] * phase() + at / stride[2]);
  }
  for (std::int64_t kh = 0; kh < kernel[1]; ++kh) {
    const std::int64_t first = kh * dilation[1] - padding[1], step = stride[1];
    const std::int64_t begin = first < 0 ? std::min((-first + step - 1) / step, out[1]) : 0;
    const std::int64_t past = in[1] > first ? (in[1] - first + step - 1) / step : 0;
    rows.push_back({first, begin, std::clamp(past, begin, out[1])});
  }
}

SOTTO_CLONES void lay_out_patches(const PatchShape& s, const float* image, float* split,
                                  float* columns) {
  split_rows(s, image, split);
  switch ((s.out[2] + 7) / 8) {
    case 1: return lay_out_columns<1>(s, split, columns);
    case 2: return lay_out_columns<2>(s, split, columns);
    case 3: return lay_out_columns<3>(s, split, columns);
    case 4: return lay_out_columns<4>(s, split, columns);
    default: return lay_out_columns<0>(s, split, columns);
  }
}

SOTTO_CLONES void add_squares_of_columns(const float* x, std::int64_t rows, std::int64_t t,
                                         double* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* __restrict from = x + r * t;
    double* __restrict sum = to;
    for (std::int64_t s = 0; s < t; ++s) {
      const double v = from[s];
      sum[s] += v * v;
    }
  }
}

}  // namespace sotto::deep
