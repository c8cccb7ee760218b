#include "sotto/local/server/rappor_decoding.hpp"

#include <algorithm>

namespace sotto::local {

bool RapporCounts::accepts(Bytes report) const {
  return report.size() == 2 + (parameters_.bits + 7) / 8 &&
         Rappor::cohort_of(report) < parameters_.cohorts &&
         (parameters_.bits == 32 || Rappor::bits_of(report) >> parameters_.bits == 0);
}

void RapporCounts::count(Bytes report) {
  const std::uint32_t bits = Rappor::bits_of(report);
  std::int64_t* row = cells_.data() + Rappor::cohort_of(report) * (parameters_.bits + 1);
  ++row[0];
  for (std::uint64_t i = 0; i < parameters_.bits; ++i) row[i + 1] += bits >> i & 1;
}

RapporCandidate rappor_candidate(const std::string& word, const RapporParameters& parameters) {
  RapporCandidate result{word, {}};
  for (std::uint64_t j = 0; j < parameters.cohorts; ++j)
    result.bits.push_back(bloom_bits(word, j, parameters));
  return result;
}

std::vector<Explained> decode_rappor(const Rappor& rappor, std::span<const std::int64_t> cells,
                                     const std::vector<RapporCandidate>& candidates, double alpha) {
  const RapporParameters& r = rappor.parameters();
  const auto one = static_cast<double>(rappor.one_given_one()),
             zero = static_cast<double>(rappor.one_given_zero()), gap = one - zero;
  SparseDesign design;
  design.columns.resize(candidates.size());
  for (std::uint64_t j = 0; j < r.cohorts; ++j) {
    const std::int64_t* row = cells.data() + j * (r.bits + 1);
    if (row[0] == 0) continue;
    const auto n = static_cast<double>(row[0]);
    const auto group = static_cast<std::uint32_t>(design.group_sizes.size());
    design.group_sizes.push_back(n);
    for (std::uint64_t b = 0; b < r.bits; ++b) {
      const double seen = static_cast<double>(row[b + 1]) / n;
      // A share of 0 or 1 by chance is not known without error.
      const double expected = std::clamp(seen, zero, one);
      const auto number = static_cast<std::uint32_t>(design.observed.size());
      design.observed.push_back((seen - zero) / gap);
      design.variance.push_back(expected * (1 - expected) / (n * gap * gap));
      const double share = (expected - zero) / gap;
      design.noise.push_back((share * one * (1 - one) + (1 - share) * zero * (1 - zero)) /
                             (n * gap * gap));
      design.groups.push_back(group);
      for (std::size_t s = 0; s < candidates.size(); ++s)
        if ((candidates[s].bits[j] >> b & 1) != 0) design.columns[s].push_back(number);
    }
  }
  return explain(design, alpha);
}

}  // namespace sotto::local
