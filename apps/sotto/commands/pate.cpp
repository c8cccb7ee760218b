// sotto pate: labels for public records by the noisy vote of teachers that learned from private
// ones.
#include "pate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "options/budget_options.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/pate/two_classes.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
using pate::Aggregator;

constexpr const char* kStatement =
    "epsilon is a noisy statement about this data set; epsilon_data_independent is the guarantee";
constexpr const char* kWithoutStudent =
    "; epsilon is of the votes alone, the student that was asked is in the guarantee";
constexpr double kPi = 3.141592653589793;
constexpr double kThresholdShare = .8;    // of the teachers
constexpr double kThresholdNoise = 3.75;  // times that on votes

pate::Conversion conversion_of(const Arguments& arguments) {
  return arguments.text("conversion") == "paper" ? pate::Conversion::paper
                                                 : pate::Conversion::cks20;
}

pate::LabelOptions options_at(const Arguments& arguments, const PateFacts& facts, double sigma,
                              bool as_bits = false) {
  pate::LabelOptions o{.relation = facts.relation,
                       .aggregator = pate::parse_aggregator(arguments.text("aggregator")),
                       .teachers = facts.teachers,
                       .queries = facts.queries,
                       .classes = facts.classes,
                       .sigma = sigma,
                       .as_bits = as_bits};
  const bool two = pate::has_threshold(o.aggregator);
  for (const char* option : {"threshold", "sigma-threshold", "answers"})
    if (!two && arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is for aggregators with a threshold", option),
                            "--aggregator confident_gnmax or interactive");
  if (!two) return o;
  o.threshold = arguments.maybe_number("threshold")
                    .value_or(kThresholdShare * static_cast<double>(facts.teachers));
  o.sigma_threshold = arguments.maybe_number("sigma-threshold").value_or(kThresholdNoise * sigma);
  if (arguments.given("answers")) o.answers = arguments.whole("answers");
  return o;
}

std::optional<pate::SanitiseOptions> sanitising(const Arguments& arguments,
                                                const pate::LabelOptions& labels, double delta) {
  if (arguments.text("data-dependent") == "none") return std::nullopt;
  pate::SanitiseOptions s =
      pate::designed(labels, delta, conversion_of(arguments), arguments.number("agreement"));
  s.confidence = arguments.number("confidence");
  return s;
}

Event event_of(const pate::LabelOptions& labels,
               const std::optional<pate::SanitiseOptions>& sanitise, const PateFacts& facts) {
  Event event = pate::LabelPlan(labels).event();
  if (sanitise) event = compose({event, pate::SanitisePlan(labels, *sanitise).event()});
  if (facts.student.empty()) return event;
  std::vector<Event> events{event};
  events.insert(events.end(), facts.student.begin(), facts.student.end());
  return compose(std::move(events));
}

// The noise that labels alone would need for the budget; about.
double guessed_sigma(const Arguments& arguments, const PateFacts& facts, double delta,
                     bool as_bits) {
  const double mu = gaussian_mu(Epsilon(arguments.number("epsilon")), Delta(delta));
  const pate::LabelOptions one = pate::LabelPlan(options_at(arguments, facts, 1)).options();
  const double asked = static_cast<double>(one.queries), given = static_cast<double>(one.answers);
  double squares = one.aggregator == Aggregator::lnmax ? 4 * given : 2 * given;
  // An answer between two classes costs no less than this share of noisy counts (two_classes.hpp).
  if (as_bits) squares *= 2 / kPi;
  if (pate::has_threshold(one.aggregator) && !arguments.given("sigma-threshold"))
    squares += asked / (kThresholdNoise * kThresholdNoise);
  return std::clamp(std::sqrt(squares) / mu, .01, 1e5);
}

