// Training a linear model: from facts, a budget and a method to a released model.
//
// What       Chooses the route to privacy (method_choice.hpp) and plans it (linear_routes.hpp) from
//            public facts only, states the cost, then fits.
// Guarantee  That of the route chosen, with the unit of the schema: a user with at most k records
//            counts k times.
// Method     The facts come from the schema: declared rows, encoded width, classes, contributions.
//            A route that needs sums only (sufficient_statistics, functional) asks the source for
//            them and keeps no rows; the others keep rows in memory up to kRowMemory
//            and in a temporary file beyond.
// Numerics   Encoded records become GradientRows before anything is computed: small codes where the
//            route reads nothing else and the encoder has many more coordinates than columns.
// Reference  docs/math/linear-models.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/learning/training_plan.hpp"
#include "sotto/models/linear/linear_routes.hpp"

namespace sotto {

class CodedRows;

struct LinearRequest {
  LinearKind kind = LinearKind::logistic;
  std::string method = "auto";
  std::optional<Budget> budget = {};  // required unless the method is none
  RouteOptions options = {};
};

// What the routes know. Throws InvalidArgument or DataError.
PublicFacts facts_of(const Facts& facts, LinearKind kind);

class LinearTraining final : public TrainingPlan {
 public:
  // Public facts only. Throws InvalidArgument, Unsupported or DataError.
  LinearTraining(const Facts& facts, const LinearRequest& request);

  const std::string& method() const { return choice_.method; }
  std::optional<Event> event() const override { return route_->event(); }
  Relation relation() const override { return public_.relation; }
  Explanation explain() const override;

  using TrainingPlan::run;
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override;
  // The parameters alone.
  LinearFit fit(Source& source, Rng& rng, Progress* progress = nullptr) const;

 private:
  ExactRows exact_rows(const Table& table, unsigned threads) const;
  ExactRows no_rows() const;
  CodedRows coded_rows(Source& source) const;
  RecordSums sums(Source& source) const;

  Facts facts_;
  PublicFacts public_;
  MethodChoice choice_;
  std::unique_ptr<LinearRoute> route_;
};

}  // namespace sotto
