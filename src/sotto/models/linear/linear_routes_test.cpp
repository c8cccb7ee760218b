#include "sotto/models/linear/linear_routes.hpp"

#include <gtest/gtest.h>

#include <span>

#include "route_data_test.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::linear_routes_test {

using test::Records;

constexpr Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
// All that are private, from the list itself: a new one is tested without being told.
std::vector<std::string> private_methods() {
  std::vector<std::string> names;
  for (const Method& method : linear_methods())
    if (method.name != "auto" && method.name != "none") names.push_back(method.name);
  return names;
}

std::vector<Budget> budgets() {
  return {Budget::pure(1), Budget::approximate(1, 1e-6), Budget::zcdp(0.05)};
}

struct Shape {
  LinearKind kind;
  std::size_t outputs;
};
constexpr Shape kModels[] = {{LinearKind::logistic, 1},
                             {LinearKind::logistic, 3},
                             {LinearKind::svm, 1},
                             {LinearKind::svm, 3},
                             {LinearKind::linear, 1}};

// The variants of a method that options select.
std::vector<RouteOptions> variants(const std::string& method, std::size_t outputs) {
  RouteOptions plain;
  plain.threads = 1;
  std::vector<RouteOptions> list = {plain};
  if (method == "gradient") {
    list[0].iterations = 4;
    list.push_back(list[0]);
    list[1].batch = 12;
    list[1].average = false;
    list[1].radius = 3;
  }
  if (method == "sample_aggregate") {
    list.push_back(plain);
    list[1].aggregate = Aggregate::median;
  }
  if (method == "exponential") {
    for (int i = 0; i < 5; ++i) list[0].candidates.emplace_back(3 * outputs, 0.5 * i - 1);
  }
  return list;
}

// The route, or nothing when it says that it does not serve the combination.
std::unique_ptr<LinearRoute> route(const std::string& method, const PublicFacts& facts,
                                   const Budget& budget, const RouteOptions& options) {
  try {
    return make_route(method, facts, budget, options);
  } catch (const Unsupported& refusal) {
    EXPECT_NE(std::string(refusal.hint()), "") << refusal.what();
    return nullptr;
  }
}

template <class F>
void for_each_route(std::uint64_t rows, F&& f, std::span<const Relation> relations = kRelations) {
  for (const Shape& model : kModels) {
    for (const Relation relation : relations) {
      for (const Budget& budget : budgets()) {
        for (const std::string& method : private_methods()) {
          for (const RouteOptions& options : variants(method, model.outputs)) {
            const PublicFacts facts = test::facts_for(model.kind, model.outputs, relation, rows);
            if (const auto r = route(method, facts, budget, options)) {
              SCOPED_TRACE(method + " " + std::string(name(model.kind)) + " " +
                           std::to_string(model.outputs) + " " + std::string(name(relation)) + " " +
                           budget.describe());
              f(*r, method, facts, budget);
            }
          }
        }
      }
    }
  }
}

TEST(LinearRoutes, EveryRouteNoisesNeighboursWithinItsDeclaredSensitivity) {
  int routes = 0;
  for_each_route(40, [&](const LinearRoute& route, const std::string& method,
                         const PublicFacts& facts, const Budget&) {
    ++routes;
    const Records a = test::sample_records(40, facts.kind, facts.outputs);
    const auto hostile = test::hostile_records(facts.kind, facts.outputs);
    for (std::size_t i = 0; i < hostile.size(); i += method == "sample_aggregate" ? 7 : 3) {
      Records base = a;
      base.push_back(hostile[i]);  // the record that goes is hostile too
      const Records b = test::neighbour(base, facts.relation, hostile[(i + 5) % hostile.size()]);
      const auto run = [&](const Records& records) {
        return [&](Rng& rng) { return route.fit(test::rows_of(records), rng, nullptr).event(); };
      };
      ASSERT_EQ(replay::check_neighbours(run(base), run(b), i), "") << "hostile record " << i;
    }
  });
  EXPECT_GT(routes, 150);
}

