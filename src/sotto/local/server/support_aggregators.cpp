#include <algorithm>
#include <bit>
#include <cstring>

#include "sotto/core/vector_clones.hpp"
#include "sotto/local/server/detail/frequency_aggregators.hpp"

namespace sotto::local::detail {
namespace {

// cells[x] += 1 for every x below n that the function puts into the bucket.
SOTTO_CLONES void count_bucket(std::int64_t* cells, std::uint64_t n, std::uint64_t low,
                               std::uint64_t add, std::uint64_t buckets, std::uint64_t wanted) {
  for (std::uint64_t x = 0; x < n; ++x) {
    const std::uint64_t hash = (low * x + add) >> 32;
    cells[x] += (hash * buckets) >> 32 == wanted ? 1 : 0;
  }
}

SOTTO_CLONES void add_lookup(double* sums, std::uint64_t n, std::uint64_t low, std::uint64_t add,
                             std::uint64_t buckets, const double* table) {
  for (std::uint64_t x = 0; x < n; ++x) {
    const std::uint64_t hash = (low * x + add) >> 32;
    sums[x] += table[(hash * buckets) >> 32];
  }
}

}  // namespace

std::vector<double> SupportAggregator::counts() {
  const auto c = cells();
  return {c.begin(), c.end()};
}

Frequencies SupportAggregator::frequencies() {
  Frequencies f;
  const auto n = static_cast<double>(reports_);
  for (const double c : counts()) f.share.push_back((c / n - q_) / (p_ - q_));
  const double common = common_variance(f.share);
  for (const double s : f.share)
    f.variance.push_back(support_variance(p_, q_, std::clamp(s, 0.0, 1.0)) / n + common);
  return f;
}

BitCounts::BitCounts(std::uint64_t categories, double p, double q, std::uint64_t ones)
    : SupportAggregator(categories, categories, p, q), ones_(ones) {
  for (auto& plane : planes_) plane.assign((categories + 63) / 64, 0);
}

bool BitCounts::accepts(Bytes report) const {
  if (report.size() != (categories_ + 7) / 8) return false;
  if (categories_ % 8 != 0 && report.back() >> (categories_ % 8) != 0) return false;
  if (ones_ == 0) return true;
  std::uint64_t ones = 0;
  for (const std::uint8_t byte : report) ones += static_cast<std::uint64_t>(std::popcount(byte));
  return ones == ones_;
}

void BitCounts::count(Bytes report) {
  const std::size_t words = planes_[0].size();
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t carry = 0;
    if (8 * w + 8 <= report.size() && std::endian::native == std::endian::little) {
      std::memcpy(&carry, report.data() + 8 * w, 8);
    } else {
      carry = read_whole(report.subspan(8 * w, std::min<std::size_t>(8, report.size() - 8 * w)));
    }
    for (int j = 0; carry != 0; ++j) {
      std::uint64_t& plane = planes_[static_cast<std::size_t>(j)][w];
      const std::uint64_t next = plane & carry;
      plane ^= carry;
      carry = next;
    }
  }
  if (++waiting_ == (1 << kPlanes) - 1) settle();
}

void BitCounts::settle() {
  if (waiting_ == 0) return;
  waiting_ = 0;
  for (int j = 0; j < kPlanes; ++j) {
    auto& plane = planes_[static_cast<std::size_t>(j)];
    for (std::uint64_t i = 0; i < categories_; ++i)
      cells_[i] += static_cast<std::int64_t>((plane[i / 64] >> (i % 64) & 1) << j);
    std::fill(plane.begin(), plane.end(), 0);
  }
}

void HashCounts::count(Bytes report) {
  const SeededHash h = hash_of_seed(hash_.seed(report));
  count_bucket(cells_.data(), categories_, h.low, h.add, hash_.buckets(), hash_.reported(report));
}

std::vector<double> HashTable::counts() {
  std::vector<double> sums(categories_, 0.0), row(hash_.buckets());
  for (std::uint64_t s = 0; s < hash_.seeds(); ++s) {
    const SeededHash h = hash_of_seed(s);
    for (std::uint64_t b = 0; b < row.size(); ++b)
      row[b] = static_cast<double>(cells_[s * row.size() + b]);
    add_lookup(sums.data(), categories_, h.low, h.add, hash_.buckets(), row.data());
  }
  return sums;
}

// Two categories meet in S/g of the S functions only on average: Σf²/((g − 1)·S) is the variance
// that this adds, for all reports alike (docs/math/local-privacy.md).
double HashTable::common_variance(const std::vector<double>& shares) const {
  const auto n = static_cast<double>(reports_);
  double squares = 0;
  for (const double s : shares)
    squares += s * s - support_variance(p_, q_, std::clamp(s, 0.0, 1.0)) / n;
  return std::clamp(squares, 0.0, 1.0) /
         (static_cast<double>(hash_.buckets() - 1) * static_cast<double>(hash_.seeds()));
}

}  // namespace sotto::local::detail
