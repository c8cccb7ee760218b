#include "sotto/data/detail/record_numbers.hpp"

#include <cstdint>
#include <utility>

#include "sotto/data/detail/short_decimal.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define SOTTO_LANES __attribute__((target("avx2")))
#endif

namespace sotto::detail {

static_assert(CsvCursor::kPadding >= kShortDecimalBytes);

RecordNumbers::RecordNumbers(std::vector<std::size_t> places,
                             const std::vector<NumberScale>& scales, bool unit)
    : places_(std::move(places)), scales_(scales), unit_(unit) {
  for (const NumberScale& scale : scales_) {
    lower_.push_back(scale.lower);
    upper_.push_back(scale.upper);
    middle_.push_back(scale.middle);
    per_half_width_.push_back(scale.per_half_width);
  }
}

bool RecordNumbers::read_one(std::span<const CsvField> fields, std::size_t i, double& value) const {
  const std::string_view raw = fields[places_[i]].raw;
  double number = 0;
  if (!short_decimal(raw.data(), raw.size(), number)) return false;
  const double symmetric = scales_[i].product(number);
  value = unit_ ? (symmetric + 1) / 2 : symmetric;
  return true;
}

bool RecordNumbers::read_plainly(std::span<const CsvField> fields, std::span<double> values) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!read_one(fields, i, values[i])) return false;
  }
  return true;
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLanes = 4;

// A number behind its sign.
struct Start {
  explicit Start(const CsvField& field)
      : negative(*field.raw.data() == '-' ? 1 : 0),
        size(field.raw.size() - negative),
        text(field.raw.data() + negative) {}
  std::uint64_t negative, size;  // size: above 8 also where there is nothing
  const char* text;
};

// Eight bytes of each, without the way by registers of whole numbers, which is narrow.
SOTTO_LANES inline __m256i texts_of(const Start& a, const Start& b, const Start& c,
                                    const Start& d) {
  const auto two = [](const char* low, const char* high) SOTTO_LANES {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low)),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(high)));
  };
  return _mm256_set_m128i(two(c.text, d.text), two(a.text, b.text));
}

SOTTO_LANES inline __m256i all_lanes(std::uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}

// As DigitGroup::read and value(), and the division: sizes are 1 to 8. Lanes of `strange` other
// than 0 are no decimals.
SOTTO_LANES inline __m256d decimals(__m256i bytes, __m256i sizes, __m256i& strange) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i digits =
      _mm256_sllv_epi64(_mm256_xor_si256(bytes, all_lanes(0x3030303030303030)),
                        _mm256_slli_epi64(_mm256_sub_epi64(all_lanes(8), sizes), 3));
  const __m256i others = _mm256_and_si256(
      _mm256_or_si256(digits, _mm256_add_epi64(digits, all_lanes(0x7676767676767676))),
      all_lanes(0x8080808080808080));
  // The high bit of the first byte that is no digit, or 0; the low bit of that byte, and all of it.
  const __m256i high = _mm256_and_si256(others, _mm256_sub_epi64(zero, others));
  const __m256i low = _mm256_srli_epi64(high, 7);
  const __m256i whole = _mm256_sub_epi64(_mm256_slli_epi64(high, 1), low);
  const __m256i point = _mm256_and_si256(whole, all_lanes(0x0101010101010101 * ('.' ^ '0')));
  const __m256i alone = _mm256_and_si256(_mm256_cmpeq_epi64(sizes, all_lanes(1)), high);
  const __m256i no_point = _mm256_xor_si256(_mm256_and_si256(digits, whole), point);
  strange = _mm256_or_si256(_mm256_or_si256(_mm256_xor_si256(others, high), alone), no_point);
  // Without a point `low` is 0 and every byte is before it.
  const __m256i before = _mm256_sub_epi64(low, all_lanes(1));
  const __m256i after = _mm256_andnot_si256(_mm256_or_si256(before, whole), all_lanes(~0ULL));
  const __m256i shift =
      _mm256_andnot_si256(_mm256_cmpeq_epi64(high, zero), all_lanes(8));  // over the point
  const __m256i joined = _mm256_or_si256(
      _mm256_and_si256(digits, after), _mm256_sllv_epi64(_mm256_and_si256(digits, before), shift));
  // Pairs, then fours, then all eight.
  const __m256i pairs = _mm256_maddubs_epi16(joined, _mm256_set1_epi16(0x010a));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
  const __m256i mantissa =
      _mm256_add_epi64(_mm256_mul_epu32(fours, all_lanes(10000)), _mm256_srli_epi64(fours, 32));
  const __m256d number =
      _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(mantissa, all_lanes(0x4330000000000000))),
                    _mm256_set1_pd(0x1p52));
  // Ten to the number of bytes behind the point, from three of its bits: exact. (Each byte behind
  // it has a bit of its own in `after`; the sum of absolute differences counts them.)
  const __m256i count =
      _mm256_sad_epu8(_mm256_and_si256(after, all_lanes(0x0101010101010101)), zero);
  const auto power = [&](int bit, double ten) SOTTO_LANES {
    return _mm256_blendv_pd(_mm256_set1_pd(1), _mm256_set1_pd(ten),
                            _mm256_castsi256_pd(_mm256_slli_epi64(count, 63 - bit)));
  };
  const __m256d divisor = _mm256_mul_pd(_mm256_mul_pd(power(0, 10), power(1, 100)), power(2, 1e4));
  return _mm256_div_pd(number, divisor);
}

}  // namespace

