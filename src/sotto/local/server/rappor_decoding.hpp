// What RAPPOR's reports say about candidates.
//
// What       RapporCounts counts reports and bits for each cohort. decode_rappor estimates the
//            share of each candidate word, its standard error, and whether it is significant.
// Guarantee  Post-processing. Candidates are public; a word that is none of them is not found.
// Method     The share of clients in cohort j with bit b: t = (c/N − p*)/(q* − p*), of variance
//            r(1−r)/(N(q*−p*)²), r = c/N. A candidate's share is the same in all its bits: a sparse
//            regression (sparse_regression.hpp) of the m·k shares on the candidates' bits.
// Numerics   Cohorts without reports are left out.
// Reference  [EPK14].
#pragma once

#include <string>
#include <vector>

#include "sotto/local/client/rappor.hpp"
#include "sotto/local/server/aggregator.hpp"
#include "sotto/local/server/sparse_regression.hpp"

namespace sotto::local {

// Cells: for each cohort the number of reports, then that of each bit: the rows of counts.csv.
class RapporCounts final : public Aggregator {
 public:
  explicit RapporCounts(const Rappor& rappor)
      : Aggregator(rappor.parameters().cohorts * (rappor.parameters().bits + 1)),
        parameters_(rappor.parameters()) {}
  bool accepts(Bytes report) const override;

 private:
  void count(Bytes report) override;
  RapporParameters parameters_;
};

struct RapporCandidate {
  std::string word;
  std::vector<std::uint32_t> bits;  // of each cohort
};
RapporCandidate rappor_candidate(const std::string& word, const RapporParameters& parameters);

// In the order of the candidates.
std::vector<Explained> decode_rappor(const Rappor& rappor, std::span<const std::int64_t> cells,
                                     const std::vector<RapporCandidate>& candidates,
                                     double alpha = 0.05);

}  // namespace sotto::local
