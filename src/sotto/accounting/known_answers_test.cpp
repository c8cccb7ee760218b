// Every row of the table of reference values that concerns these accountants.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/budget/filter.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/accounting/composition/advanced.hpp"
#include "sotto/accounting/composition/amplification.hpp"
#include "sotto/accounting/composition/group.hpp"
#include "sotto/accounting/composition/optimal.hpp"
#include "sotto/accounting/composition/shuffle.hpp"
#include "sotto/accounting/renyi/detail/renyi_sampled.hpp"
#include "sotto/accounting/renyi/detail/renyi_selection.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/accounting/renyi/renyi_mechanisms.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::known_answers_test {

using nlohmann::json;

struct Row {
  std::map<std::string, std::string> field;
  json params;
  double expected = 0, tolerance = 0, delta = 0, eps = 0;
  bool has_delta = false;
  const std::string& at(const std::string& name) const { return field.at(name); }
  std::string accountant() const { return params.value("accountant", std::string()); }
};

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        out.back() += '"', ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::vector<Row> load() {
  std::ifstream file(SOTTO_KNOWN_ANSWERS "/accounting.csv");
  std::vector<Row> rows;
  std::string line;
  if (!std::getline(file, line)) return rows;
  const auto header = split_csv(line);
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto cells = split_csv(line);
    Row r;
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i)
      r.field[header[i]] = cells[i];
    r.params = json::parse(r.at("params"));
    r.expected = std::stod(r.at("expected_value"));
    r.tolerance = std::stod(r.at("tolerance"));
    std::stringstream parts(r.at("delta_or_eps"));
    std::string part;
    while (std::getline(parts, part, ';')) {
      if (part.rfind("delta=", 0) == 0) r.delta = std::stod(part.substr(6)), r.has_delta = true;
      if (part.rfind("eps=", 0) == 0) r.eps = std::stod(part.substr(4));
    }
    rows.push_back(std::move(r));
  }
  return rows;
}

Relation relation_of(const Row& r) {
  if (r.at("neighbor_relation") == "replace_one") return Relation::replace_one;
  return r.at("neighbor_relation") == "replace_special" ? Relation::zero_out : Relation::add_remove;
}

Event sgm(double q, double sigma, double steps) {
  return repeat(poisson_sampled(GaussianEvent::from_multiplier(sigma), q),
                static_cast<std::uint64_t>(steps));
}

double rdp(const Event& e, const Row& r) {
  return rdp_epsilon({relation_of(r), {e}}, Delta(r.delta)).upper;
}

std::vector<ApproximateDp> groups(const json& list) {
  std::vector<ApproximateDp> out;
  for (const auto& g : list) out.push_back({g[0].get<double>(), 0, g[1].get<std::uint64_t>()});
  return out;
}

// What a row is about: the value this library computes, and how it must relate to the expected one.
enum class Must { match, bound_it, not_exceed };  // equal; be at least it; be at most it
struct Answer {
  double value;
  Must must = Must::match;
};
using Handler = std::function<std::optional<Answer>(const Row&)>;

