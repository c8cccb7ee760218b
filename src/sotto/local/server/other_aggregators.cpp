#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/server/detail/frequency_aggregators.hpp"
#include "sotto/local/server/detail/hadamard_transform.hpp"

namespace sotto::local {
namespace detail {

std::vector<double> ColumnCounts::own_columns() const {
  const std::uint64_t size = response_.block_size();
  std::vector<double> sums(response_.categories()), spectrum(size);
  for (std::uint64_t b = 0; b < response_.blocks(); ++b) {
    for (std::uint64_t i = 0; i < size; ++i)
      spectrum[i] = static_cast<double>(cells_[b * size + i]);
    hadamard_transform(spectrum);
    // Half the block's reports and half of the row's signed sum lie where the row is +1.
    for (std::uint64_t x = b; x < sums.size(); x += response_.blocks())
      sums[x] = (spectrum[0] + spectrum[response_.row(x)]) / 2;
  }
  return sums;
}

double ColumnCounts::variance(double share, double block_share) const {
  return BlockLaw(response_).variance(share, block_share);
}

Frequencies ColumnCounts::frequencies() {
  const BlockLaw law(response_);
  const auto n = static_cast<double>(reports_);
  const std::uint64_t size = response_.block_size();
  const bool whole = response_.blocks() == 1;
  std::vector<double> block(response_.blocks(), 1.0);
  for (std::uint64_t b = 0; b < block.size() && !whole; ++b) {
    double in = 0;
    for (std::uint64_t i = 0; i < size; ++i) in += static_cast<double>(cells_[b * size + i]);
    block[b] = (in / n - law.block_elsewhere) / (law.block_own - law.block_elsewhere);
  }
  Frequencies f;
  const std::vector<double> own = own_columns();
  for (std::uint64_t x = 0; x < own.size(); ++x) {
    const double in_block = block[response_.block(x)];
    const double expected = law.elsewhere + in_block * (law.same_block - law.elsewhere);
    f.share.push_back((own[x] / n - expected) / (law.own - law.same_block));
    const double share = std::clamp(f.share.back(), 0.0, 1.0);
    f.variance.push_back(variance(share, std::clamp(in_block, share, 1.0)) / n);
  }
  return f;
}

std::optional<Support> ColumnCounts::support() {
  if (response_.blocks() > 1) return std::nullopt;
  return Support{response_.p(), 0.5, own_columns()};
}

double ColumnCounts::unit_variance(double share) const {
  const auto k = static_cast<double>(response_.categories()),
             b = static_cast<double>(response_.blocks());
  const double others = std::max(0.0, k / b - 1) / std::max(1.0, k - 1);
  return variance(share, response_.blocks() == 1 ? 1 : share + (1 - share) * others);
}

bool AskedBits::accepts(Bytes report) const {
  if (report.size() != bits_.report_bytes()) return false;
  for (std::uint64_t i = 0; i < bits_.bits(); ++i) {
    const std::uint64_t at = bits_.category_at(report, i);
    if (at >= bits_.categories() || bits_.bit_at(report, i) > 1) return false;
    if (i > 0 && at <= bits_.category_at(report, i - 1)) return false;
  }
  return true;
}

void AskedBits::count(Bytes report) {
  for (std::uint64_t i = 0; i < bits_.bits(); ++i) {
    std::int64_t* cell = cells_.data() + 2 * bits_.category_at(report, i);
    ++cell[0];
    cell[1] += bits_.bit_at(report, i);
  }
}

Frequencies AskedBits::frequencies() {
  Frequencies f;
  const double p = bits_.p(), q = 1 - p;
  for (std::uint64_t x = 0; x < bits_.categories(); ++x) {
    const auto asked = static_cast<double>(cells_[2 * x]),
               yes = static_cast<double>(cells_[2 * x + 1]);
    f.share.push_back(asked > 0 ? (yes / asked - q) / (p - q) : 0);
    const double share = std::clamp(f.share.back(), 0.0, 1.0);
    // Those who were asked are a sample of the clients.
    f.variance.push_back(asked > 0 ? (support_variance(p, q, share) + share * (1 - share)) / asked
                                   : INFINITY);
  }
  return f;
}

double AskedBits::unit_variance(double share) const {
  const double asked = static_cast<double>(bits_.bits()) / static_cast<double>(bits_.categories());
  return (support_variance(bits_.p(), 1 - bits_.p(), share) + share * (1 - share)) / asked;
}

Frequencies NoisySums::frequencies() {
  Frequencies f;
  const auto n = static_cast<double>(reports_);
  for (const std::int64_t c : cells_) {
    f.share.push_back(static_cast<double>(c) / (n * HistogramEncoding::kUnit));
    f.variance.push_back(variance_ / n);
  }
  return f;
}

void NoisySums::count(Bytes report) {
  for (std::size_t i = 0; i < cells_.size(); ++i)
    cells_[i] += read_signed(report.subspan(4 * i, 4));
}

}  // namespace detail

std::unique_ptr<FrequencyAggregator> make_frequency_aggregator(const Declaration& d) {
  using namespace detail;
  const auto unary = [&](const UnaryEncoding& u) {
    return std::make_unique<BitCounts>(u.categories(), u.p(), u.q());
  };
  const auto hash = [&](const LocalHash& h) {
    return std::make_unique<HashCounts>(h, d.domain, h.p());
  };
  if (d.protocol == "l_sue" || d.protocol == "l_osue") {
    const double permanent = d.parameter("permanent_epsilon");
    const LongitudinalUnary l(d.protocol == "l_sue" ? UnaryEncoding::symmetric(permanent, d.domain)
                                                    : UnaryEncoding::optimised(permanent, d.domain),
                              d.epsilon);
    return std::make_unique<BitCounts>(d.domain, l.p(), l.q());
  }
  if (d.protocol == "loloha") {
    const double permanent = d.parameter("permanent_epsilon");
    const LongitudinalHash l(d.epsilon, permanent, d.domain, d.whole("buckets"));
    return std::make_unique<HashCounts>(LocalHash(permanent, d.domain, l.buckets(), 0), d.domain,
                                        l.p());
  }
  if (d.protocol == "dbitflip")
    return std::make_unique<AskedBits>(BucketBits(d.epsilon, d.domain, d.whole("bits")));
  if (d.protocol == "grr")
    return std::make_unique<DirectCounts>(DirectEncoding(d.epsilon, d.domain));
  if (d.protocol == "sue") return unary(UnaryEncoding::symmetric(d.epsilon, d.domain));
  if (d.protocol == "oue") return unary(UnaryEncoding::optimised(d.epsilon, d.domain));
  if (d.protocol == "the")
    return unary(UnaryEncoding::thresholded(d.epsilon, d.domain, d.parameter("threshold")));
  if (d.protocol == "subset") {
    const SubsetSelection s(d.epsilon, d.domain, d.whole("subset_size"));
    return std::make_unique<BitCounts>(s.categories(), s.p(), s.q(), s.size());
  }
  if (d.protocol == "blh") return hash(LocalHash(d.epsilon, d.domain, 2, 0));
  if (d.protocol == "olh") return hash(LocalHash(d.epsilon, d.domain, d.whole("buckets"), 0));
  if (d.protocol == "fast_olh")
    return std::make_unique<HashTable>(
        LocalHash(d.epsilon, d.domain, d.whole("buckets"), d.whole("seeds")), d.domain);
  if (d.protocol == "hadamard")
    return std::make_unique<ColumnCounts>(HadamardResponse(d.epsilon, d.domain, d.whole("blocks")));
  if (d.protocol == "she")
    return std::make_unique<NoisySums>(HistogramEncoding(d.epsilon, d.domain));
  return nullptr;
}

}  // namespace sotto::local