SOTTO_LANES bool RecordNumbers::read_wide(std::span<const CsvField> fields,
                                          std::span<double> values) const {
  const std::size_t count = places_.size(), whole = count - count % kLanes;
  const CsvField* const all = fields.data();
  const std::size_t* const places = places_.data();
  const __m256d one = _mm256_set1_pd(1), minus = _mm256_set1_pd(-1);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Start a(all[places[i]]), b(all[places[i + 1]]), c(all[places[i + 2]]),
        d(all[places[i + 3]]);
    if (((a.size - 1) | (b.size - 1) | (c.size - 1) | (d.size - 1)) > 7) [[unlikely]] {
      for (std::size_t lane = i; lane < i + kLanes; ++lane) {
        if (!read_one(fields, lane, values[lane])) return false;
      }
      continue;
    }
    // One byte of each holds size and sign.
    const auto packed = static_cast<std::uint32_t>(
        a.size | b.size << 8 | c.size << 16 | d.size << 24 | a.negative << 7 | b.negative << 15 |
        c.negative << 23 | d.negative << 31);
    const __m256i both = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(static_cast<int>(packed)));
    const __m256i signs = _mm256_slli_epi64(_mm256_srli_epi64(both, 7), 63);
    __m256i strange;
    const __m256d size =
        decimals(texts_of(a, b, c, d), _mm256_and_si256(both, all_lanes(15)), strange);
    if (!_mm256_testz_si256(strange, strange)) [[unlikely]]
      return false;
    // As NumberScale::product().
    const __m256d number = _mm256_or_pd(size, _mm256_castsi256_pd(signs));
    const __m256d scaled = _mm256_mul_pd(_mm256_sub_pd(number, _mm256_loadu_pd(middle_.data() + i)),
                                         _mm256_loadu_pd(per_half_width_.data() + i));
    const __m256d above =
        _mm256_and_pd(_mm256_cmp_pd(scaled, minus, _CMP_GT_OQ),
                      _mm256_cmp_pd(number, _mm256_loadu_pd(lower_.data() + i), _CMP_GT_OQ));
    const __m256d low = _mm256_blendv_pd(minus, scaled, above);
    const __m256d below =
        _mm256_and_pd(_mm256_cmp_pd(low, one, _CMP_LT_OQ),
                      _mm256_cmp_pd(number, _mm256_loadu_pd(upper_.data() + i), _CMP_LT_OQ));
    __m256d value = _mm256_blendv_pd(one, low, below);
    if (unit_) value = _mm256_mul_pd(_mm256_add_pd(value, one), _mm256_set1_pd(0.5));
    _mm256_storeu_pd(values.data() + i, value);
  }
  for (std::size_t i = whole; i < count; ++i) {
    if (!read_one(fields, i, values[i])) return false;
  }
  return true;
}

bool RecordNumbers::read(std::span<const CsvField> fields, std::span<double> values) const {
  static const bool lanes = __builtin_cpu_supports("avx2");
  return lanes ? read_wide(fields, values) : read_plainly(fields, values);
}

#else

bool RecordNumbers::read(std::span<const CsvField> fields, std::span<double> values) const {
  return read_plainly(fields, values);
}

#endif

}  // namespace sotto::detail
