#include "sotto/core/scaled_event.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"

namespace sotto::scaled_event_test {

TEST(ScaledEvent, TwiceTheNoiseOfEverythingInARun) {
  const Event run = compose({GaussianEvent{3, 1}, LaplaceEvent{2, 1},
                             repeat(poisson_sampled(GaussianEvent{1, 1}, 0.01), 100),
                             ExponentialEvent{1}, ZcdpEvent{0.5}, GdpEvent{1}});
  const Event twice = compose({GaussianEvent{6, 1}, LaplaceEvent{4, 1},
                               repeat(poisson_sampled(GaussianEvent{2, 1}, 0.01), 100),
                               ExponentialEvent{0.5}, ZcdpEvent{0.125}, GdpEvent{0.5}});
  EXPECT_EQ(scaled(run, 2), twice);
  EXPECT_EQ(scaled(scaled(run, 2), 0.5), run);
}

TEST(ScaledEvent, EveryKindCanBeScaledAndReadBack) {
  for (const Event& event : std::vector<Event>{
           DiscreteGaussianEvent{3, 1, 1, 2}, DiscreteLaplaceEvent{3, 1, 1, 2},
           GaussianMixtureEvent{2, {1, 2}, {0.5, 0.5}}, RandomizedResponseEvent{1, 3}, PureEvent{1},
           ApproximateEvent{1, 1e-6}, TcdpEvent{0.5, 10}, GnmaxEvent{40}, LnmaxEvent{20},
           ShuffledEvent{100, share(RandomizedResponseEvent{1, 2})},
           PrivateSelectionEvent{.event = share(PureEvent{0.1})},
           ParallelEvent{{PureEvent{1}, GaussianEvent{1, 1}}}}) {
    const Event more = scaled(event, 4);
    EXPECT_NE(more, event);
    EXPECT_EQ(scaled(more, 0.25), event);
    EXPECT_EQ(event_from_json(to_json(more)), more);
  }
}

TEST(ScaledEvent, NoNoiseIsNoEvent) {
  EXPECT_THROW(scaled(GaussianEvent{1, 1}, 0), InvalidArgument);
  EXPECT_THROW(scaled(PureEvent{1}, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

}  // namespace sotto::scaled_event_test
