// sotto synthesize: new records that resemble the data, drawn from a private generator.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/generator.hpp"
#include "sotto/report/fidelity_page.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostRows = 100'000'000;

// The first of the list that draws records.
const Family& generating_family() {
  for (const Family& family : families())
    for (const Kind& kind : family.kinds)
      if (kind.tasks.front() == Task::generate) return family;
  throw NotBuilt("no family of this build draws records");
}

// Where the three files are.
struct Places {
  std::string records, certificate, page;

  explicit Places(const Arguments& arguments) {
    if (!arguments.given("out"))
      throw InvalidArgument(
          arguments.title() + " needs --out FILE, the place of the records",
          find_option(arguments.command(), "output") != nullptr && arguments.given("output")
              ? "-o is for what is printed about them"
              : "or --dry-run to see the cost only");
    records = arguments.text("out");
    std::filesystem::path stem(records);
    stem.replace_extension();
    certificate = stem.string() + ".certificate.json";
    page = stem.string() + ".html";
    if (records == page || records == certificate)
      throw InvalidArgument(fmt::format("--out '{}' is where another file goes", records),
                            "name the records e.g. synthetic.csv");
    // Before anything is read or paid for: can they be written at all?
    for (const std::string& place : {records, certificate, page}) OutputFile{place};
  }
  // As far as public facts tell: 16 bytes for a cell.
  void check_room(std::uint64_t rows, std::size_t columns) const {
    OutputFile{records, Readers::as_usual, OutputFile::kRoom + 16 * rows * columns};
  }
  std::string name(const std::string& path) const {
    return std::filesystem::path(path).filename().string();
  }
};

// What was drawn, as text.
struct SyntheticRecords {
  std::string csv;
  Drawn drawn;
};

SyntheticRecords draw_records(const Model& model, std::uint64_t rows, Rng& rng) {
  const auto* const generator = dynamic_cast<const Generator*>(&model);
  if (generator == nullptr)
    throw Unsupported("this model draws no records",
                      "sotto synthesize --keep DIR makes one that "
                      "does");
  SyntheticRecords records;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      records.csv += (i > 0 ? "," : "") + csv_field(cells[i]);
    records.csv += '\n';
  };
  line(generator->header());
  records.drawn = generator->draw(rows, rng, line);
  return records;
}

// Everything that leaves the process.
struct SynthesisResult {
  std::optional<TrainedModel> trained;  // none: drawn from a generator that was there
  std::string csv, page;
  double worst = 0;  // difference of a measured pair
};

SynthesisResult written_up(SyntheticRecords&& records, const std::string& title,
                           const std::string& guarantee, const std::string& warning) {
  SynthesisResult result;
  for (const FidelityLine& line : records.drawn.fidelity)
    result.worst = std::max(result.worst, line.difference);
  result.page = fidelity_html({.title = title,
                               .guarantee = guarantee,
                               .warning = warning,
                               .drawn = std::move(records.drawn)});
  result.csv = std::move(records.csv);
  return result;
}

std::map<std::string, std::string> digests(const Places& places, const SynthesisResult& result) {
  return digests_of(
      {{places.name(places.records), result.csv}, {places.name(places.page), result.page}});
}

void publish(const Places& places, const SynthesisResult& result, Certificate certificate,
             const std::string& key) {
  certificate.files = digests(places, result);
  write_file(places.page, result.page);
  write_file(places.records, result.csv);
  if (!key.empty())
    write_file(places.certificate + ".sig",
               certificate_signature(to_json(certificate).dump(2) + "\n", key));
  write_certificate(places.certificate, certificate);
}

void check_rows(std::uint64_t rows) {
  if (rows > kMostRows)
    throw InvalidArgument(
        fmt::format("{} records are too many at once; at most {}", rows, kMostRows),
        "--keep DIR keeps the generator: more can be drawn later");
}

