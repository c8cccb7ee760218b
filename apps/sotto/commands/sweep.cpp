// sotto sweep: the privacy–utility curve. For public or synthetic data; or, with --private, a release that costs all its runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "../charge.hpp"
#include "../output_file.hpp"
#include "model_options.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/models/evaluation.hpp"
#include "sotto/models/linear/training.hpp"
#include "sotto/report/utility_curve.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPublicOnly = "FOR PUBLIC OR SYNTHETIC DATA ONLY";

std::vector<double> epsilons_of(const Arguments& arguments) {
  std::vector<double> result;
  for (const std::string& text : arguments.list("epsilons")) {
    double value = 0;
    std::size_t used = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != text.size() || !(value > 0) || value > 1e6)
      throw InvalidArgument(
          fmt::format("--epsilons holds '{}'; each must be a number above 0", text),
          "for example --epsilons 0.1,0.3,1,3,10");
    result.push_back(value);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// Training and test rows under one encoding. Methods may encode differently, so there can be several.
struct Rows {
  Schema schema;  // as asked for, before the split
  std::unique_ptr<Encoder> encoder, test_encoder;
  std::unique_ptr<Table> train, test;
};

// Every row is a test row with this probability, by a fixed rule: the data is public.
void split(Rows& rows, const Table& all, double fraction) {
  Rng rng = Rng::insecure_seed(1);
  std::vector<bool> held(all.rows());
  for (std::size_t i = 0; i < held.size(); ++i)
    held[i] = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53 < fraction;
  const auto kept = static_cast<std::uint64_t>(std::count(held.begin(), held.end(), false));
  if (kept == 0 || kept == held.size())
    throw DataError("too few rows to split into training and test rows", "give --test FILE");
  Schema schema = rows.schema;
  schema.rows = kept;
  rows.encoder = std::make_unique<Encoder>(schema);
  rows.train = std::make_unique<Table>(*rows.encoder);
  rows.test = std::make_unique<Table>(*rows.encoder);
  for (std::size_t i = 0; i < held.size(); ++i)
    (held[i] ? *rows.test : *rows.train).append(all, i, 1);
}

class Data {
 public:
  explicit Data(const Arguments& arguments)
      : arguments_(arguments), schema_(schema_of(arguments)) {}

  const Rows& of(const TrainingRequest& request) {
    Schema wanted = with_basis(schema_, request.kind, request.method, request.budget);
    for (const auto& rows : loaded_) {
      if (rows->schema == wanted) return *rows;
    }
    auto rows = std::make_unique<Rows>();
    rows->schema = wanted;
    TableOptions options = table_options(arguments_, wanted);
    const std::string file = arguments_.text("data");
    if (arguments_.given("test")) {
      rows->encoder = std::make_unique<Encoder>(wanted);
      rows->test_encoder = std::make_unique<Encoder>(for_other_data(*rows->encoder));
      rows->train = std::make_unique<Table>(load_table(file, *rows->encoder, options));
      rows->test = std::make_unique<Table>(
          load_table(arguments_.text("test"), *rows->test_encoder, options));
    } else {
      const Encoder all = for_other_data(Encoder(wanted));
      split(*rows, load_table(file, all, options), arguments_.number("test-fraction"));
    }
    loaded_.push_back(std::move(rows));
    return *loaded_.back();
  }
  const Schema& schema() const { return schema_; }

 private:
  const Arguments& arguments_;
  Schema schema_;
  std::vector<std::unique_ptr<Rows>> loaded_;
};

double quality(const LinearModel& model, const Table& test) {
  const Evaluation e = evaluate(model, test);
  return e.is_classification ? e.classification.accuracy : e.regression.r2;
}

struct Sweep {
  LinearKind kind;
  std::vector<Method> methods;
  std::vector<double> epsilons;
  std::uint64_t repeats;
  std::optional<double> delta;

  TrainingRequest request(Method method, double epsilon) const {
    return {.kind = kind,
            .method = method,
            .budget = delta ? Budget::approximate(epsilon, *delta) : Budget::pure(epsilon)};
  }
  TrainingRequest baseline() const { return {.kind = kind, .method = Method::none}; }
};

Sweep sweep_of(const Arguments& arguments) {
  Sweep sweep{.kind = parse_linear_kind(arguments.text("model")),
              .methods = {},
              .epsilons = epsilons_of(arguments),
              .repeats = arguments.whole("repeats"),
              .delta = arguments.maybe_number("delta")};
  for (const std::string& name : arguments.list("methods")) {
    sweep.methods.push_back(parse_method(name));
    if (sweep.methods.back() == Method::none)
      throw InvalidArgument("--methods holds 'none', which has no epsilon",
                            "the line without privacy is drawn anyway, unless --private");
  }
  return sweep;
}

// What all runs together release about whoever is in the training data.
Spec all_runs(const Sweep& sweep, const Schema& schema) {
  std::vector<Event> events;
  for (const Method method : sweep.methods) {
    for (const double epsilon : sweep.epsilons) {
      const TrainingRequest request = sweep.request(method, epsilon);
      const Encoder encoder(with_basis(schema, request.kind, request.method, request.budget));
      events.push_back(repeat(*LinearTraining(encoder, request).event(), sweep.repeats));
    }
  }
  return {schema.relation, events};
}

struct TotalCost {
  double epsilon, delta;
};

// At the delta of one run where that can be, else at that of all runs together: deltas of their own add up.
TotalCost total_cost(const Spec& spec, double delta, std::uint64_t runs) {
  try {
    return {guarantee(spec, delta).upper, delta};
  } catch (const AccountingError&) {
    const double sum = delta * static_cast<double>(runs) * (1 + 1e-9);
    if (!(sum > delta && sum < 1)) throw;
    return {guarantee(spec, sum).upper, sum};
  }
}

UtilityReport measure(const Sweep& sweep, Data& data, bool with_baseline, Rng& rng,
                      Context& context) {
  UtilityReport report;
  report.delta = sweep.delta.value_or(0);
  Progress progress(
      context.progress("training", sweep.methods.size() * sweep.epsilons.size() * sweep.repeats));
  std::uint64_t done = 0;
  for (const Method method : sweep.methods) {
    UtilityCurve curve{.method = std::string(name(method)), .points = {}};
    for (const double epsilon : sweep.epsilons) {
      const TrainingRequest request = sweep.request(method, epsilon);
      const Rows& rows = data.of(request);
      const LinearTraining training(*rows.encoder, request);
      if (method == Method::automatic)
        curve.method = fmt::format("auto: {}", name(training.method()));
      UtilityPoint point{.epsilon = epsilon, .values = {}};
      for (std::uint64_t i = 0; i < sweep.repeats; ++i) {
        point.values.push_back(quality(training.run(*rows.train, rng).model, *rows.test));
        progress.advance(++done);
      }
      curve.points.push_back(std::move(point));
    }
    report.curves.push_back(std::move(curve));
  }
  if (with_baseline) {
    const Rows& rows = data.of(sweep.baseline());
    const LinearTraining training(*rows.encoder, sweep.baseline());
    report.non_private = quality(training.run(*rows.train, rng).model, *rows.test);
  }
  progress.finish();
  return report;
}

Json to_json(const UtilityReport& report) {
  Json curves = Json::array();
  for (const UtilityCurve& curve : report.curves) {
    Json points = Json::array();
    for (const UtilityPoint& p : curve.points)
      points.push_back({{"epsilon", p.epsilon},
                        {"mean", p.mean()},
                        {"lowest", p.lowest()},
                        {"highest", p.highest()},
                        {"values", p.values}});
    curves.push_back({{"method", curve.method}, {"points", std::move(points)}});
  }
  return curves;
}

void print_table(const UtilityReport& report, Context& context) {
  for (const UtilityCurve& curve : report.curves) {
    context.out.print("{}\n", context.bold(curve.method));
    for (const UtilityPoint& p : curve.points)
      context.out.print("  epsilon {:<8g} {} {:.4f} ({:.4f} to {:.4f})\n", p.epsilon, report.metric,
                        p.mean(), p.lowest(), p.highest());
  }
  if (report.non_private)
    context.out.print("without privacy    {} {:.4f}\n", report.metric, *report.non_private);
}

void run(const Arguments& arguments, Context& context) {
  const Sweep sweep = sweep_of(arguments);
  const bool is_private = arguments.flag("private");
  if (is_private && !arguments.given("test"))
    throw InvalidArgument(
        "--private needs --test FILE with public rows: measuring on private ones is a release too",
        "or leave out --private when the data is public or synthetic");
  Data data(arguments);
  if (is_private && data.schema().rows)
    check_delta(arguments, *data.schema().rows, "declared rows", context);
  // The split changes the declared rows, which are public here; the cost is stated for the schema as it stands.
  std::optional<Spec> spec;
  std::optional<TotalCost> all;
  const std::uint64_t runs = sweep.methods.size() * sweep.epsilons.size() * sweep.repeats;
  if (is_private || data.schema().rows) {
    spec = all_runs(sweep, data.schema());
    all = total_cost(*spec, sweep.delta.value_or(0), runs);
  }
  // Public data has no budget, whatever ledger the environment names.
  std::optional<Payment> payment;
  if (is_private) payment.emplace(arguments, spec, std::string(name(data.schema().unit)));
  for (const char* option : {"ledger", "dsn-file", "dataset", "part", "purpose", "key"}) {
    if (!is_private && arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is about a budget: it needs --private", option));
  }
  const std::string total =
      all ? fmt::format("{} runs together: epsilon = {}, delta = {} ({}, unit: one {})", runs,
                        round_up(all->epsilon), round_up(all->delta), name(data.schema().relation),
                        name(data.schema().unit))
          : fmt::format("{} runs; the schema declares no rows, so their cost is not known", runs);
  const std::string warning =
      is_private
          ? fmt::format("PRIVATE DATA: THIS SWEEP COSTS epsilon = {}", round_up(all->epsilon))
          : kPublicOnly;
  Json json = {{"schema", 1},
               {"private", is_private},
               {"warning", warning},
               {"runs", runs},
               {"epsilon_all_runs", all ? Json(all->epsilon) : Json(nullptr)},
               {"delta_all_runs", all ? Json(all->delta) : Json(nullptr)},
               {"delta", sweep.delta.value_or(0)},
               {"relation", name(data.schema().relation)}};
  if (arguments.flag("dry-run")) {
    json["dry_run"] = true;
    if (payment) payment->quote(context, json);
    arguments.flag("json")
        ? context.out.print("{}\n", json.dump())
        : context.out.print("not run, no data read\n  {}\n  would cost {}\n", warning, total);
    return;
  }
  if (!arguments.given("out"))
    throw InvalidArgument("sotto sweep needs --out DIR, the place of the curve");
  const std::filesystem::path place = arguments.text("out");
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error)
    throw StorageError(
        fmt::format("cannot make the directory '{}': {}", place.string(), error.message()));
  context.err.print("{}\n", warning);
  context.err.flush();

  std::optional<Rng> seeded = insecure_rng(arguments, context);
  if (payment) payment->reserve(context);
  const auto work = [&] {
    return measure(sweep, data, !is_private, seeded ? *seeded : context.rng(), context);
  };
  UtilityReport report = payment ? payment->guard(work) : work();
  if (payment) payment->commit(context);
  const ColumnSchema* target = data.schema().target();
  report.title =
      fmt::format("{} model of {}", arguments.text("model"), target ? target->name : "?");
  report.metric = sweep.kind == LinearKind::linear ? "r2" : "accuracy";
  report.warning = seeded ? warning + " · " + kInsecure : warning;
  report.facts = {
      {is_private ? "spent" : "if the data were private", total},
      {"measured on", arguments.given("test") ? "the rows of a separate test file, as they are"
                                              : "rows held out of the data, as they are"}};
  write_file(place / "sweep.csv", utility_csv(report));
  write_file(place / "sweep.svg", utility_svg(report));
  write_file(place / "sweep.html", utility_html(report));
  if (arguments.flag("json")) {
    json["metric"] = report.metric;
    json["curves"] = to_json(report);
    json["non_private"] = report.non_private ? Json(*report.non_private) : Json(nullptr);
    json["out"] = arguments.text("out");
    if (payment) payment->add_to(json);
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("{}\n", context.bold(report.warning));
  print_table(report, context);
  context.out.print("{}{}\nwrote sweep.csv, sweep.svg and sweep.html to {}\n",
                    is_private ? "spent: " : "if the data were private: ", total,
                    arguments.text("out"));
}

}  // namespace

Command sweep_command() {
  std::vector<Option> options = training_data_options();
  options.push_back({.name = "test",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "public rows to measure on; default: rows held out of the data",
                     .group = "Data"});
  options.push_back({.name = "test-fraction",
                     .type = Type::number,
                     .value = "F",
                     .help = "share of the rows that are held out",
                     .fallback = "0.25",
                     .range = Range::inside(0, 1),
                     .group = "Data"});
  options.push_back({.name = "model",
                     .type = Type::choice,
                     .value = "KIND",
                     .help = "what to fit: a class (logistic, svm) or a number (linear)",
                     .fallback = "logistic",
                     .choices = {"logistic", "svm", "linear"}});
  options.push_back({.name = "methods",
                     .type = Type::list,
                     .value = "A,B",
                     .help = "routes to privacy, one curve each",
                     .fallback = "auto"});
  options.push_back({.name = "epsilons",
                     .type = Type::list,
                     .value = "A,B,C",
                     .help = "the budgets to try",
                     .fallback = "0.1,0.3,1,3,10",
                     .group = "Privacy"});
  for (Option& option : budget_options()) {
    if (option.name == "delta") options.push_back(std::move(option));
  }
  options.push_back({.name = "repeats",
                     .type = Type::whole,
                     .value = "R",
                     .help = "runs at each epsilon, for the spread",
                     .fallback = "5",
                     .range = Range::between(1, 10000)});
  options.push_back({.name = "private",
                     .type = Type::flag,
                     .help = "the data is private: state what all runs cost together, draw no line "
                             "without privacy",
                     .group = "Privacy"});
  for (Option& option : payment_options()) options.push_back(std::move(option));
  options.push_back(dry_run_option());
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for sweep.csv, sweep.svg and sweep.html"});
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "sweep",
          .summary = "draw the privacy-utility curve, for public or synthetic data",
          .description =
              "Trains at each epsilon several times, measures each model, and draws the mean, the "
              "spread and the line without privacy. It is FOR PUBLIC OR SYNTHETIC DATA ONLY: "
              "choosing a budget or a method by such a curve on private data is a release of all "
              "its runs. With --private that cost is stated, measurement needs a public --test "
              "file, and the line without privacy is left out.",
          .examples =
              {{"The curve of two methods",
                "sotto sweep --data people.csv --schema people.toml --model linear "
                "--methods auto,gradient --epsilons 0.3,1,3 --delta 1e-5 --repeats 2 --out curve"},
               {"What would it cost on private data?",
                "sotto sweep --data people.csv --schema people.toml --model linear --delta "
                "1e-5 --private --test people.csv --dry-run"}},
          .options = std::move(options),
          .run = run,
          .usage = "--data FILE --schema FILE --epsilons A,B,C --out DIR [options]"};
}

}  // namespace sotto::cli