// The least noise that the budget allows.
double calibrated_sigma(const Arguments& arguments, const PateFacts& facts, double delta,
                        const std::optional<pate::SanitiseOptions>& sanitise, bool as_bits) {
  const Unknown unknown{.name = "sigma", .whole = false, .at = [&](double sigma) {
                          const auto options = options_at(arguments, facts, sigma, as_bits);
                          return Spec{facts.relation, {event_of(options, sanitise, facts)}};
                        }};
  return confirm(unknown, guessed_sigma(arguments, facts, delta, as_bits), Safer::larger,
                 Epsilon(arguments.number("epsilon")), Delta(delta))
      .value;
}

// How labels between two classes are charged is a choice: as the noisy counts behind them, or as
// bits. The plan with less noise for a budget, or with less ε for a noise.
bool costs_less(const PatePlan& a, const PatePlan& b, bool calibrated) {
  const auto epsilon = [](const PatePlan& plan) {
    try {
      return independent_epsilon(plan);
    } catch (const AccountingError&) {
      return kInfinity;
    }
  };
  return calibrated ? a.labels.options().sigma < b.labels.options().sigma : epsilon(a) < epsilon(b);
}

bool can_be_paid(const PatePlan& plan, const Arguments& arguments, const PateFacts& facts) {
  return Payment(arguments, Spec{facts.relation, {plan.event()}}, facts.unit, "labels").would_fit();
}

std::string maybe_label(const std::vector<std::string>& classes, std::uint32_t value) {
  return value < classes.size() ? csv_field(classes[value]) : std::to_string(value);
}

}  // namespace

PatePlan plan_labels(const Arguments& arguments, const PateFacts& facts) {
  if (arguments.given("sigma") == arguments.given("epsilon"))
    throw InvalidArgument("say how large the noise is: --sigma S, or --epsilon E for the budget",
                          "e.g. --sigma 40 with 250 teachers");
  if (!arguments.given("delta"))
    throw InvalidArgument(arguments.title() + " needs --delta, to state epsilon", "e.g. 1e-5");
  const double delta = arguments.number("delta");
  const bool calibrated = arguments.given("epsilon");
  // Found out for one noise: others are near.
  const double near =
      calibrated ? guessed_sigma(arguments, facts, delta, false) : arguments.number("sigma");
  const pate::LabelOptions nearby = options_at(arguments, facts, near);
  const bool bits = nearby.aggregator != Aggregator::lnmax && pate::has_exact_costs(nearby);
  const auto sanitise =
      sanitising(arguments,
                 calibrated && bits
                     ? options_at(arguments, facts, guessed_sigma(arguments, facts, delta, true))
                     : nearby,
                 delta);
  const auto planned = [&](bool as_bits) {
    const double sigma =
        calibrated ? calibrated_sigma(arguments, facts, delta, sanitise, as_bits) : near;
    const pate::LabelOptions options = options_at(arguments, facts, sigma, as_bits);
    PatePlan plan{.labels = pate::LabelPlan(options),
                  .sanitised = {},
                  .delta = delta,
                  .paid = event_of(options, sanitise, facts)};
    if (sanitise) plan.sanitised.emplace(options, *sanitise);
    return plan;
  };
  PatePlan as_counts = planned(false);
  if (!bits) return as_counts;
  std::optional<PatePlan> as_bits;
  try {
    as_bits = planned(true);
  } catch (const InvalidArgument&) {
    return as_counts;  // bits have no law here that is cheaper
  } catch (const AccountingError&) {
    return as_counts;  // nor one that meets the budget
  }
  const bool less = costs_less(*as_bits, as_counts, calibrated);
  PatePlan& first = less ? *as_bits : as_counts;
  PatePlan& second = less ? as_counts : *as_bits;
  // A ledger may be able to express one of them only.
  const bool take_second =
      !can_be_paid(first, arguments, facts) && can_be_paid(second, arguments, facts);
  return std::move(take_second ? second : first);
}

std::string PatePlan::describe() const {
  return labels.describe() + (sanitised ? "; " + sanitised->describe() : std::string());
}