TEST(LinearRoutes, EveryEventCostsAtMostTheBudget) {
  for_each_route(1000, [&](const LinearRoute& route, const std::string&, const PublicFacts& facts,
                           const Budget& budget) {
    const Spec spec{facts.relation, {*route.event()}};
    if (const auto* pure = std::get_if<PureBudget>(&budget.kind())) {
      EXPECT_LE(guarantee(spec, 0).upper, pure->epsilon.value() * (1 + 1e-9));
    } else if (const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind())) {
      EXPECT_LE(epsilon(spec, approximate->delta).upper, approximate->epsilon.value() * (1 + 1e-9));
    } else {
      // ρ = 0.05 is at most this ε at δ = 1e-6 by the basic conversion ρ + 2√(ρ ln(1/δ)).
      EXPECT_LE(epsilon(spec, Delta(1e-6)).upper, 0.05 + 2 * std::sqrt(0.05 * std::log(1e6)));
    }
  });
}

TEST(LinearRoutes, OddDataIsFittedLikeAny) {
  const Records one = {{{0.5f, -0.5f}, 1}};
  Records constant(30, {{0.25f, 0.25f}, 1});
  const Records odd[] = {{}, one, constant};
  const auto fits = [&](const LinearRoute& route, const std::string&, const PublicFacts&,
                        const Budget&) {
    for (const Records& records : odd) {
      Rng rng = Rng::insecure_seed(3);
      const LinearFit fit = route.fit(test::rows_of(records), rng, nullptr);
      for (const double w : fit.value().weights) ASSERT_TRUE(std::isfinite(w));
      EXPECT_EQ(fit.event(), route.event());
    }
  };
  // A relation changes how much noise there is, not what is done; planning it takes most of the
  // time.
  for_each_route(30, fits, std::span(kRelations).first<1>());
}

TEST(LinearRoutes, UsersWithSeveralRecordsCostTheSameAndGetMoreNoise) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    for (const Budget& budget : budgets()) {
      for (const std::string method :
           {"gradient", "functional", "exponential", "sample_aggregate", "input"}) {
        for (const RouteOptions& options : variants(method, 1)) {
          if (options.batch > 0) continue;
          const auto facts = test::facts_for(LinearKind::logistic, 1, relation, 60, 3);
          const auto r = route(method, facts, budget, options);
          if (!r) continue;
          SCOPED_TRACE(method + " " + budget.describe());
          if (const auto* pure = std::get_if<PureBudget>(&budget.kind())) {
            EXPECT_LE(guarantee(Spec{relation, {*r->event()}}, 0).upper,
                      pure->epsilon.value() * (1 + 1e-9));
          }
          // Three records of a user come, go or change.
          Records a = test::sample_records(60, LinearKind::logistic, 1);
          const auto hostile = test::hostile_records(LinearKind::logistic, 1);
          for (int i = 0; i < 3; ++i) a.push_back(hostile[0]);
          Records b = a;
          if (relation == Relation::add_remove) {
            b.resize(b.size() - 3);
          } else {
            std::fill(b.end() - 3, b.end(), hostile[9]);
          }
          const auto run = [&](const Records& records) {
            return [&](Rng& rng) { return r->fit(test::rows_of(records), rng, nullptr).event(); };
          };
          EXPECT_EQ(replay::check_neighbours(run(a), run(b)), "");
        }
      }
    }
  }
}

TEST(LinearRoutes, RoutesWithoutAProofForSeveralRecordsRefuse) {
  const auto facts = test::facts_for(LinearKind::logistic, 1, Relation::add_remove, 60, 2);
  RouteOptions batch;
  batch.batch = 10;
  EXPECT_THROW(make_route("objective", facts, Budget::pure(1), {}), Unsupported);
  EXPECT_THROW(make_route("output", facts, Budget::pure(1), {}), Unsupported);
  EXPECT_THROW(make_route("gradient", facts, Budget::approximate(1, 1e-6), batch), Unsupported);
}

TEST(LinearRoutes, ARadiusWithoutBatchesIsRefused) {
  const auto facts = test::facts_for(LinearKind::logistic, 1, Relation::add_remove, 60);
  EXPECT_THROW(make_route("gradient", facts, Budget::approximate(1, 1e-6), {.radius = 2}),
               InvalidArgument);
}

}  // namespace sotto::linear_routes_test
