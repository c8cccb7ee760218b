// RAPPOR's published files: params.csv, counts.csv and map.csv.
//
// What       params.csv: the header k,h,m,p,q,f and one line. counts.csv: one line a cohort, the
//            number of reports, then that of each bit. map.csv: one line a candidate, the word,
//            then the numbers of its bits, from 1 on, offset by k for each cohort.
// Guarantee  What was written by this program is read back and written again byte for byte.
// Method     Lines and commas; a word with a comma, quote or line end stands between quotes.
// Numerics   p, q, f in the fewest digits that read back unchanged.
// Reference  [EPK14].
#pragma once

#include <string>
#include <vector>

#include "sotto/local/server/rappor_decoding.hpp"

namespace sotto::local {

std::string params_csv(const RapporParameters& parameters);
std::string counts_csv(std::span<const std::int64_t> cells, const RapporParameters& parameters);
std::string map_csv(const std::vector<std::string>& words, const RapporParameters& parameters);

// They throw DataError for what is no such file.
RapporParameters parse_params_csv(const std::string& text);
std::vector<std::int64_t> parse_counts_csv(const std::string& text,
                                           const RapporParameters& parameters);
std::vector<RapporCandidate> parse_map_csv(const std::string& text,
                                           const RapporParameters& parameters);

}  // namespace sotto::local