double independent_epsilon(const PatePlan& plan) {
  return guarantee(Spec{plan.labels.relation(), {plan.event()}}, plan.delta, kCertificateAccounting)
      .upper;
}

PateResult label(const PatePlan& plan, const pate::Votes& votes, Rng& rng,
                 const std::vector<double>* student) {
  PateResult result{.labels = plan.labels.run(votes, rng, student).value, .sanitised = {}};
  if (plan.sanitised) result.sanitised = plan.sanitised->run(votes, rng, student).value;
  return result;
}

bool has_labels(const pate::Labels& labels) {
  return std::any_of(labels.labels.begin(), labels.labels.end(),
                     [](const pate::Label& l) { return l.origin != pate::Origin::none; });
}

Json planned_json(const PatePlan& plan, double epsilon) {
  const pate::LabelOptions& o = plan.labels.options();
  Json json = {{"schema", 1},
               {"queries", o.queries},
               {"answered", nullptr},
               {"epsilon_data_independent", epsilon},
               {"epsilon", nullptr},
               {"epsilon_upper", nullptr},
               {"delta", plan.delta},
               {"aggregator", pate::name(o.aggregator)},
               {"teachers", o.teachers},
               {"sigma", o.sigma},
               {"relation", name(o.relation)}};
  if (pate::has_threshold(o.aggregator)) {
    json["threshold"] = o.threshold;
    json["sigma_threshold"] = o.sigma_threshold;
    json["answers_at_most"] = o.answers;
  }
  if (plan.sanitised) {
    const pate::SanitiseOptions& s = plan.sanitised->options();
    json["confidence"] = s.confidence;
    json["conversion"] = s.conversion == pate::Conversion::paper ? "paper" : "cks20";
    json["order"] = s.order;
    json["statement"] = kStatement;
    if (o.aggregator == Aggregator::interactive)
      json["statement"] = std::string(kStatement) + kWithoutStudent;
  }
  return json;
}

ledger::Announcement announced_statement(const PatePlan& plan) {
  if (!plan.sanitised || plan.labels.options().aggregator == Aggregator::interactive) return {};
  return {.delta = plan.delta, .confidence = plan.sanitised->options().confidence};
}

std::optional<ledger::Statement> statement_about(const PatePlan& plan, const PateResult& result,
                                                 double independent) {
  if (!result.sanitised || announced_statement(plan).delta == 0) return std::nullopt;
  return ledger::Statement{.epsilon = std::min(result.sanitised->epsilon_upper, independent),
                           .delta = plan.delta,
                           .confidence = result.sanitised->confidence};
}

void add_result(Json& json, const PateResult& result, double independent) {
  json["asked"] = result.labels.asked;
  json["answered"] = result.labels.answered;
  if (!result.sanitised) return;
  // Never more than what any votes cost: that bound holds for these as well.
  json["epsilon"] = std::min(result.sanitised->epsilon, independent);
  json["epsilon_upper"] = std::min(result.sanitised->epsilon_upper, independent);
}

void print_result(const PatePlan& plan, const Json& json, Context& context) {
  context.out.print("  guarantee  epsilon = {}, delta = {} ({}), whatever the votes are\n",
                    round_up(json["epsilon_data_independent"].get<double>()), round_up(plan.delta),
                    name(plan.labels.relation()));
  if (json["epsilon"].is_number())
    context.out.print(
        "  this data  epsilon about {:.3f}, at most {} with confidence {}; a noisy statement about "
        "this data set, no guarantee for others\n",
        json["epsilon"].get<double>(), round_up(json["epsilon_upper"].get<double>(), 4),
        json["confidence"].get<double>());
  context.out.print("  plan       {}\n", plan.describe());
}

