// Objective perturbation with two outputs and Gaussian noise, by brute force: the hockey-stick
// divergence of the exact minimiser's laws, integrated over a grid of θ ∈ ℝ², against the bound
// that plans rely on. One feature; records are (x, class).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "sotto/models/linear/detail/objective_bound.hpp"
#include "sotto/models/linear/loss.hpp"

namespace sotto::objective_outputs_test {

struct Record {
  double x;
  int y;
};
using Records = std::vector<Record>;

// ln of the density of θ* at θ: that of b at −∇J, times det ∇²J. Written out here, apart from the
// library's own derivatives.
double density(const Records& records, Loss loss, double ridge, double sigma,
               const std::array<double, 2>& theta) {
  double g0 = ridge * theta[0], g1 = ridge * theta[1], h00 = ridge, h11 = ridge, h01 = 0;
  for (const Record& r : records) {
    const double z0 = theta[0] * r.x, z1 = theta[1] * r.x, square = r.x * r.x;
    if (loss == Loss::logistic) {
      const double p = 1 / (1 + std::exp(z1 - z0)), c = p * (1 - p) * square;
      g0 += (p - (r.y == 0 ? 1 : 0)) * r.x;
      g1 += (1 - p - (r.y == 1 ? 1 : 0)) * r.x;
      h00 += c, h11 += c, h01 -= c;
    } else {
      const double y0 = r.y == 0 ? 1 : -1, y1 = -y0;
      g0 += loss_slope(loss, z0, y0) * r.x;
      g1 += loss_slope(loss, z1, y1) * r.x;
      h00 += loss_curvature(loss, z0, y0) * square;
      h11 += loss_curvature(loss, z1, y1) * square;
    }
  }
  return std::exp(-(g0 * g0 + g1 * g1) / (2 * sigma * sigma)) / (2 * M_PI * sigma * sigma) *
         (h00 * h11 - h01 * h01);
}

constexpr std::array<double, 4> kEpsilons = {0.25, 0.75, 1.5, 3};

struct Sticks {
  std::array<double, 4> forth = {}, back = {};
  double mass = 0;
};

Sticks hockey_sticks(const Records& a, const Records& b, Loss loss, double ridge, double sigma) {
  // Cells end where the hinge's curvature jumps (multiples of ½ for the records here), and are fine
  // against the law where it is narrowest: there J is curved by all records.
  const auto records = static_cast<double>(std::max(a.size(), b.size()));
  const double reach = std::ceil((6.5 * sigma + records + 1) / ridge * 2) / 2;
  const double cell = 0.5 / std::ceil(0.5 / (sigma / (ridge + records) / 3));
  const int cells = static_cast<int>(std::lround(2 * reach / cell));
  Sticks sticks;
  for (int i = 0; i < cells; ++i) {
    for (int j = 0; j < cells; ++j) {
      const std::array<double, 2> theta = {cell * (i + 0.5) - reach, cell * (j + 0.5) - reach};
      const double p = density(a, loss, ridge, sigma, theta) * cell * cell;
      const double q = density(b, loss, ridge, sigma, theta) * cell * cell;
      sticks.mass += p;
      for (std::size_t e = 0; e < kEpsilons.size(); ++e) {
        sticks.forth[e] += std::max(0.0, p - std::exp(kEpsilons[e]) * q);
        sticks.back[e] += std::max(0.0, q - std::exp(kEpsilons[e]) * p);
      }
    }
  }
  return sticks;
}

TEST(ObjectiveOutputs, HockeySticksOfTwoOutputsStayBelowDeltaInBothOrders) {
  constexpr double kError = 2e-3;  // of the integration, far below the sticks that matter
  double closest = 0;
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const ObjectiveBound bound{loss, 2, relation};
      for (const Records& base : {Records{}, Records{{1, 0}, {1, 0}}, Records{{-1, 1}, {0.5, 0}}}) {
        Records a = base, b = base;
        a.push_back({1, 1});
        if (relation == Relation::replace_one) b.push_back({-1, 1});
        for (const double ridge : {0.4, 2.0, 10.0}) {
          for (const double sigma : {0.8, 2.0}) {
            const Sticks sticks = hockey_sticks(a, b, loss, ridge, sigma);
            ASSERT_NEAR(sticks.mass, 1, 5e-3) << "the grid covers the law";
            for (std::size_t e = 0; e < kEpsilons.size(); ++e) {
              const double claim = bound.delta(ridge, sigma, kEpsilons[e]);
              const double worst = std::max(sticks.forth[e], sticks.back[e]);
              EXPECT_LE(worst, claim + kError)
                  << name(loss) << ' ' << name(relation) << " ridge " << ridge << " sigma " << sigma
                  << " epsilon " << kEpsilons[e];
              if (claim < 0.9) closest = std::max(closest, worst / claim);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(closest, 0.3) << "a bound that is never approached says little";
}

}  // namespace sotto::objective_outputs_test
