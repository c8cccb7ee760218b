// Training a linear model on a table: from a schema, a budget and a method to a released model.
//
// What       Chooses the route to privacy (method_choice.hpp) and plans it (linear_routes.hpp) from public facts only, states the cost,
//            then fits.
// Guarantee  That of the route chosen, with the unit of the schema: a user with at most k records counts k times.
// Method     The facts come from the encoder, that is from the schema: declared rows, encoded width, classes, contributions.
// Numerics   Encoded records become ExactRows before anything is computed.
// Reference  docs/math/linear-models.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/encoder.hpp"
#include "sotto/data/table.hpp"
#include "sotto/models/linear/linear_routes.hpp"

namespace sotto {

struct TrainingRequest {
  LinearKind kind = LinearKind::logistic;
  Method method = Method::automatic;
  std::optional<Budget> budget = {};  // required unless the method is none
  RouteOptions options = {};
};

// The public facts of a schema. Throws InvalidArgument or DataError.
PublicFacts facts_of(const Encoder& encoder, LinearKind kind);

class LinearTraining {
 public:
  using Fit = LinearFit;

  // Public facts only; the encoder must outlive the plan. Throws InvalidArgument, Unsupported or DataError.
  LinearTraining(const Encoder& encoder, const TrainingRequest& request);

  Method method() const { return choice_.method; }
  const std::string& reason() const { return choice_.reason; }    // why this method
  std::optional<Event> event() const { return route_->event(); }  // none: NOT PRIVATE
  Relation relation() const { return facts_.relation; }
  std::string describe() const { return route_->describe(); }
  std::vector<std::string> assumptions() const;

  Fit run(const Table& table, Rng& rng, Progress* progress = nullptr) const;
  // The same on a file of any size, encoded by all threads while it is read. A route that needs sums only (sufficient_statistics, functional)
  // keeps no rows; the others keep them in memory up to RowStore::kMemoryLimit and in a temporary file beyond.
  Fit run(const std::string& path, const TableOptions& options, Rng& rng,
          Progress* progress = nullptr) const;

 private:
  ExactRows exact_rows(const Table& table, unsigned threads) const;

  const Encoder& encoder_;
  PublicFacts facts_;
  MethodChoice choice_;
  std::unique_ptr<LinearRoute> route_;
};

}  // namespace sotto