std::string labels_csv(const pate::Labels& labels, const std::vector<std::size_t>& queries,
                       const std::vector<std::string>& classes) {
  std::string text = "query,label\n";
  for (std::size_t i = 0; i < labels.labels.size(); ++i)
    if (labels.labels[i].origin != pate::Origin::none)
      text += fmt::format("{},{}\n", queries.empty() ? i : queries[i],
                          maybe_label(classes, labels.labels[i].value));
  return text;
}

std::vector<Option> labelling_options() {
  const std::string group = "Aggregation";
  std::vector<Option> options = {
      {.name = "aggregator",
       .type = Type::choice,
       .value = "A",
       .help = "how votes become a label: lnmax (Laplace noise), gnmax (Gaussian noise), "
               "confident_gnmax (only where many agree), interactive (only where the student errs)",
       .fallback = "gnmax",
       .choices = {"lnmax", "gnmax", "confident_gnmax", "interactive"},
       .group = group},
      {.name = "sigma",
       .type = Type::number,
       .value = "S",
       .help =
           "noise on each count, in votes: standard deviation, or scale of lnmax; default: what "
           "--epsilon allows",
       .range = Range::above(0),
       .group = group},
      {.name = "threshold",
       .type = Type::number,
       .value = "T",
       .help = "answer where the largest count with noise is at least T votes; default: 0.8 of the "
               "teachers",
       .group = group},
      {.name = "sigma-threshold",
       .type = Type::number,
       .value = "S",
       .help = "noise of the threshold, in votes; default: 3.75 times --sigma",
       .range = Range::above(0),
       .group = group},
      {.name = "answers",
       .type = Type::whole,
       .value = "N",
       .help = "stop after so many answers, of aggregators with a threshold; default: all queries",
       .range = Range::from(1),
       .group = group},
      {.name = "data-dependent",
       .type = Type::choice,
       .value = "HOW",
       .help =
           "sanitised: also release what these votes cost, with noise, which is paid for; none: "
           "only the guarantee",
       .fallback = "sanitised",
       .choices = {"sanitised", "none"},
       .group = "Privacy"},
      {.name = "conversion",
       .type = Type::choice,
       .value = "C",
       .help = "from Rényi divergence to the sanitised epsilon: cks20, or that of the paper",
       .fallback = "cks20",
       .choices = {"cks20", "paper"},
       .group = "Privacy"},
      {.name = "confidence",
       .type = Type::number,
       .value = "P",
       .help = "of epsilon_upper",
       .fallback = "0.95",
       .range = Range::inside(.5, 1),
       .group = "Privacy"},
      {.name = "agreement",
       .type = Type::number,
       .value = "P",
       .help = "the share of agreeing teachers that the sanitised epsilon is designed for; a guess "
               "made before data is seen",
       .fallback = "0.9",
       .range = {.lower = 0, .upper = 1, .open_lower = true},
       .group = "Privacy"}};
  for (Option& option : budget_options())
    if (option.name != "rho") options.push_back(std::move(option));
  for (Option& option : options)
    if (option.name == "epsilon")
      option.help = "budget that the noise is made for, whatever the votes are; instead of --sigma";
  options.push_back(dry_run_option());
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return options;
}

Command pate_command() {
  return {
      .name = "pate",
      .summary = "label public records by the noisy vote of teachers",
      .description =
          "Teachers learn from disjoint parts of the private records, without noise. They vote "
          "on public records; a vote with noise is released, and a student learns from the "
          "released labels only. One record is in one teacher's part and moves one vote.",
      .examples = {{"Teachers, labels and student in one go",
                    "sotto pate run --data people.csv --schema people.toml --target city "
                    "--teachers 50 --public strangers.csv --queries 100 --sigma 10 --delta 1e-5 "
                    "--out student"},
                   {"Labels from votes that another program has counted",
                    "sotto pate label --votes votes.npy --sigma 10 --delta 1e-5 --out "
                    "labels.csv"}},
      .commands = {pate_run_command(), pate_train_command(), pate_label_command(),
                   pate_student_command()}};
}

}  // namespace sotto::cli
