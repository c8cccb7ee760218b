// The candidates of a tuning: all combinations of values that a document lists, checked against the
// options that a model declares.
//
//   method = ["gradient", "objective"]
//   regularisation = { from = 1e-6, to = 1e-3, points = 4, scale = "log" }
//   iterations = [50, 100, 200]
//
// Instead of one space a document may hold several, each with options of its own: tables
// [space.NAME]. A number or word alone stands for a list of one. Nothing here knows the data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/learning/family.hpp"

namespace sotto {

struct Candidate {
  std::string method = {};         // empty: the one that was asked for beside the space
  OptionValues::Raw options = {};  // as typed, names with underscores

  std::string words() const;  // "method objective, regularisation 0.001"; "defaults" when empty
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

inline constexpr std::size_t kMostCandidates = 1000;

// In the order of the document, the last option fastest. given: options that are set for all
// candidates already. Throws DataError that names the line or the option.
std::vector<Candidate> read_search_space(std::string_view toml, const std::string& label,
                                         const Family& family, const std::string& kind,
                                         const OptionValues& given);

// What is tried where nobody says what: the defaults, and options of common meaning moved to usual
// values one at a time. A method may refuse some of them.
std::vector<Candidate> usual_search_space(const Family& family, const std::string& kind,
                                          const OptionValues& given);

}  // namespace sotto
