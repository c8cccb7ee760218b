// How near synthetic records are to what was released about the data, as a page. It shows released
// figures and the records that were drawn, nothing else; it loads nothing from elsewhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sotto/learning/generator.hpp"

namespace sotto {

struct FidelityReport {
  std::string title;         // "synthetic records in people.csv"
  std::string guarantee;     // "epsilon = 1, delta = 1e-06 (add_remove, unit: one record)"
  std::string warning = {};  // in large letters
  Drawn drawn;
  std::vector<std::pair<std::string, std::string>> facts = {};  // shown below the tables
};

std::string fidelity_html(const FidelityReport& report);

}  // namespace sotto
