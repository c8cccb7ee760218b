// sotto pate run: teachers, labels and student in one paid release.
#include <fmt/format.h>

#include <chrono>

#include "options/model_options.hpp"
#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "pate.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/student.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LabelsAndStudent {
  PateResult labelled;
  std::optional<TrainedModel> student;
};

// Teachers in memory: gone when the votes are counted.
pate::Votes votes_of_teachers(const Arguments& arguments, Context& context,
                              const Teaching& teaching, const Pool& pool,
                              const std::vector<std::size_t>& queries, Rng& rng) {
  const Table records = private_records(arguments, teaching.facts);
  pate::Teachers teachers(teaching.teachers);
  pate::TeacherControl control;
  control.progress = context.progress("teachers (pace NOT PRIVATE)", teaching.teachers);
  control.keep = [&](std::size_t i, std::optional<TrainedModel> model) {
    if (model) teachers[i] = std::move(*model).value();
  };
  pate::train_teachers(*teaching.family, teaching.facts, teaching.request, records,
                       teaching.teachers, pate::fresh_key(rng), rng, control);
  const std::size_t classes = teaching.facts.classes().size();
  return pate::count_votes(teachers, *pool.records, queries, classes,
                           teacher_smoothing(arguments, pool, classes));
}

void run_pate(const Arguments& arguments, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  if (arguments.text("aggregator") == "interactive")
    throw Unsupported("interactive asks a student of labels that were released before",
                      "sotto pate label --student DIR, after a first run");
  const bool dry = arguments.flag("dry-run");
  if (!dry && !arguments.given("out"))
    throw InvalidArgument("sotto pate run needs --out DIR, the place of the student",
                          "or --dry-run to see the cost only");
  if (!dry) check_artifact_place(arguments.text("out"));
  Teaching teaching = teaching_of(arguments);
  const Family& family = *teaching.family;
  const Pool pool = read_pool(arguments, teaching.facts);
  teaching.request.spreads = public_spreads(arguments, family, pool);
  const std::vector<std::size_t> queries = chosen_queries(arguments, *pool.records);
  const PateFacts facts{.teachers = teaching.teachers,
                        .queries = queries.size(),
                        .classes = teaching.facts.classes().size(),
                        .relation = teaching.facts.relation,
                        .unit = std::string(name(teaching.facts.unit))};
  const PatePlan plan = plan_labels(arguments, facts);
  const double epsilon = independent_epsilon(plan);
  std::optional<LabelPlaces> places;
  if (!dry && arguments.given("labels")) places.emplace(arguments.text("labels"));
  std::string key;

  PaidWork<LabelsAndStudent> work;
  work.spec = Spec{facts.relation, {plan.event()}};
  work.unit = facts.unit;
  work.what = fmt::format("labels of {} public records by {} teachers, and a student of them",
                          facts.queries, facts.teachers);
  work.json = planned_json(plan, epsilon);
  work.json["model"] = teaching.request.kind;
  work.show = [&](const Json& quoted) {
    if (arguments.flag("json")) {
      Json json = quoted;
      json["event"] = to_json(plan.event());
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n");
      print_result(plan, quoted, context);
    }
  };
  work.prepare = [&](Rng&, const Payment*) {
    key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
    return Ready{};
  };
  work.run = [&](Rng& rng) {
    LabelsAndStudent result{
        .labelled =
            label(plan, votes_of_teachers(arguments, context, teaching, pool, queries, rng), rng),
        .student = {}};
    // Without a label there is nothing to learn from, and no student.
    if (has_labels(result.labelled.labels))
      result.student = Release<std::unique_ptr<Model>>(
          pate::train_student(family, pool.facts, teaching.request, *pool.records, queries,
                              result.labelled.labels, pool.graph.get(), rng,
                              student_options_of(arguments)),
          plan);
    return result;
  };
  const auto csv = [&](const LabelsAndStudent& result) {
    return labels_csv(result.labelled.labels, queries, teaching.facts.classes());
  };
  work.settle = [&](LabelsAndStudent& result) {
    std::string digest = result_digest(digests_of({{"labels", csv(result)}}));
    if (result.student)
      digest += "+" + result_digest(digests_of(artifact_files(*result.student, pool.facts)));
    return digest;
  };
  work.announced = announced_statement(plan);
  work.said = [&](const LabelsAndStudent& result) {
    return statement_about(plan, result.labelled, epsilon);
  };
  work.publish = [&](LabelsAndStudent&& result, Json&& json, Rng& rng, const Payment* payment) {
    Certificate c = label_certificate(plan, facts, arguments, rng, payment);
    c.fingerprint = payment->fingerprint();
    if (places) {
      Certificate of_labels = c;
      of_labels.files = digests_of({{places->name(), csv(result)}});
      write_labels(*places, csv(result), of_labels, key);
    }
    if (result.student) {
      Certificate of_student = c;
      of_student.family = family.name;
      of_student.description = "student of released labels: " + c.description;
      write_artifact(arguments.text("out"), *result.student, pool.facts, of_student, key);
    }
    add_result(json, result.labelled, epsilon);
    if (arguments.given("insecure-seed")) json["warning"] = kInsecure;
    if (arguments.flag("json")) {
      json["out"] = result.student ? Json(arguments.text("out")) : Json(nullptr);
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("{} of {} queries answered, {}\n", result.labelled.labels.answered,
                        facts.queries,
                        result.student ? "student in " + arguments.text("out")
                                       : std::string("no label, so no student"));
      print_result(plan, json, context);
      if (arguments.given("insecure-seed")) context.out.print("  {}\n", kInsecure);
    }
    context.note_time(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

Command pate_run_command() {
  std::vector<Option> options = training_data_options();
  for (Option& option : options) option.required = option.name == "data" || option.name == "schema";
  options.push_back({.name = "teachers",
                     .type = Type::whole,
                     .value = "N",
                     .help = "how many, each with a part of the records of its own",
                     .fallback = "250",
                     .range = Range::between(1, 1'000'000)});
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for the student, its encoder and certificate"});
  options.push_back({.name = "labels",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "also keep the released labels, as CSV"});
  for (Option& option : pool_options(true)) options.push_back(std::move(option));
  options.push_back(standardise_option());
  for (Option& option : student_options()) options.push_back(std::move(option));
  options.push_back(sign_option());
  for (Option& option : payment_options()) options.push_back(std::move(option));
  for (Option& option : labelling_options()) options.push_back(std::move(option));
  Command command = {
      .name = "run",
      .summary = "teachers, labels and student in one go",
      .description =
          "Trains teachers on disjoint parts of the private records, releases their noisy votes on "
          "public records and trains a student on these labels. Teachers stay in memory and are "
          "gone at the end; the student may be published.",
      .examples = {{"From private and public records to a student",
                    "sotto pate run --data people.csv --schema people.toml --target city "
                    "--teachers 50 --public strangers.csv --queries 100 --sigma 10 --delta 1e-5 "
                    "--out graduate"},
                   {"What would it cost?",
                    "sotto pate run --data people.csv --schema people.toml --target city "
                    "--teachers 50 --public strangers.csv --queries 100 --epsilon 2 --delta 1e-5 "
                    "--dry-run"}},
      .options = std::move(options),
      .run = run_pate,
      .usage =
          "--data FILE --schema FILE --public FILE --queries N (--sigma S | --epsilon E) "
          "--delta D --out DIR [options]"};
  add_kinds(command);
  return command;
}

}  // namespace sotto::cli
