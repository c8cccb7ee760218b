#include "sotto/core/event.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::event_test {

SampledEvent fixed_sample(std::uint64_t size, std::uint64_t population, Event inner) {
  return {.scheme = Scheme::without_replacement,
          .size = size,
          .population = population,
          .event = share(std::move(inner))};
}

TEST(Event, APopulationInsideASampleIsTheSample) {
  const Event inner = fixed_sample(10, 100, PureEvent{1});
  EXPECT_NO_THROW(Event(fixed_sample(100, 1000, inner)));
  EXPECT_NO_THROW(Event(fixed_sample(100, 1000, repeat(inner, 3))));
  EXPECT_THROW(Event(fixed_sample(50, 1000, inner)), InvalidArgument);
  EXPECT_THROW(Event(fixed_sample(200, 1000, repeat(inner, 3))), InvalidArgument);
  EXPECT_THROW(Event(fixed_sample(200, 1000, ShuffledEvent{100, share(PureEvent{1})})),
               InvalidArgument);
  // Parts of a sample are smaller; the size of a poisson sample is random.
  EXPECT_NO_THROW(Event(fixed_sample(200, 1000, ParallelEvent{{inner, PureEvent{1}}})));
  EXPECT_THROW(Event(fixed_sample(50, 1000, ParallelEvent{{inner, PureEvent{1}}})),
               InvalidArgument);
  EXPECT_THROW(poisson_sampled(inner, 0.1), InvalidArgument);
  EXPECT_NO_THROW(Event(fixed_sample(50, 1000, poisson_sampled(PureEvent{1}, 0.1))));
}

TEST(Event, NoiseMultiplierHalvesUnderReplaceOneWhenStatedByContribution) {
  const auto by_contribution = GaussianEvent::from_multiplier(4);
  EXPECT_EQ(by_contribution.noise_multiplier(Relation::add_remove), 4);
  EXPECT_EQ(by_contribution.noise_multiplier(Relation::zero_out), 4);
  EXPECT_EQ(by_contribution.noise_multiplier(Relation::replace_one), 2);
  const GaussianEvent exact{.sigma = 4, .sensitivity = 1};
  EXPECT_EQ(exact.noise_multiplier(Relation::replace_one), 4);
}

TEST(Event, RefusesParametersOutOfRange) {
  EXPECT_THROW(Event(GaussianEvent{.sigma = 0}), InvalidArgument);
  EXPECT_THROW(Event(LaplaceEvent{.scale = -1}), InvalidArgument);
  EXPECT_THROW(Event(RandomizedResponseEvent{.epsilon = 1, .categories = 1}), InvalidArgument);
  EXPECT_THROW(Event(ApproximateEvent{.epsilon = 1, .delta = 1}), InvalidArgument);
  EXPECT_THROW(poisson_sampled(PureEvent{1}, 1.5), InvalidArgument);
  EXPECT_THROW(poisson_sampled(PureEvent{1}, 0), InvalidArgument);
  EXPECT_THROW(Event(SampledEvent{.scheme = Scheme::without_replacement,
                                  .size = 9,
                                  .population = 8,
                                  .event = share(PureEvent{1})}),
               InvalidArgument);
  EXPECT_THROW(repeat(PureEvent{1}, 0), InvalidArgument);
  EXPECT_THROW(Event(ParallelEvent{}), InvalidArgument);
  EXPECT_THROW(Event(RepeatEvent{3, nullptr}), InvalidArgument);
  EXPECT_THROW((Event(GaussianMixtureEvent{
                   .sigma = 1, .sensitivities = {0, 1}, .probabilities = {0.5, 0.4}})),
               InvalidArgument);
}

TEST(Event, ComposeFlattensAndRepeatOnceIsTheEvent) {
  Event a = PureEvent{1}, b = ZcdpEvent{0.1};
  Event nested = compose({compose({a, b}), a});
  ASSERT_NE(nested.get_if<ComposeEvent>(), nullptr);
  EXPECT_EQ(nested.get_if<ComposeEvent>()->events.size(), 3u);
  EXPECT_EQ(compose({a}), a);
  EXPECT_EQ(repeat(b, 1), b);
}

TEST(Event, EqualityIsDeep) {
  EXPECT_EQ(poisson_sampled(GaussianEvent::from_multiplier(1), 0.1),
            poisson_sampled(GaussianEvent::from_multiplier(1), 0.1));
  EXPECT_NE(poisson_sampled(GaussianEvent::from_multiplier(1), 0.1),
            poisson_sampled(GaussianEvent::from_multiplier(2), 0.1));
}

}  // namespace sotto::event_test