// From a generator that was paid for before.
void draw_again(const Arguments& arguments, Context& context) {
  if (arguments.given("data") || arguments.given("keep") || has_budget(arguments))
    throw InvalidArgument("--model draws from a generator that is paid for already",
                          "leave out --data, --keep and the budget");
  const Places places(arguments);
  const std::string key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
  const std::string directory = arguments.text("model");
  const Artifact artifact = read_artifact(directory, families());
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  const std::uint64_t rows =
      arguments.given("rows") ? arguments.whole("rows") : artifact.facts.rows.value_or(1000);
  check_rows(rows);
  Certificate c = artifact.certificate;
  const std::string guarantee =
      c.is_private()
          ? fmt::format("epsilon = {}, delta = {} ({}, unit: one {})", round_up(c.epsilon),
                        round_up(c.delta), name(c.spec->relation), c.unit)
          : "NOT PRIVATE: no noise, no guarantee";
  const SynthesisResult result =
      written_up(draw_records(*artifact.model, rows, rng),
                 "Synthetic records in " + places.name(places.records), guarantee,
                 c.is_private() && c.secure() ? "" : "NOT PRIVATE");
  c.description = "records drawn from a generator: " + c.description;
  c.ledger.reset();  // the entry paid for the generator, and says so there
  publish(places, result, c, key);
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"rows", rows},
                                   {"out", places.records},
                                   {"certificate", places.certificate},
                                   {"page", places.page}}
                                  .dump());
  } else {
    context.out.print("{} records in {}, at no further cost\n", rows, context.bold(places.records));
  }
}

