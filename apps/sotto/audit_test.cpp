// Empirical audits: many models of two neighbouring data sets. The lower bound on ε that an
// observer of the weights can prove must not exceed the claim, and must exceed it when the noise is
// too small for the claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "command_case_test.hpp"
#include "sotto/data/table.hpp"
#include "sotto/models/linear/training.hpp"
#include "support/audit_bound.hpp"

namespace sotto::cli::audit_test {

constexpr std::size_t kRuns = 600;  // for each data set; half to choose the test, half to count
constexpr double kDelta = 1e-6;

class ModelAudit : public CommandCase {
 protected:
  Table table(const Encoder& encoder, const std::string& name, const std::string& rows) const {
    return load_table(file(name, "x,y\n" + rows), encoder);
  }
  static std::vector<std::vector<double>> weights(const LinearTraining& training,
                                                  const Table& table, Rng& rng) {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < kRuns; ++i)
      all.push_back(training.fit(*table_in_memory(table), rng).value().weights);
    return all;
  }
  static double epsilon_lower(const std::vector<std::vector<double>>& a,
                              const std::vector<std::vector<double>>& b) {
    return test::epsilon_lower(a, b, kDelta);
  }
};

TEST_F(ModelAudit, NoMethodLeaksMoreThanItClaimsAndTooLittleNoiseIsCaught) {
  constexpr double kClaim = 0.5;
  std::size_t audited = 0, caught = 0;
  for (const LinearKind kind : {LinearKind::logistic, LinearKind::linear}) {
    const std::string target =
        kind == LinearKind::linear
            ? "type = \"numeric\"\nrole = \"target\"\nbounds = [-1, 1]\n"
            : "type = \"categorical\"\nrole = \"target\"\nvalues = [\"-1\", \"1\"]\n";
    const Facts facts = table_facts(Schema::from_toml(
        "relation = \"add_remove\"\nrows = 1\n[columns.x]\ntype = \"numeric\"\nbounds = [-1, 1]\n"
        "[columns.y]\n" +
        target));
    const Table with = table(*facts.encoder, "with.csv", "1,1\n"),
                without = table(*facts.encoder, "without.csv", "");
    for (const Method& declared : linear_methods()) {
      const std::string& method = declared.name;
      if (method == "none" || method == "auto") continue;
      const auto lower = [&](double epsilon) -> std::optional<double> {
        try {
          const LinearTraining training(
              facts, {.kind = kind,
                      .method = method,
                      .budget = Budget::approximate(epsilon, kDelta),
                      .options = {.iterations = method == "gradient" ? 4u : 0u, .threads = 1}});
          Rng rng = Rng::insecure_seed(7);
          const auto a = weights(training, with, rng);
          return std::max(epsilon_lower(a, weights(training, without, rng)),
                          epsilon_lower(weights(training, without, rng), a));
        } catch (const Error&) {
          return std::nullopt;  // not for this loss
        }
      };
      const auto honest = lower(kClaim);
      if (!honest) continue;
      ++audited;
      EXPECT_LE(*honest, kClaim) << name(kind) << " " << method;
      auto mutant = lower(1000 * kClaim);  // the noise of ε = 500, claimed as 0.5
      // A test in one direction can miss a difference that another amount of noise shows.
      if (mutant && *mutant <= kClaim) mutant = lower(100 * kClaim);
      ASSERT_TRUE(mutant.has_value());
      if (*mutant > kClaim) ++caught;
      RecordProperty(std::string(name(kind)) + "_" + method + "_mutant", std::to_string(*mutant));
      std::printf("  %s %s: at least %.3f of %.1f; with too little noise at least %.3f\n",
                  std::string(name(kind)).c_str(), method.c_str(), *honest, kClaim, *mutant);
    }
  }
  EXPECT_GE(audited, 5u);
  EXPECT_EQ(caught, audited);
}

}  // namespace sotto::cli::audit_test