const std::map<std::string, Handler>& handlers() {
  static const std::map<std::string, Handler> table = {
      {"gaussian",
       [](const Row& r) -> std::optional<Answer> {
         const double mu = 1 / r.params["sigma"].get<double>();
         return Answer{r.has_delta ? gaussian_epsilon_upper(mu, Delta(r.delta))
                                   : gaussian_delta_upper(mu, r.eps)};
       }},
      {"gaussian_calibrate_sigma",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{gaussian_sigma(Epsilon(r.eps), Delta(r.delta))};
       }},
      {"gaussian_composition",
       [](const Row& r) -> std::optional<Answer> {
         std::vector<Event> events;
         for (const auto& g : r.params["sigma_groups"]) {
           events.push_back(
               repeat(GaussianEvent{g[0].get<double>(), 1}, g[1].get<std::uint64_t>()));
         }
         return Answer{epsilon({Relation::add_remove, events}, Delta(r.delta)).upper};
       }},
      {"gdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{gaussian_delta_upper(r.params["mu"], r.eps)};
       }},
      {"gdp_compose_mu",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{compose_mu(r.params["mus"].get<std::vector<double>>())};
       }},
      {"gdp_group_mu",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{group_mu(r.params["mu"], r.params["k"])};
       }},
      {"fdp_gaussian",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{gaussian_tradeoff(r.params["mu"], r.params["fpr"])};
       }},
      {"laplace_rdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_laplace(1 / r.params["b"].get<double>(), r.params["alpha"])};
       }},
      {"pure_or_approx_dp_composition",
       [](const Row& r) -> std::optional<Answer> {
         const ApproximateDp p{r.params["eps0"], r.params["delta0"], r.params["k"]};
         return Answer{r.has_delta ? optimal_epsilon(std::span(&p, 1), Delta(r.delta)).upper
                                   : optimal_delta(std::span(&p, 1), r.eps).upper};
       }},
      {"pure_dp_composition_heterogeneous",
       [](const Row& r) -> std::optional<Answer> {
         std::vector<ApproximateDp> parts;
         for (double e : r.params["eps"]) parts.push_back({e, 0, 1});
         const Enclosure e = optimal_epsilon(parts, Delta(r.delta));
         EXPECT_LE(e.lower, r.expected + r.tolerance) << r.at("id");
         EXPECT_LE(e.upper - e.lower, kOptimalPrecision * e.upper) << r.at("id");
         return Answer{e.upper, Must::bound_it};
       }},
      {"advanced_composition_drv",
       [](const Row& r) -> std::optional<Answer> {
         const ApproximateDp p{r.params["eps0"], 0, r.params["k"]};
         return Answer{
             advanced_epsilon_drv(std::span(&p, 1), Delta(r.params["slack"].get<double>()))};
       }},
      {"heterogeneous_composition_closed_form",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{advanced_epsilon_kov(groups(r.params["eps_groups"]), Delta(r.delta))};
       }},
      {"randomized_response_rdp",
       [](const Row& r) -> std::optional<Answer> {
         const double p = r.params["noise_parameter"], k = r.params["num_buckets"];
         const double eps = std::log((1 - p + p / k) / (p / k));
         const bool replace = relation_of(r) == Relation::replace_one;
         return Answer{renyi_randomized_response(eps, r.params["num_buckets"], r.params["alpha"]),
                       replace ? Must::match : Must::bound_it};
       }},
      {"zcdp_to_eps_basic",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{zcdp_epsilon_basic(r.params["rho"], Delta(r.delta))};
       }},
      {"zcdp_to_eps_improved",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{zcdp_epsilon_tight(r.params["rho"], Delta(r.delta)).value};
       }},
      {"rdp_to_eps",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{rdp(GaussianEvent{r.params["sigma"], 1}, r)};
       }},
      {"rdp_single_order_to_eps",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_epsilon_mironov(r.params["alpha"], r.params["rdp"], Delta(r.delta))};
       }},
      {"rdp_single_order_to_eps_improved",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_epsilon(r.params["alpha"], r.params["rdp"], Delta(r.delta))};
       }},
      {"group_delta",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{
             group_approximate({r.params["eps"], r.params["delta"], 1}, r.params["k"]).delta};
       }},
      {"group_eps",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{
             group_approximate({r.params["eps"], r.params["delta"], 1}, r.params["k"]).epsilon};
       }},
      {"group_zcdp_rho",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{group_zcdp(r.params["rho"], r.params["k"])};
       }},
      {"exponential_mechanism_rdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_bounded_range(r.params["eps"], r.params["alpha"])};
       }},
      {"pure_dp_rdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_pure(r.params["eps"], r.params["alpha"])};
       }},
      {"shuffle_local_dp",
       [](const Row& r) -> std::optional<Answer> {
         const double closed =
             shuffle_epsilon_closed_form(r.params["eps0"], r.params["n"], Delta(r.delta));
         EXPECT_LE(shuffle_epsilon(r.params["eps0"], r.params["n"], Delta(r.delta)).upper, closed)
             << r.at("id");
         return Answer{closed};
       }},
      {"subsample_eps",
       [](const Row& r) -> std::optional<Answer> {
         const ApproximateDp out =
             amplify_poisson({r.params["eps"], r.params["delta"], 1}, r.params["q"]);
         EXPECT_NEAR(out.delta, r.delta, 1e-20);
         return Answer{out.epsilon};
       }},
      {"sgm_poisson_rdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{renyi_sampled_gaussian(r.params["q"], r.params["sigma"], r.params["alpha"])};
       }},
      {"sgm_poisson_rdp_x_T",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{
             r.params["T"].get<double>() *
                 renyi_sampled_gaussian(r.params["q"], r.params["sigma"], r.params["alpha"]),
             r.at("kind") == "exact" ? Must::match : Must::not_exceed};
       }},
      {"sgm_wor_rdp",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{
             renyi_without_replacement_gaussian(
                 r.params["q"], r.params["sigma_over_replace_sensitivity"])(r.params["alpha"]),
             Must::not_exceed};
       }},
      {"sgm_wor",
       [](const Row& r) -> std::optional<Answer> {
         const SampledEvent step{
             Scheme::without_replacement, 1, r.params["batch"], r.params["N"],
             share(GaussianEvent{r.params["sigma_over_replace_sensitivity"], 1})};
         return Answer{rdp(repeat(step, r.params["T"]), r), Must::not_exceed};
       }},
      {"sgm_poisson",
       [](const Row& r) -> std::optional<Answer> {
         if (!r.has_delta || r.at("neighbor_relation") == "add_only") return std::nullopt;
         const double value = rdp(sgm(r.params["q"], r.params["sigma"], r.params["T"]), r);
         const std::string who = r.accountant();
         if (!r.at("pair_tight_eps").empty()) {
           EXPECT_GE(value, std::stod(r.at("pair_tight_eps")) - 3e-6) << r.at("id");
         }
         if (who == "RDP-ideal") return Answer{value};
         if (who.rfind("RDP", 0) == 0) return Answer{value, Must::not_exceed};
         if (r.at("kind") != "exact") return std::nullopt;  // what other tools print, tight or not
         return Answer{value, Must::bound_it};
       }},
      {"sgm_poisson_heterogeneous",
       [](const Row& r) -> std::optional<Answer> {
         std::vector<Event> events;
         for (const auto& p : r.params["parts"]) events.push_back(sgm(p["q"], p["sigma"], p["T"]));
         return Answer{rdp(compose(events), r),
                       r.accountant() == "RDP" ? Must::not_exceed : Must::bound_it};
       }},
      {"sgm_poisson_calibrate_sigma",
       [](const Row& r) -> std::optional<Answer> {
         if (r.accountant() != "RDP-ideal") return std::nullopt;
         const std::string text =
             json{{"schema", 1},
                  {"relation", "add_remove"},
                  {"events",
                   {{{"repeat",
                      {{"count", r.params["T"]},
                       {"event",
                        {{"sampled",
                          {{"scheme", "poisson"},
                           {"rate", r.params["q"]},
                           {"event", {{"gaussian", {{"noise_multiplier", "?"}}}}}}}}}}}}}}}
                 .dump();
         AccountOptions o;
         o.accountant = Accountant::rdp;
         return Answer{calibrate(SpecTemplate::parse(text), Epsilon(r.params["eps"].get<double>()),
                                 Delta(r.delta), o)
                           .value};
       }},
      {"laplace_composition",
       [](const Row& r) -> std::optional<Answer> {
         const double value = rdp(repeat(LaplaceEvent{r.params["b"], 1}, r.params["T"]), r);
         return Answer{value, r.accountant() == "RDP" ? Must::not_exceed : Must::bound_it};
       }},
      {"discrete_gaussian_composition",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{rdp(repeat(DiscreteGaussianEvent{r.params["sigma"], r.params["sensitivity"]},
                                  r.params["T"]),
                           r),
                       Must::not_exceed};
       }},
      {"poisson_subsampled_laplace",
       [](const Row& r) -> std::optional<Answer> {
         return Answer{rdp(repeat(poisson_sampled(LaplaceEvent{r.params["b"], 1}, r.params["q"]),
                                  r.params["T"]),
                           r),
                       Must::bound_it};
       }},
      {"mixture_of_gaussians_composition",
       [](const Row& r) -> std::optional<Answer> {
         std::vector<Event> events;
         for (const auto& e : r.params["events"])
           events.push_back(repeat(GaussianMixtureEvent{e["sigma"], e["sens"], e["p"]}, e["T"]));
         return Answer{rdp(compose(events), r), Must::bound_it};
       }},
      {"repeat_and_select_pure",
       [](const Row& r) -> std::optional<Answer> {
         const PrivateSelectionEvent e{SelectionDistribution::truncated_negative_binomial,
                                       r.params["shape"], r.params["mean"],
                                       share(LaplaceEvent{1, 1})};
         return Answer{RenyiCurve(e, Relation::add_remove)(1e10)};
       }},
      {"repeat_and_select_gaussian",
       [](const Row& r) -> std::optional<Answer> {
         PrivateSelectionEvent e{SelectionDistribution::poisson, 1, r.params["mean"],
                                 share(GaussianEvent{r.params["sigma"], 1})};
         if (r.params["shape"].is_number()) {
           e.distribution = SelectionDistribution::truncated_negative_binomial;
           e.shape = r.params["shape"];
         }
         return Answer{rdp(e, r), Must::not_exceed};
       }},
      {"truncated_negative_binomial_mean",
       [](const Row& r) -> std::optional<Answer> {
         const double mean = truncated_negative_binomial_mean(r.params["shape"], r.params["gamma"]);
         EXPECT_NEAR(truncated_negative_binomial_gamma(r.params["shape"], mean),
                     r.params["gamma"].get<double>(), 1e-10);
         return Answer{mean};
       }},
      {"tree_aggregation_single_epoch",
       [](const Row& r) -> std::optional<Answer> {
         const Event e = GaussianEvent{r.params["noise_multiplier"], std::sqrt(11.0)};
         if (r.accountant() == "exact")
           return Answer{epsilon({Relation::zero_out, {e}}, Delta(r.delta)).upper};
         return Answer{rdp(e, r), Must::not_exceed};
       }},
      {"privacy_filter_pure_dp",
       [](const Row& r) -> std::optional<Answer> {
         double squares = 0;
         for (const auto& g : groups(r.params["eps_groups"]))
           squares += static_cast<double>(g.count) * g.epsilon * g.epsilon;
         return Answer{filter_epsilon_of_squares(squares, Delta(r.delta))};
       }},
  };
  return table;
}

TEST(KnownAnswers, EveryRowThatConcernsTheseAccountants) {
  const auto rows = load();
  ASSERT_FALSE(rows.empty()) << "no table in " SOTTO_KNOWN_ANSWERS;
  int checked = 0;
  for (const Row& r : rows) {
    const auto handler = handlers().find(r.at("mechanism"));
    if (handler == handlers().end()) continue;
    const auto answer = handler->second(r);
    if (!answer) continue;
    ++checked;
    const double slack = r.tolerance + 1e-13 * std::abs(r.expected);
    if (answer->must != Must::bound_it) {
      EXPECT_LE(answer->value, r.expected + slack) << r.at("id");
    }
    if (answer->must != Must::not_exceed) {
      EXPECT_GE(answer->value, r.expected - slack) << r.at("id");
    }
  }
  EXPECT_GE(checked, 180);
  std::printf("%d of %zu rows checked\n", checked, rows.size());
}

}  // namespace sotto::known_answers_test
