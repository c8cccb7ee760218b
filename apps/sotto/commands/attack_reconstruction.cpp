// sotto attack reconstruction: a secret of every record from counts over subsets, exact and noisy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/commands.hpp"
#include "options/budget_options.hpp"
#include "options/reader_options.hpp"
#include "sotto/audit/proportion.hpp"
#include "sotto/audit/reconstruction.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/counts.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// Whether the column of each of the first records holds the value.
std::vector<bool> secrets_of(const Arguments& arguments) {
  CsvReader reader(arguments.text("data"), csv_options(arguments));
  const std::size_t most = arguments.whole("records");
  const std::string value = arguments.text("value");
  std::vector<bool> secrets;
  reader.for_each_text(arguments.text("column"), [&](std::string_view text, std::uint64_t) {
    if (secrets.size() == most) return;
    const auto first = text.find_first_not_of(' ');
    const auto bare = first == std::string_view::npos
                          ? std::string_view{}
                          : text.substr(first, text.find_last_not_of(' ') - first + 1);
    secrets.push_back(bare == value);
  });
  if (secrets.empty()) throw DataError("there are no records", "there is nothing to find out");
  return secrets;
}

// The answers as a release of so many counts would give them for the whole budget.
std::vector<double> noisy(const std::vector<double>& exact, const Budget& budget, double& spread,
                          Rng& rng) {
  const double each = 1 / static_cast<double>(exact.size());
  const auto plan_of = [&](const Budget& b) {
    return CountPlan(
        {.relation = Relation::add_remove, .budget = b.part(each), .allow_negative = true});
  };
  const Budget spent = confirmed(budget, Relation::add_remove, [&](const Budget& b) {
    return repeat(plan_of(b).event(), exact.size());
  });
  const CountPlan plan = plan_of(spent);
  spread = plan.noise().info().standard_deviation.value_or(plan.noise().scale());
  std::vector<double> answers;
  for (const double count : exact)
    answers.push_back(plan.run(static_cast<std::uint64_t>(count), rng).value.value);
  return answers;
}

struct Recovered {
  std::uint64_t right = 0, records = 0;

  double share() const { return static_cast<double>(right) / static_cast<double>(records); }
};

Recovered compare(const std::vector<double>& found, const std::vector<bool>& secrets) {
  Recovered r{0, secrets.size()};
  for (std::size_t i = 0; i < secrets.size(); ++i) r.right += (found[i] > 0.5) == secrets[i];
  return r;
}

void run_attack_reconstruction(const Arguments& arguments, Context& context) {
  const Budget budget = budget_of(arguments);
  const audit::Solver solver = audit::parse_solver(arguments.text("solver"));
  Rng rng = attack_rng(arguments, context);
  const std::vector<bool> secrets = secrets_of(arguments);
  const std::size_t counts =
      arguments.given("counts") ? arguments.whole("counts") : 4 * secrets.size();
  const audit::Subsets subsets = audit::random_subsets(secrets.size(), counts, rng.next_u64());
  const std::vector<double> exact = audit::exact_counts(subsets, secrets);
  double spread = 0;
  const std::vector<double> answers = noisy(exact, budget, spread, rng);
  const Recovered from_exact = compare(audit::reconstruct(subsets, exact, solver), secrets),
                  from_noisy = compare(audit::reconstruct(subsets, answers, solver), secrets);
  const auto ones = static_cast<std::uint64_t>(std::ranges::count(secrets, true));
  const Recovered guess{std::max<std::uint64_t>(ones, secrets.size() - ones), secrets.size()};
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"records", secrets.size()},
                                    {"counts", counts},
                                    {"solver", name(solver)},
                                    {"recovered",
                                     {{"exact", from_exact.share()},
                                      {"noisy", from_noisy.share()},
                                      {"guess", guess.share()}}},
                                    {"noise_standard_deviation", spread},
                                    {"epsilon", arguments.number("epsilon")},
                                    {"delta", arguments.maybe_number("delta").value_or(0)}})
                                  .dump());
    return;
  }
  context.out.print(
      "{}\nwhether {} is the given value, for {} records, from {} counts over random "
      "subsets ({})\n",
      context.bold(kPrivateResult), arguments.text("column"), secrets.size(), counts, name(solver));
  const auto line = [&](const std::string& from, const Recovered& r) {
    context.out.print("  {:<42}{:6.2f} % right ({:.2f} to {:.2f})\n", from, 100 * r.share(),
                      100 * audit::clopper_pearson_lower(r.right, r.records, 0.025),
                      100 * audit::clopper_pearson_upper(r.right, r.records, 0.025));
  };
  line("from exact counts", from_exact);
  line(fmt::format("from counts for epsilon = {} in all", arguments.text("epsilon")), from_noisy);
  line("by guessing the commoner value", guess);
  context.out.print("  noise of each count: standard deviation {:.4g}\n", spread);
}

}  // namespace

Command attack_reconstruction_command() {
  std::vector<Option> options = {
      {.name = "data", .type = Type::file, .value = "FILE", .help = kTableHelp, .required = true},
      {.name = "column", .value = "NAME", .help = "the secret column", .required = true},
      {.name = "value",
       .value = "V",
       .help = "the value of it that nobody may know to be somebody's",
       .required = true},
      {.name = "records",
       .type = Type::whole,
       .value = "N",
       .help = "the first so many records",
       .fallback = "500",
       .range = Range::between(1, 8192)},
      {.name = "counts",
       .type = Type::whole,
       .value = "Q",
       .help = "how many subsets are counted; default: four times the records",
       .range = Range::between(1, 1e6)},
      {.name = "solver",
       .type = Type::choice,
       .value = "HOW",
       .help = "fit the counts by squares, or by absolute values as a linear program",
       .fallback = "least_squares",
       .choices = {"least_squares", "linear_programming"}}};
  for (Option& option : reader_options())
    if (option.name != "no-header") options.push_back(std::move(option));
  for (Option& option : budget_options()) {
    if (option.name == "rho") continue;
    option.required = option.name == "epsilon";
    options.push_back(std::move(option));
  }
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "reconstruction",
          .summary = "a secret column from too many counts, exact and noisy",
          .description =
              "Asks how many records of random subsets have the value, and solves for each "
              "record. Exact answers give nearly every secret away; answers with the noise of a "
              "budget for all of them do not. THE RESULT IS PRIVATE.",
          .examples = {{"Who lives in Turin?",
                        "sotto attack reconstruction --data people.csv --column city --value "
                        "Turin --records 100 --epsilon 1 --delta 1e-6"}},
          .options = std::move(options),
          .run = run_attack_reconstruction};
}

}  // namespace sotto::cli
