#include "sotto/learning/trial_score.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

LatticeNoise noise_for(const Facts& facts, const Budget& budget) {
  const auto k = static_cast<double>(facts.contributions);
  const Distance natural{k, k};
  const double g = std::min(1.0, LatticeNoise::granularity_for_budget(budget, natural, 1));
  return LatticeNoise(facts.relation, budget, g, {k / g, k / g}, 1);
}

std::optional<Bounds> target_of(const Facts& facts) {
  if (!facts.classes().empty()) return std::nullopt;
  if (!facts.encoder || !facts.encoder->has_target())
    throw Unsupported("a private score needs a target: a class or a number",
                      "score on public rows instead: `validation`");
  return facts.encoder->target().column().bounds;
}

}  // namespace

TrialScore::TrialScore(const Facts& facts, const Budget& budget)
    : classes_(facts.classes().size()),
      target_(target_of(facts)),
      rows_(static_cast<double>(facts.rows.value_or(1))),
      noise_(noise_for(facts, budget)) {}

std::string TrialScore::describe() const {
  return (classes_ > 0 ? "rows that are right: " : "rows less their squared errors: ") +
         noise_.describe();
}

double TrialScore::run(const Model& model, Source& source, Rng& rng) const {
  const double g = noise_.granularity();
  int128 sum = 0;
  source.each([&](const Block& block) {
    for (const ScoredRow& row : model.score(block)) {
      if (row.null) continue;
      if (classes_ > 0) {
        if (row.prediction == row.target) sum += to_grid(1, g);
        continue;
      }
      const double half = (target_->upper() - target_->lower()) / 2;
      const double error = std::fabs(row.target - row.prediction) / half;
      if (error < 1) sum += to_grid(1 - error * error, g);  // not for NaN
    }
  });
  const int128 noisy = noise_.add(std::span(&sum, 1), rng).front();
  return from_grid(noisy, g) / rows_;
}

}  // namespace sotto
