#include "sotto/pate/aggregator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::pate::aggregator_test {

LabelOptions options(Aggregator aggregator, std::uint64_t queries = 3) {
  return {.aggregator = aggregator,
          .teachers = 100,
          .queries = queries,
          .classes = 3,
          .sigma = 20,
          .threshold = 60,
          .sigma_threshold = 30};
}

Votes votes(std::vector<std::int64_t> counts) {
  return {.classes = 3, .teachers = 100, .counts = std::move(counts)};
}

const std::vector<Aggregator> kAll = {Aggregator::lnmax, Aggregator::gnmax,
                                      Aggregator::confident_gnmax, Aggregator::interactive};

TEST(LabelPlan, OneVoteMovedStaysWithinTheDeclaredSensitivity) {
  const std::vector<double> student(9, 1. / 3);
  for (const Aggregator aggregator : kAll)
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const LabelPlan plan(options(aggregator));
      const auto run = [&](std::vector<std::int64_t> counts) {
        return [&plan, &student, counts](Rng& rng) -> std::optional<Event> {
          const bool asks = plan.options().aggregator == Aggregator::interactive;
          return plan.run(votes(counts), rng, asks ? &student : nullptr).event;
        };
      };
      const auto a = run({50, 30, 20, 90, 10, 0, 34, 33, 33});
      EXPECT_EQ(replay::check_neighbours(a, run({49, 31, 20, 89, 11, 0, 35, 32, 33}), seed), "");
      // Two votes are no neighbours, and the replay says so.
      if (!has_threshold(aggregator)) {
        EXPECT_NE(replay::check_neighbours(a, run({48, 32, 20, 90, 10, 0, 34, 33, 33}), seed), "");
      }
    }
}

TEST(LabelPlan, EventsArePaidBeforeVotesAreSeen) {
  LabelOptions o = options(Aggregator::confident_gnmax, 640);
  o.teachers = 250, o.classes = 10, o.sigma = 40, o.sigma_threshold = 150, o.threshold = 200;
  o.answers = 286;
  const Bound capped = epsilon(Spec{Relation::add_remove, {LabelPlan(o).event()}}, Delta(1e-5));
  o.answers = 0;
  const Bound all = epsilon(Spec{Relation::add_remove, {LabelPlan(o).event()}}, Delta(1e-5));
  EXPECT_LT(capped.upper, all.upper);
  // Between the exact value of the Gaussian and the conversion of the paper.
  LabelOptions g = options(Aggregator::gnmax, 1000);
  g.sigma = 40;
  const Bound gnmax = epsilon(Spec{Relation::replace_one, {LabelPlan(g).event()}}, Delta(1e-5));
  EXPECT_LT(gnmax.upper, 5.9899151);
  EXPECT_GT(gnmax.lower, 4);
}

TEST(LabelPlan, StopsAtThePlannedNumberOfAnswers) {
  LabelOptions o = options(Aggregator::confident_gnmax, 50);
  o.threshold = -100, o.answers = 7;  // every query passes
  std::vector<std::int64_t> counts;
  for (int i = 0; i < 50; ++i) counts.insert(counts.end(), {100, 0, 0});
  Rng rng = Rng::insecure_seed(3);
  const Labels labels = LabelPlan(o).run(votes(counts), rng).value;
  EXPECT_EQ(labels.answered, 7U);
  EXPECT_EQ(labels.asked, 7U);
  EXPECT_EQ(labels.labels[7].origin, Origin::none);
}

// Two classes: P[the first wins] = P[N(0, 2σ²) > −gap]. α = 1e-6; the mutant is noise of 1.15 σ.
TEST(LabelPlan, AnswersHaveTheLawOfTheNoise) {
  LabelOptions o = options(Aggregator::gnmax, 60000);
  o.classes = 2;
  Votes v{.classes = 2, .teachers = 100, .counts = {}};
  for (std::uint64_t i = 0; i < o.queries; ++i) v.counts.insert(v.counts.end(), {65, 35});
  Rng rng = Rng::insecure_seed(11);
  double first = 0;
  for (const Label& label : LabelPlan(o).run(v, rng).value.labels) first += label.value == 0;
  const auto expected = [&](double sigma) { return 1 - normal_sf(30 / (std::sqrt(2.) * sigma)); };
  const double n = static_cast<double>(o.queries), p = expected(o.sigma);
  const double spread = 4.9 * std::sqrt(n * p * (1 - p));
  EXPECT_NEAR(first, n * p, spread);
  EXPECT_GT(std::abs(n * expected(1.15 * o.sigma) - n * p), 2 * spread);
}

TEST(LabelPlan, AStudentThatIsSureAndNotContradictedKeepsItsLabel) {
  LabelOptions o = options(Aggregator::interactive, 2);
  o.sigma = o.sigma_threshold = .01;  // as good as no noise
  o.threshold = 50;
  const std::vector<double> student = {.95, .05, 0, .95, .05, 0};
  Rng rng = Rng::insecure_seed(1);
  const Labels labels = LabelPlan(o).run(votes({90, 10, 0, 0, 100, 0}), rng, &student).value;
  EXPECT_EQ(labels.labels[0].origin, Origin::student);
  EXPECT_EQ(labels.labels[0].value, 0U);
  EXPECT_EQ(labels.labels[1].origin, Origin::teachers);
  EXPECT_EQ(labels.labels[1].value, 1U);
  EXPECT_EQ(labels.answered, 1U);
}

TEST(LabelPlan, RefusesWhatWasNotPlanned) {
  Rng rng = Rng::insecure_seed(1);
  const LabelPlan plan(options(Aggregator::gnmax));
  EXPECT_THROW(plan.run(votes({100, 0, 0}), rng), InvalidArgument);
  LabelOptions o = options(Aggregator::gnmax);
  o.answers = 2;
  EXPECT_THROW(LabelPlan{o}, InvalidArgument);
  o = options(Aggregator::gnmax);
  o.sigma = 0;
  EXPECT_THROW(LabelPlan{o}, InvalidArgument);
  EXPECT_THROW(parse_aggregator("mean"), InvalidArgument);
}

TEST(Votes, FromElsewhereAreCheckedWithoutQuotingThem) {
  const auto of = [](std::vector<std::size_t> shape, std::vector<double> values,
                     std::optional<std::uint64_t> teachers = {}) {
    return votes_of({std::move(shape), std::move(values)}, teachers);
  };
  EXPECT_EQ(of({2, 2}, {3, 7, 5, 5}).teachers, 10U);
  EXPECT_EQ(of({2, 2}, {3, 7, 5, 4}, 12).teachers, 12U);
  EXPECT_THROW(of({2, 2}, {3, 7, 5, 4}), DataError);
  EXPECT_THROW(of({2, 2}, {3, 7, 5, 4}, 9), DataError);
  EXPECT_THROW(of({1, 2}, {3.5, 7}), DataError);
  EXPECT_THROW(of({1, 2}, {-1, 7}), DataError);
  EXPECT_THROW(of({1, 2}, {NAN, 7}), DataError);
  EXPECT_THROW(of({2}, {3, 7}), DataError);
  EXPECT_THROW(of({2, 1}, {3, 7}), DataError);
}

}  // namespace sotto::pate::aggregator_test
