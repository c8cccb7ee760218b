#include "sotto/accounting/numeric/exact_sum.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {
__extension__ using Wide = unsigned __int128;
}

// Adds (high·2^64 + low)·2^bit.
void ExactSum::add_at(std::uint64_t low, std::uint64_t high, int bit) {
  const Wide value = (Wide{high} << 64) | low;
  int i = bit / 64;
  const int shift = bit % 64;
  // Up to 117 bits shifted by up to 63 touch three limbs.
  std::uint64_t part[3] = {
      static_cast<std::uint64_t>(value) << shift,
      static_cast<std::uint64_t>(shift == 0 ? value >> 64 : value >> (64 - shift)),
      shift == 0 ? 0 : static_cast<std::uint64_t>(value >> 64) >> (64 - shift)};
  bool carry = false;
  for (int k = 0; k < 3 || carry; ++k, ++i) {
    if (k < 3 && part[k] == 0 && !carry) continue;
    if (i >= kLimbs)
      throw AccountingError("a sum of spends exceeds every budget that can be stated");
    const Wide sum = Wide{limb_[i]} + (k < 3 ? part[k] : 0) + (carry ? 1 : 0);
    limb_[i] = static_cast<std::uint64_t>(sum);
    carry = (sum >> 64) != 0;
  }
}

void ExactSum::add(double value, std::uint64_t count) {
  if (!(value >= 0) || !std::isfinite(value)) {
    throw InvalidArgument(
        fmt::format("a spend is {}; it must be a finite number, 0 or more", value));
  }
  if (value == 0 || count == 0) return;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52);
  const std::uint64_t fraction = bits & ((1ull << 52) - 1);
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | (1ull << 52);
  const Wide product = Wide{mantissa} * count;
  add_at(static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64),
         exponent == 0 ? 0 : exponent - 1);
}

void ExactSum::add(const ExactSum& other) {
  for (int i = 0; i < kLimbs; ++i) {
    if (other.limb_[i] != 0) add_at(other.limb_[i], 0, 64 * i);
  }
}

void ExactSum::subtract(const ExactSum& other) {
  if (other > *this) throw DataError("more is taken from a sum of spends than was added to it");
  bool borrow = false;
  for (int i = 0; i < kLimbs; ++i) {
    const Wide take = Wide{other.limb_[i]} + (borrow ? 1 : 0);
    borrow = take > limb_[i];
    limb_[i] -= static_cast<std::uint64_t>(take);
  }
}

bool ExactSum::zero() const { return *this == ExactSum{}; }

double ExactSum::upper() const {
  int top = kLimbs - 1;
  while (top >= 0 && limb_[top] == 0) --top;
  if (top < 0) return 0;
  const int high = 64 * top + 63 - std::countl_zero(limb_[top]);  // the leading bit
  const int low = std::max(0, high - 52);                         // 53 bits from here
  const auto word = [&](int bit) { return bit / 64 < kLimbs ? limb_[bit / 64] : 0; };
  std::uint64_t mantissa = word(low) >> (low % 64);
  if (low % 64 != 0) mantissa |= word(low + 64) << (64 - low % 64);
  if (high - low < 63) mantissa &= (1ull << (high - low + 1)) - 1;
  bool rest = (low % 64) != 0 && (limb_[low / 64] & ((1ull << (low % 64)) - 1)) != 0;
  for (int i = 0; i < low / 64; ++i) rest = rest || limb_[i] != 0;
  return std::ldexp(static_cast<double>(mantissa + (rest ? 1 : 0)), low - 1074);
}

std::strong_ordering operator<=>(const ExactSum& a, const ExactSum& b) {
  for (int i = ExactSum::kLimbs - 1; i >= 0; --i) {
    if (a.limb_[i] != b.limb_[i]) return a.limb_[i] <=> b.limb_[i];
  }
  return std::strong_ordering::equal;
}

std::string ExactSum::hex() const {
  std::string out;
  for (int i = kLimbs - 1; i >= 0; --i) {
    if (out.empty() && limb_[i] == 0) continue;
    out += out.empty() ? fmt::format("{:x}", limb_[i]) : fmt::format("{:016x}", limb_[i]);
  }
  return out.empty() ? "0" : out;
}

ExactSum ExactSum::from_hex(const std::string& hex) {
  ExactSum sum;
  if (hex.empty() || hex.size() > 16 * kLimbs)
    throw DataError("a stored spend is not a hexadecimal number of at most 2176 bits");
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[hex.size() - 1 - i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0)
      throw DataError("a stored spend has a character that is not a hexadecimal digit");
    sum.limb_[i / 16] |= static_cast<std::uint64_t>(digit) << (4 * (i % 16));
  }
  return sum;
}

}  // namespace sotto
