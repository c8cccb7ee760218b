// Reference values of the known-answers file, for the rows that the privacy loss accountant must
// reproduce.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "sotto/accounting/pld/pld_accountant.hpp"

namespace sotto::pld_known_answers_test {

using nlohmann::json;

struct Row {
  std::string id, mechanism, relation, question, kind;
  json params;
  double expected = 0, tolerance = 0;
};

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += '"';
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

std::vector<Row> read_rows() {
  std::vector<Row> rows;
  std::ifstream file(SOTTO_KNOWN_ANSWERS "/accounting.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto c = split_csv(line);
    if (c.size() < 9 || c[3].empty() || c[3][0] != '{') continue;
    Row row{c[0], c[2], c[4], c[5], c[8], json::parse(c[3]), 0, 0};
    if (c[6].empty() || c[7].empty()) continue;
    row.expected = std::stod(c[6]);
    row.tolerance = std::stod(c[7]);
    rows.push_back(std::move(row));
  }
  return rows;
}

Event sampled_gaussian(double q, double sigma) {
  return q == 1 ? Event(GaussianEvent::from_multiplier(sigma))
                : poisson_sampled(GaussianEvent::from_multiplier(sigma), q);
}

// The specification a row describes, or nothing when the row is about something else.
std::optional<Spec> spec_of(const Row& row) {
  const json& p = row.params;
  Spec spec;
  if (row.relation == "replace_one") spec.relation = Relation::replace_one;
  const auto times = [&] { return static_cast<std::uint64_t>(p.value("T", 1.0)); };
  if (row.mechanism == "gaussian") {
    spec.events = {GaussianEvent{p["sigma"], p["sensitivity"]}};
  } else if (row.mechanism == "gaussian_composition") {
    for (const auto& g : p["sigma_groups"])
      spec.events.push_back(repeat(GaussianEvent{g[0], 1}, g[1]));
  } else if (row.mechanism == "gdp") {
    spec.events = {GdpEvent{p["mu"]}};
  } else if (row.mechanism == "laplace") {
    spec.events = {LaplaceEvent{p["b"], p["sensitivity"]}};
  } else if (row.mechanism == "laplace_composition" && !p.contains("accountant")) {
    spec.events = {repeat(LaplaceEvent{p["b"], 1}, times())};
  } else if (row.mechanism == "poisson_subsampled_laplace") {
    spec.events = {repeat(poisson_sampled(LaplaceEvent{p["b"], 1}, p["q"]), times())};
  } else if (row.mechanism == "sgm_poisson" && row.relation != "add_only" &&
             p.value("accountant", "tight") == "tight") {
    spec.events = {repeat(sampled_gaussian(p["q"], p["sigma"]), times())};
  } else if (row.mechanism == "sgm_poisson_heterogeneous" && !p.contains("accountant")) {
    for (const auto& part : p["parts"])
      spec.events.push_back(repeat(sampled_gaussian(part["q"], part["sigma"]), part["T"]));
  } else if (row.mechanism == "mixture_of_gaussians_composition") {
    for (const auto& e : p["events"]) {
      spec.events.push_back(repeat(GaussianMixtureEvent{e["sigma"], e["sens"], e["p"]}, e["T"]));
    }
  } else if (row.mechanism == "discrete_gaussian_1d") {
    spec.events = {DiscreteGaussianEvent{p["sigma"], p["sensitivity"]}};
  } else if (row.mechanism == "discrete_gaussian_1d_composition") {
    spec.events = {repeat(DiscreteGaussianEvent{p["sigma"], p["sensitivity"]}, times())};
  } else if (row.mechanism == "discrete_laplace") {
    spec.events = {DiscreteLaplaceEvent{1 / p["a"].get<double>(), p["sensitivity"]}};
  } else if (row.mechanism == "randomized_response") {
    // noise_parameter: the probability of answering uniformly at random.
    const double noise = p["noise_parameter"], k = p["num_buckets"];
    spec.events = {repeat(
        RandomizedResponseEvent{std::log1p((1 - noise) * k / noise), static_cast<std::uint64_t>(k)},
        times())};
  } else if (row.mechanism == "pure_or_approx_dp_composition") {
    const double delta0 = p["delta0"];
    const Event one =
        delta0 > 0 ? Event(ApproximateEvent{p["eps0"], delta0}) : Event(PureEvent{p["eps0"]});
    spec.events = {repeat(one, p["k"])};
  } else if (row.mechanism == "pure_dp_composition_heterogeneous") {
    for (const auto& e : p["eps"]) spec.events.push_back(PureEvent{e});
  } else {
    return std::nullopt;
  }
  return spec;
}

TEST(PldKnownAnswers, EveryRowWithinItsTolerance) {
  const std::vector<Row> rows = read_rows();
  ASSERT_FALSE(rows.empty()) << "no table in " SOTTO_KNOWN_ANSWERS;
  int checked = 0;
  for (const Row& row : rows) {
    const std::optional<Spec> spec = spec_of(row);
    if (!spec) continue;
    const bool for_epsilon = row.question.rfind("delta=", 0) == 0;
    if (!for_epsilon && row.question.rfind("eps=", 0) != 0) continue;
    const double given = std::stod(row.question.substr(row.question.find('=') + 1));
    // As tight as the row asks, within what is worth waiting for in a test.
    const double wanted = std::clamp(0.5 * row.tolerance / std::abs(row.expected), 2e-4, 1e-3);
    const Bound b =
        for_epsilon ? pld_epsilon(*spec, Delta(given), wanted) : pld_delta(*spec, given, wanted);
    SCOPED_TRACE(row.id);
    const double slack = row.tolerance + 1e-13 * row.expected;
    EXPECT_LE(b.lower, row.expected + slack);
    if (row.kind == "exact") {
      EXPECT_GE(b.upper, row.expected - slack);
      EXPECT_GE(b.lower, row.expected * (1 - 2 * wanted) - slack);
    }
    EXPECT_LE(b.upper, row.expected * (1 + wanted) + slack);
    EXPECT_LE(b.lower, b.upper);
    ++checked;
  }
  EXPECT_GE(checked, 80);
}

}  // namespace sotto::pld_known_answers_test
