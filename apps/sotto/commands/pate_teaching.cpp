// What the commands of `sotto pate` make of their options: teachers, public records, places.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "options/model_options.hpp"
#include "paid/ritual.hpp"
#include "pate.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/error.hpp"
#include "sotto/features/medoids.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/student.hpp"
#include "sweep.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

constexpr const char* kNoNoise = "none";

bool teaches(const Family& family, const Kind& kind) {
  return family.host == "sotto" && family.plan != nullptr &&
         find_method(family, kNoNoise) != nullptr &&
         std::find(kind.tasks.begin(), kind.tasks.end(), Task::classify) != kind.tasks.end();
}

std::vector<Option> noiseless_options(const Family& family, const Kind& kind) {
  const std::vector<std::string>& known = find_method(family, kNoNoise)->options;
  std::vector<Option> options;
  for (Option& option : options_of(family, kind.name))
    if (std::find(known.begin(), known.end(), option.name) != known.end())
      options.push_back(std::move(option));
  return options;
}

// The facts about public records: read like the private ones, but nobody's.
Facts public_facts(const Facts& facts) {
  Schema schema = facts.encoder->schema();
  schema.rows.reset();
  schema.relation = Relation::add_remove;
  schema.unit = Unit::record;
  schema.max_contributions = 1;
  for (ColumnSchema& column : schema.columns)
    if (column.role == Role::user) column.role = Role::ignore, column.type = ColumnType::ignore;
  return table_facts(std::move(schema));
}

}  // namespace

void add_kinds(Command& command) {
  Option model{.name = "model",
               .type = Type::choice,
               .value = "KIND",
               .help = "what is fitted, without noise",
               .fallback = "logistic"};
  for (const Family& family : families())
    for (const Kind& kind : family.kinds) {
      if (!teaches(family, kind)) continue;
      model.choices.push_back(kind.name);
      Variant variant{.value = kind.name, .title = family.title, .help = kind.help};
      for (Option& option : noiseless_options(family, kind)) {
        Option typed = as_typed(std::move(option));
        typed.group = family.title;
        if (find_option(command, typed.name) == nullptr)
          variant.options.push_back(std::move(typed));
      }
      command.variants.push_back(std::move(variant));
    }
  command.options.insert(command.options.begin(), std::move(model));
  command.selector = "model";
}

TrainingRequest noiseless_request(const Arguments& arguments, const Family& family) {
  TrainingRequest request;
  request.kind = arguments.text("model");
  request.method = kNoNoise;
  request.options = OptionValues(options_of(family, request.kind), [&] {
    OptionValues::Raw raw;
    const auto known = noiseless_options(family, *find_kind(family, request.kind));
    const OptionValues given = arguments.values_of(known);
    for (const Option& option : known)
      if (given.given(option.name)) raw[option.name] = {given.text(option.name)};
    return raw;
  }());
  return request;
}

Teaching teaching_of(const Arguments& arguments) {
  Teaching teaching;
  teaching.family = &family_named(arguments);
  teaching.request = noiseless_request(arguments, *teaching.family);
  teaching.facts = facts_for(*teaching.family, schema_of(arguments), teaching.request);
  teaching.teachers = arguments.whole("teachers");
  check_target(teaching.facts, Task::classify, "teachers that vote", "a class");
  pate::check_partition(teaching.facts);
  check_not_drafted(teaching.facts);
  return teaching;
}

void check_not_drafted(const Facts& facts) {
  if (facts.encoder && facts.encoder->schema().drafted)
    throw Unsupported(
        "certificates of labels do not add up the cost of a schema that was estimated "
        "from the data",
        "declare its facts from public knowledge");
}

Table private_records(const Arguments& arguments, const Facts& facts) {
  TableOptions options = table_options(arguments, facts.encoder->schema());
  if (facts.unit == Unit::user) options.id = facts.encoder->schema().user()->name;
  return load_table(arguments.text("data"), *facts.encoder, options);
}

std::vector<Option> pool_options(bool with_queries) {
  const std::string group = "Public records";
  std::vector<Option> options = {
      {.name = "public",
       .type = Type::file,
       .value = "FILE",
       .help = "records that need no protection, with the columns of the schema; a target is not "
               "read",
       .group = group},
      {.name = "neighbours",
       .type = Type::whole,
       .value = "K",
       .help = "join every public record to its K nearest and smooth over that graph; 0: no graph",
       .fallback = "0",
       .group = group}};
  if (!with_queries) return options;
  options.push_back({.name = "queries",
                     .type = Type::whole,
                     .value = "N",
                     .help = "how many public records the teachers are asked about",
                     .range = Range::from(1),
                     .group = group});
  options.push_back({.name = "choose",
                     .type = Type::choice,
                     .value = "HOW",
                     .help = "which of them: medoids of a clustering into so many groups, or the "
                             "first of the file",
                     .fallback = "medoids",
                     .choices = {"medoids", "first"},
                     .group = group});
  options.push_back({.name = "teacher-smoothing",
                     .type = Type::whole,
                     .value = "STEPS",
                     .help = "smooth what each teacher thinks over the graph before it votes",
                     .fallback = "9",
                     .group = group});
  return options;
}

Option standardise_option() {
  return {.name = "standardise",
          .type = Type::flag,
          .help =
              "linear kinds: the ridge is on weights of columns in standard deviations, as the "
              "public records have them",
          .group = "Public records"};
}

