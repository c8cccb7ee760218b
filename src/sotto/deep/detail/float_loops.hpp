// Detail: loops over floats that must become vector code. Free of LibTorch, compiled with -O3
// (CMakeLists.txt).
#pragma once

#include <cstdint>

namespace sotto::deep {

// ‖x‖² of n floats, and x·y, in double.
double squares_of(const float* x, std::int64_t n);
double dot(const float* x, const float* y, std::int64_t n);

// to[c·rows + r] = from[r·stride + c]: a matrix of so many rows and columns, the other way round.
// Asks the memory for what follows in every row.
void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
               float* to);

// to += from, in double.
void add_floats(double* to, const float* from, std::int64_t n);
// to += factor·from; products of floats are exact in double.
void add_scaled(double* to, const float* from, float factor, std::int64_t n);
// x −= rate·(gradient + noise).
void descend(float* x, const float* gradient, const float* noise, float rate, std::int64_t n);
void descend(float* x, const float* gradient, float rate, std::int64_t n);  // without noise
// v ← momentum·v + scale·(gradient + noise), x −= rate·v.
void descend(float* x, float* v, const float* gradient, const float* noise, float scale,
             float momentum, float rate, std::int64_t n);
void descend(float* x, float* v, const float* gradient, float scale, float momentum, float rate,
             std::int64_t n);

// Rows of n floats that indices pick: table[index] += factor·row, for columns [first, last) only.
// Records have t indices each;
// `padding` is left out, and so are records with factor 0.
struct Gathered {
  const std::int64_t* index;
  const float* rows;
  const float* factor;
  std::int64_t records, t, n, padding;
};
void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last, float* table);
void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last, double* table);

}  // namespace sotto::deep