void run_synthesize(const Arguments& arguments, Context& context) {
  if (arguments.given("model")) return draw_again(arguments, context);
  const auto start = std::chrono::steady_clock::now();
  if (!arguments.given("data"))
    throw InvalidArgument("sotto synthesize needs --data FILE, or --model DIR to draw again");
  if (arguments.given("rho") && !arguments.given("delta"))
    throw InvalidArgument(
        "sotto synthesize needs --delta with --rho, to state the certificate's "
        "epsilon",
        "e.g. --delta 1e-6");
  const bool dry = arguments.flag("dry-run");
  const std::optional<Places> places = dry ? std::nullopt : std::optional<Places>(arguments);
  if (!dry && arguments.given("keep")) check_artifact_place(arguments.text("keep"));

  const Family& family = generating_family();
  TrainingRequest request;
  request.kind = family.kinds.front().name;
  request.method = arguments.text("method");
  request.delta = arguments.maybe_number("delta");
  request.options = arguments.values_of(options_of(family, request.kind));
  if (has_budget(arguments)) request.budget = budget_of(arguments);
  const Facts facts = facts_for(family, schema_of(arguments), request);
  const std::unique_ptr<TrainingPlan> plan = plan_training(family, facts, request);
  if (facts.rows) check_delta(arguments, *facts.rows, "declared rows", context);
  if (!arguments.given("rows") && !facts.rows)
    throw InvalidArgument("sotto synthesize needs --rows N where the schema declares no rows");
  const std::uint64_t rows = arguments.given("rows") ? arguments.whole("rows") : *facts.rows;
  check_rows(rows);
  const Cost cost = plan->event() ? cost_of(*plan->event(), plan->relation(), arguments) : Cost{};
  const std::string guarantee = promise(plan->event(), facts, cost);
  const std::string alarm = !plan->event()                     ? "NOT PRIVATE"
                            : arguments.given("insecure-seed") ? kInsecure
                                                               : "";
  std::string key;

  PaidWork<SynthesisResult> work;
  if (plan->event()) work.spec = Spec{plan->relation(), {*plan->event()}};
  work.unit = name(facts.unit);
  work.what = fmt::format("synthetic records of {} columns",
                          plan->explain().figures.value("columns", std::size_t{0}));
  work.json = {{"schema", 1}, {"epsilon", nullptr}, {"delta", nullptr}};
  if (cost.epsilon) work.json["epsilon"] = *cost.epsilon;
  if (cost.delta) work.json["delta"] = *cost.delta;
  work.json["method"] = plan->explain().method;
  work.json["relation"] = name(plan->relation());
  work.json["rows"] = rows;
  work.json.update(plan->explain().figures);
  if (!plan->event()) work.json["warning"] = "NOT PRIVATE";
  work.show = [&](const Json& quoted) {
    if (arguments.flag("json")) {
      Json json = quoted;
      if (plan->event()) json["event"] = to_json(*plan->event());
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n", guarantee,
                        plan->explain().words);
    }
  };
  work.prepare = [&](Rng&, const Payment*) {
    places->check_room(rows, facts.encoder->schema().columns.size());
    key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
    return Ready{};
  };
  work.run = [&](Rng& rng) {
    const std::unique_ptr<Source> source = source_of(arguments, facts);
    TrainedModel trained = plan->run(*source, rng);
    SyntheticRecords records = draw_records(*trained.value(), rows, rng);
    SynthesisResult result =
        written_up(std::move(records), "Synthetic records in " + places->name(places->records),
                   guarantee, alarm);
    result.trained = std::move(trained);
    return result;
  };
  // The records and the generator are one result of one release: the entry pays for both.
  work.settle = [&](SynthesisResult& result) {
    const std::string generator = result_digest(digests_of(artifact_files(*result.trained, facts)));
    return result_digest(digests(*places, result)) +
           (arguments.given("keep") ? "+" + generator : "");
  };
  work.publish = [&](SynthesisResult&& result, Json&& json, Rng& rng, const Payment* payment) {
    const double delta = arguments.maybe_number("delta").value_or(0);
    Certificate c = certify_training(family, facts, *plan, *result.trained, delta, rng);
    c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
    c.ledger = payment->reference();
    c.fingerprint = payment->fingerprint();
    if (arguments.given("keep"))
      write_artifact(arguments.text("keep"), *result.trained, facts, c, key);
    sotto::cli::publish(*places, result, c, key);
    if (arguments.flag("json")) {
      json["out"] = places->records;
      json["certificate"] = places->certificate;
      json["page"] = places->page;
      if (arguments.given("keep")) json["generator"] = arguments.text("keep");
      json["largest_difference"] = result.worst;
      if (!alarm.empty()) json["warning"] = alarm;
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
      return;
    }
    context.out.print(
        "{} synthetic records in {}\n  guarantee  {}\n  plan       {}\n  fidelity   {}\n", rows,
        context.bold(places->records), guarantee, plan->explain().words, places->page);
    if (!alarm.empty()) context.out.print("  {}\n", alarm);
    context.note_time(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    context.note("next: sotto train --data " + places->records + " --schema " +
                 arguments.text("schema"));
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

Command synthesize_command() {
  std::vector<Option> options = training_data_options();
  for (Option& option : options) {
    option.required = false;
    if (option.name == "target") option.help = "the column that pairs are measured with first";
  }
  const Family& family = generating_family();
  Option method{.name = "method",
                .type = Type::choice,
                .value = "M",
                .help = "the route to privacy",
                .fallback = family.methods.front().name};
  for (const Method& m : family.methods) method.choices.push_back(m.name);
  options.push_back(method);
  for (Option option : options_of(family, family.kinds.front().name))
    options.push_back(as_typed(std::move(option)));
  options.push_back({.name = "rows",
                     .type = Type::whole,
                     .value = "N",
                     .help = "how many records to draw; default: as many as the schema declares",
                     .range = Range::from(1)});
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "CSV file for the records; beside it go NAME.certificate.json and "
                             "NAME.html, the fidelity page"});
  options.push_back({.name = "keep",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "also keep the generator, from which more records can be drawn"});
  options.push_back({.name = "model",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "draw from a generator that was kept, at no cost, instead of --data"});
  for (Option& option : certified_run_options()) options.push_back(std::move(option));
  return {.name = "synthesize",
          .summary = "draw synthetic records that resemble the data",
          .description =
              "Counts every column and the pairs of columns that depend on each other most, with "
              "noise, and draws records from the distribution that fits these counts. Bounds and "
              "categories are declared in the schema; numbers are drawn inside bins of it. The "
              "records, a certificate and a page that compares them with the released counts may "
              "be published; whatever is done with them costs nothing more.",
          .examples = {{"As many records as the schema declares, with epsilon 1",
                        "sotto synthesize --data people.csv --schema people.toml --epsilon 1 "
                        "--delta 1e-6 --out synthetic.csv"},
                       {"Keep the generator, and draw more records later",
                        "sotto synthesize --data people.csv --schema people.toml --rows 100 "
                        "--epsilon 1 --delta 1e-6 --keep generator --out first.csv && sotto "
                        "synthesize --model generator --rows 1000 --out more.csv"},
                       {"What would it cost?",
                        "sotto synthesize --data people.csv --schema people.toml --epsilon 1 "
                        "--delta 1e-6 --dry-run"}},
          .options = std::move(options),
          .run = run_synthesize,
          .usage =
              "--data FILE --schema FILE (--epsilon E [--delta D] | --rho R --delta D) --out FILE "
              "[options]"};
}

}  // namespace sotto::cli