std::vector<double> public_spreads(const Arguments& arguments, const Family& family,
                                   const Pool& pool) {
  if (!arguments.flag("standardise")) return {};
  if (!family.takes_spreads)
    throw Unsupported(fmt::format("{} cannot be fitted to standardised columns", family.title),
                      "choose a linear model, or leave the columns as they are");
  return pate::spreads_of(*pool.records);
}

std::vector<Option> student_options() {
  return {{.name = "student-smoothing",
           .type = Type::whole,
           .value = "STEPS",
           .help = "carry labels on to the other public records by so many steps over the graph",
           .fallback = "6",
           .group = "Public records"},
          {.name = "opinions",
           .type = Type::choice,
           .value = "WHOSE",
           .help = "what is carried on: opinions of a first student, or scores of least squares "
                   "(ridge), which also settle what comes of it and forgive single wrong labels",
           .fallback = "student",
           .choices = {"student", "ridge"},
           .group = "Public records"}};
}

pate::StudentOptions student_options_of(const Arguments& arguments) {
  return {.steps = arguments.whole("student-smoothing"),
          .opinions = arguments.text("opinions") == "ridge" ? pate::Opinions::ridge
                                                            : pate::Opinions::student};
}

Pool read_pool(const Arguments& arguments, const Facts& facts) {
  if (!arguments.given("public"))
    throw InvalidArgument(arguments.title() + " needs --public FILE, the records to be labelled");
  const std::string place = arguments.text("public");
  if (find_option(arguments.command(), "data") != nullptr && arguments.given("data") &&
      is_same_file(arguments.text("data"), place))
    throw InvalidArgument("--public and --data are the same file",
                          "public records need no protection: they cannot be the private ones");
  Pool pool{.facts = public_facts(facts), .records = {}, .graph = {}};
  TableOptions options = table_options(arguments, pool.facts.encoder->schema());
  options.targets = false;
  pool.records = std::make_unique<Table>(load_table(place, *pool.facts.encoder, options));
  if (pool.records->rows() == 0) throw DataError("there is no public record");
  if (find_option(arguments.command(), "neighbours") == nullptr) return pool;
  if (const std::uint64_t k = arguments.whole("neighbours"); k > 0)
    pool.graph = std::make_unique<features::NeighbourGraph>(pate::points_of(*pool.records), k);
  return pool;
}

std::vector<std::size_t> chosen_queries(const Arguments& arguments, const Table& pool) {
  if (!arguments.given("queries"))
    throw InvalidArgument(arguments.title() + " needs --queries N",
                          "how many public records the teachers are asked about");
  const std::uint64_t count = arguments.whole("queries");
  if (count > pool.rows())
    throw InvalidArgument(
        fmt::format("--queries {} but there are {} public records", count, pool.rows()));
  if (arguments.text("choose") == "medoids") return features::medoids(pate::points_of(pool), count);
  std::vector<std::size_t> first(count);
  std::iota(first.begin(), first.end(), std::size_t{0});
  return first;
}

pate::Smoothing teacher_smoothing(const Arguments& arguments, const Pool& pool,
                                  std::size_t classes) {
  const std::uint64_t steps = arguments.whole("teacher-smoothing");
  if (!pool.graph || steps == 0) return {};
  constexpr double kShare = .7;
  const features::NeighbourGraph* const graph = pool.graph.get();
  return [graph, classes, steps](std::vector<double>& opinions) {
    graph->smooth(opinions, classes, steps, kShare);
  };
}

LabelPlaces::LabelPlaces(const std::string& out) : labels(out) {
  std::filesystem::path stem(out);
  certificate = stem.replace_extension().string() + ".certificate.json";
  if (certificate == labels)
    throw InvalidArgument(fmt::format("'{}' is where the certificate goes", out),
                          "name the labels e.g. labels.csv");
  for (const std::string& place : {labels, certificate}) OutputFile{place};
}

std::string LabelPlaces::name() const { return std::filesystem::path(labels).filename().string(); }

Certificate label_certificate(const PatePlan& plan, const PateFacts& facts,
                              const Arguments& arguments, const Rng& rng, const Payment* payment) {
  Certificate c = certify(plan.event(), facts.relation, plan.delta, rng);
  c.method = "pate";
  c.unit = facts.unit;
  c.description = plan.describe();
  c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
  c.assumptions = {
      fmt::format("one {} belongs to one teacher's part: it moves one vote of each query",
                  facts.unit),
      "the records that are labelled, and which of them, are public"};
  if (const pate::LabelOptions& o = plan.labels.options(); o.as_bits)
    c.assumptions.push_back(fmt::format(
        "tcdp of an answer is the largest divergence of that bit for any votes of {} teachers for "
        "two classes, each count with discrete Gaussian noise of sigma {} votes, one vote moved; "
        "omega is for {} answers",
        o.teachers, o.sigma, o.answers));
  if (!facts.student.empty())
    c.assumptions.push_back(
        "the last events are those of the student that was asked: its answers are among the "
        "labels");
  c.ledger = payment->reference();
  return c;
}

void write_labels(const LabelPlaces& places, const std::string& csv, const Certificate& certificate,
                  const std::string& key) {
  write_file(places.labels, csv);
  if (!key.empty())
    write_file(places.certificate + ".sig",
               certificate_signature(to_json(certificate).dump(2) + "\n", key));
  write_certificate(places.certificate, certificate);
}

}  // namespace sotto::cli
