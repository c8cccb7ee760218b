#include "sotto/local/client/sketch.hpp"

#include <bit>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/hash_family.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {
namespace {

constexpr std::uint64_t kField = (std::uint64_t{1} << 61) - 1;

std::uint64_t reduced(uint128 x) {
  auto folded = static_cast<std::uint64_t>((x & kField) + (x >> 61));  // x < 2^124
  folded = (folded & kField) + (folded >> 61);
  return folded >= kField ? folded - kField : folded;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return reduced(static_cast<uint128>(a) * b);
}

void check(const SketchShape& shape) {
  if (shape.rows < 1 || shape.rows > 1 << 20 || shape.width < 2 || shape.width > 1 << 20)
    throw InvalidArgument("a sketch has 1 to 2^20 `rows` and a `width` of 2 to 2^20");
}

}  // namespace

std::uint64_t sketch_cell(std::uint64_t row, std::uint64_t key, std::uint64_t width) {
  const SeededHash coefficients = hash_of_seed(~row);
  const std::uint64_t x = reduced(key);
  const std::uint64_t a = reduced(coefficients.low), b = reduced(coefficients.high),
                      c = reduced(coefficients.add);
  const std::uint64_t value = reduced(static_cast<uint128>(product(product(a, x) + b, x)) + c);
  return static_cast<std::uint64_t>(static_cast<uint128>(value) * width >> 61);
}

CountSketch::CountSketch(double epsilon, const SketchShape& shape)
    : shape_(shape), bits_(UnaryEncoding::symmetric(epsilon, shape.width)) {
  check(shape);
}

void CountSketch::answer(const Value& value, Memory* memory, Rng& rng,
                         std::span<std::uint8_t> report) const {
  const std::uint64_t row = uniform_below(rng, shape_.rows);
  const std::size_t first = bytes_for(shape_.rows);
  write_whole(report.first(first), row);
  bits_.answer(sketch_cell(row, key_of_word(word(value)), shape_.width), memory, rng,
               report.subspan(first));
}

long double CountSketch::probability(const Value& value, Bytes report) const {
  const std::size_t first = bytes_for(shape_.rows);
  const std::uint64_t row = read_whole(report.first(first));
  return bits_.probability(sketch_cell(row, key_of_word(word(value)), shape_.width),
                           report.subspan(first));
}

HadamardSketch::HadamardSketch(double epsilon, const SketchShape& shape) : shape_(shape) {
  check(shape);
  if (!std::has_single_bit(shape.width))
    throw InvalidArgument("the `width` of a Hadamard sketch is a power of two");
  turn_ = dyadic_above(1 / (std::exp(inner_epsilon(epsilon)) + 1));
  epsilon_ = log_ratio_up(dyadic_rest(turn_), dyadic(turn_));
}

double HadamardSketch::scale() const {
  return static_cast<double>(1 / (dyadic_rest(turn_) - dyadic(turn_)));
}

bool HadamardSketch::readable(Bytes report) const {
  const std::size_t first = bytes_for(shape_.rows);
  return report.size() == report_bytes() && read_whole(report.first(first)) < shape_.rows &&
         read_whole(report.subspan(first)) < 2 * shape_.width;
}

HadamardSketch::Told HadamardSketch::told(Bytes report) const {
  const std::size_t first = bytes_for(shape_.rows);
  const std::uint64_t t = read_whole(report.subspan(first));
  return {read_whole(report.first(first)) * shape_.width + t / 2, t % 2 != 0 ? -1 : 1};
}

void HadamardSketch::answer(const Value& value, Memory*, Rng& rng,
                            std::span<std::uint8_t> report) const {
  const std::uint64_t row = uniform_below(rng, shape_.rows),
                      coordinate = uniform_below(rng, shape_.width);
  const std::uint64_t cell = sketch_cell(row, key_of_word(word(value)), shape_.width);
  const bool negative = std::popcount(cell & coordinate) % 2 != 0, turned = flip(rng, turn_);
  const std::size_t first = bytes_for(shape_.rows);
  write_whole(report.first(first), row);
  write_whole(report.subspan(first), 2 * coordinate + (negative != turned ? 1 : 0));
}

long double HadamardSketch::probability(const Value& value, Bytes report) const {
  const std::size_t first = bytes_for(shape_.rows);
  const std::uint64_t row = read_whole(report.first(first)),
                      told = read_whole(report.subspan(first));
  const std::uint64_t cell = sketch_cell(row, key_of_word(word(value)), shape_.width);
  const bool negative = std::popcount(cell & (told / 2)) % 2 != 0;
  return negative == (told % 2 != 0) ? dyadic_rest(turn_) : dyadic(turn_);
}

}  // namespace sotto::local
