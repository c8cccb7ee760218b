// LinearRoute: one route to privacy for a linear model, planned from public facts and then fitted.
//
// Everything about a route but its result is known before data is read. PlannedRoute makes a route
// of any plan with event(), describe() and run(rows, rng[, progress]), and reads files once without
// keeping records for those with sums() and release(); make_route() in linear_routes.hpp knows them
// all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/record_sums.hpp"

namespace sotto {

using LinearFit = MaybeRelease<LinearModel>;

class LinearRoute {
 public:
  virtual ~LinearRoute() = default;

  virtual std::optional<Event> event() const = 0;  // none: NOT PRIVATE
  virtual std::string describe() const = 0;
  // What the guarantee rests on besides the schema.
  virtual std::vector<std::string> assumptions() const { return {}; }
  virtual LinearFit fit(const ExactRows& rows, Rng& rng, Progress* progress) const = 0;

  // Routes that read records through GradientRows only, however they are kept.
  virtual bool takes_codes() const { return false; }
  virtual LinearFit fit_codes(const GradientRows&, Rng&, Progress*) const {
    invariant_broken("a route that needs dense rows");
  }

  // Routes that need nothing of the records but sums over them: the sums of some records, on the
  // calling thread, and the fit from those of all. encoding: any rows, or none, encoded like those
  // summed.
  virtual bool sums_suffice() const { return false; }
  virtual RecordSums sums(const ExactRows&) const { invariant_broken("a route without sums"); }
  virtual LinearFit fit_sums(const ExactRows& /*encoding*/, const RecordSums&, Rng&) const {
    invariant_broken("a route without sums");
  }
};

template <class Plan>
class PlannedRoute final : public LinearRoute {
 public:
  explicit PlannedRoute(Plan plan) : plan_(std::move(plan)) {}

  std::optional<Event> event() const override { return plan_.event(); }
  std::string describe() const override { return plan_.describe(); }
  std::vector<std::string> assumptions() const override {
    if constexpr (requires { plan_.assumptions(); }) {
      return plan_.assumptions();
    } else {
      return {};
    }
  }
  LinearFit fit(const ExactRows& rows, Rng& rng, Progress* progress) const override {
    if constexpr (requires { plan_.run(rows, rng, progress); }) {
      return plan_.run(rows, rng, progress);
    } else {
      return plan_.run(rows, rng);
    }
  }

  bool takes_codes() const override { return kCodes; }
  LinearFit fit_codes(const GradientRows& rows, Rng& rng, Progress* progress) const override {
    if constexpr (kCodes) {
      return plan_.run(rows, rng, progress);
    } else {
      return LinearRoute::fit_codes(rows, rng, progress);
    }
  }

  bool sums_suffice() const override { return kSums; }
  RecordSums sums(const ExactRows& part) const override {
    if constexpr (kSums) {
      return plan_.sums(part, 1);
    } else {
      return LinearRoute::sums(part);
    }
  }
  LinearFit fit_sums(const ExactRows& encoding, const RecordSums& sums, Rng& rng) const override {
    if constexpr (kSums) {
      return plan_.release(encoding, sums, rng);
    } else {
      return LinearRoute::fit_sums(encoding, sums, rng);
    }
  }

 private:
  static constexpr bool kSums = requires(const Plan& plan, const ExactRows& rows) {
    plan.sums(rows, 1u);
  };
  static constexpr bool kCodes =
      requires(const Plan& plan, const GradientRows& rows, Rng& rng, Progress* progress) {
    plan.run(rows, rng, progress);
  };
  Plan plan_;
};

template <class Plan>
std::unique_ptr<LinearRoute> route_of(Plan plan) {
  return std::make_unique<PlannedRoute<Plan>>(std::move(plan));
}

}  // namespace sotto
