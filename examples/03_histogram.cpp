// Two histograms: over declared categories, and over categories nobody knew beforehand.
//
// The second needs a δ: a category with very few records is kept back, because its mere name would
// tell that somebody is in it.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "sotto/mechanisms/stability_histogram.hpp"

int main() {
  using namespace sotto;

  std::vector<std::string> answers;
  for (int i = 0; i < 900; ++i) answers.emplace_back(i % 3 == 0 ? "tea" : "coffee");
  answers.emplace_back("water of a very particular spring");

  Rng rng;
  const HistogramPlan declared({.relation = Relation::replace_one,
                                .categories = {"coffee", "tea", "milk", "other"},
                                .budget = Budget::pure(1),
                                .other = "other"});
  HistogramAccumulator counts = declared.start();
  for (const std::string& a : answers) counts.add(a);
  const Histogram h = std::move(counts).finish(rng).value;
  for (std::size_t i = 0; i < h.categories.size(); ++i)
    fmt::print("{:<8} {:>6}\n", h.categories[i], h.counts[i]);

  const StabilityHistogramPlan unknown(Relation::replace_one, Epsilon(1), Delta(1e-6));
  fmt::print("\n{}\n", unknown.describe());
  StabilityHistogramAccumulator found = unknown.start();
  for (const std::string& a : answers) found.add(a);
  const Histogram common = std::move(found).finish(rng).value;
  for (std::size_t i = 0; i < common.categories.size(); ++i)
    fmt::print("{:<8} {:>6}\n", common.categories[i], common.counts[i]);
}
