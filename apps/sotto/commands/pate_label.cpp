// sotto pate label: the noisy vote on public records.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "options/reader_options.hpp"
#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "pate.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/teacher_store.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostVotes = std::size_t{1} << 28;

// How many queries, classes and teachers: no more than that is read of the file.
PateFacts facts_of_votes(const Arguments& arguments) {
  NpyReader reader(arguments.text("votes"), {.max_elements = kMostVotes});
  if (reader.shape().size() != 2 || reader.shape()[0] == 0 || reader.shape()[1] < 2)
    throw DataError("votes are a matrix: one row for each query, one column for each class");
  PateFacts facts{.queries = reader.shape()[0], .classes = reader.shape()[1]};
  if (arguments.given("relation")) facts.relation = parse_relation(arguments.text("relation"));
  if (arguments.given("queries") && arguments.whole("queries") != facts.queries)
    throw InvalidArgument(fmt::format("--queries {} but the votes have {} rows",
                                      arguments.whole("queries"), facts.queries));
  if (arguments.given("voters")) {
    facts.teachers = arguments.whole("voters");
    return facts;
  }
  std::vector<double> row(facts.classes);
  reader.read(row);
  double sum = 0;
  for (const double v : row) sum += v;
  if (!(sum >= 1 && sum <= 1e9) || sum != std::floor(sum))
    throw DataError("votes must be whole numbers from 0 on, and a row must have some");
  facts.teachers = static_cast<std::uint64_t>(sum);
  return facts;
}

pate::Votes read_votes(const Arguments& arguments) {
  std::optional<std::uint64_t> voters;
  if (arguments.given("voters")) voters = arguments.whole("voters");
  return pate::votes_of(read_npy(arguments.text("votes"), {.max_elements = kMostVotes}), voters);
}

// Where the votes come from, and what is known of them in public.
struct Ballot {
  PateFacts facts;
  std::vector<std::size_t> queries = {};  // rows of the pool; none: the votes are from elsewhere
  std::vector<std::string> classes = {};
  std::optional<std::vector<double>> student = {};  // what it says of the queries
  std::function<pate::Votes()> count;
};

Ballot from_elsewhere(const Arguments& arguments) {
  for (const char* option : {"teachers", "public", "student"})
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--votes and --{} are both given", option),
                            "votes from elsewhere need no teachers");
  if (arguments.text("aggregator") == "interactive")
    throw Unsupported("votes from elsewhere have no student to ask",
                      "--aggregator gnmax or confident_gnmax");
  Ballot ballot{.facts = facts_of_votes(arguments), .count = {}};
  ballot.count = [&arguments] { return read_votes(arguments); };
  return ballot;
}

// Labels that the student gives leave with those of the teachers: it has to be private itself, and
// what it cost is part of what the labels cost.
std::vector<Event> events_of_student(const Certificate& student, const PateFacts& facts) {
  if (!student.is_private())
    throw InvalidArgument("the student is NOT PRIVATE, and its answers would leave with the labels",
                          "--student takes what sotto pate student made of released labels");
  if (student.spec->relation != facts.relation || student.unit != facts.unit)
    throw InvalidArgument(
        fmt::format("the student's guarantee is for a {} under {}, that of the "
                    "teachers for a {} under {}",
                    student.unit, name(student.spec->relation), facts.unit, name(facts.relation)),
        "use a student of labels by teachers of the same data");
  if (student.draft)
    throw Unsupported(
        "the student's schema was estimated from the data, and certificates of labels do not add "
        "up the cost of that",
        "train the student with a schema from public knowledge");
  return student.spec->events;
}

Ballot from_teachers(const Arguments& arguments) {
  if (!arguments.given("teachers"))
    throw InvalidArgument("sotto pate label needs --teachers DIR, or --votes FILE.npy");
  auto store =
      std::make_shared<pate::TeacherStore>(pate::TeacherStore::read(arguments.text("teachers")));
  const pate::TeacherCatalogue& catalogue = store->catalogue();
  check_not_drafted(catalogue.facts);
  if (arguments.given("relation"))
    throw InvalidArgument("--relation is that of the teachers' schema", "leave it out");
  auto pool = std::make_shared<Pool>(read_pool(arguments, catalogue.facts));
  Ballot ballot{.facts = {.teachers = catalogue.teachers,
                          .relation = catalogue.facts.relation,
                          .unit = std::string(name(catalogue.facts.unit))},
                .count = {}};
  ballot.queries = chosen_queries(arguments, *pool->records);
  ballot.classes = catalogue.facts.classes();
  ballot.facts.queries = ballot.queries.size();
  ballot.facts.classes = ballot.classes.size();
  const bool asks = arguments.text("aggregator") == "interactive";
  if (asks != arguments.given("student"))
    throw InvalidArgument("interactive, and only it, asks a student", "--student DIR");
  if (asks) {
    const Artifact student = read_artifact(arguments.text("student"), families());
    ballot.facts.student = events_of_student(student.certificate, ballot.facts);
    ballot.student = pate::opinions(*student.model, pate::rows_of(*pool->records, ballot.queries),
                                    ballot.facts.classes);
  }
  ballot.count = [store, pool, queries = ballot.queries, classes = ballot.facts.classes,
                  smoothing = teacher_smoothing(arguments, *pool, ballot.facts.classes)] {
    return pate::count_votes(store->load(families()), *pool->records, queries, classes, smoothing);
  };
  return ballot;
}

void run_pate_label(const Arguments& arguments, Context& context) {
  const Ballot ballot =
      arguments.given("votes") ? from_elsewhere(arguments) : from_teachers(arguments);
  const PateFacts& facts = ballot.facts;
  const bool dry = arguments.flag("dry-run");
  if (!dry && !arguments.given("out"))
    throw InvalidArgument("sotto pate label needs --out FILE, the place of the labels",
                          "or --dry-run to see the cost only");
  const PatePlan plan = plan_labels(arguments, facts);
  const double epsilon = independent_epsilon(plan);
  std::optional<LabelPlaces> places;
  if (!dry) places.emplace(arguments.text("out"));
  std::string key, csv;
  PaidWork<PateResult> work;
  work.spec = Spec{facts.relation, {plan.event()}};
  work.unit = facts.unit;
  work.what =
      fmt::format("labels of {} public records by {} teachers", facts.queries, facts.teachers);
  work.json = planned_json(plan, epsilon);
  work.show = [&](const Json& quoted) {
    if (arguments.flag("json")) {
      Json json = quoted;
      json["event"] = to_json(plan.event());
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no vote counted\n");
      print_result(plan, quoted, context);
    }
  };
  work.prepare = [&](Rng&, const Payment*) {
    key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
    return Ready{};
  };
  work.run = [&](Rng& rng) {
    return label(plan, ballot.count(), rng, ballot.student ? &*ballot.student : nullptr);
  };
  work.settle = [&](PateResult& result) {
    csv = labels_csv(result.labels, ballot.queries, ballot.classes);
    return result_digest(digests_of({{places->name(), csv}}));
  };
  work.announced = announced_statement(plan);
  work.said = [&](const PateResult& result) { return statement_about(plan, result, epsilon); };
  work.publish = [&](PateResult&& result, Json&& json, Rng& rng, const Payment* payment) {
    if (csv.empty()) csv = labels_csv(result.labels, ballot.queries, ballot.classes);
    Certificate c = label_certificate(plan, facts, arguments, rng, payment);
    if (arguments.given("votes") && !arguments.given("voters"))
      c.assumptions.push_back(
          "every query has one vote of each teacher, and how many teachers "
          "there are is public");
    c.files = digests_of({{places->name(), csv}});
    write_labels(*places, csv, c, key);
    add_result(json, result, epsilon);
    if (arguments.given("insecure-seed")) json["warning"] = kInsecure;
    if (arguments.flag("json")) {
      json["out"] = places->labels;
      json["certificate"] = places->certificate;
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
      return;
    }
    context.out.print("{} of {} queries answered, labels in {}\n", result.labels.answered,
                      facts.queries, context.bold(places->labels));
    print_result(plan, json, context);
    if (arguments.given("insecure-seed")) context.out.print("  {}\n", kInsecure);
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

Command pate_label_command() {
  std::vector<Option> options = {
      {.name = "teachers",
       .type = Type::file,
       .value = "DIR",
       .help = "the directory that sotto pate train wrote"},
      {.name = "votes",
       .type = Type::file,
       .value = "FILE",
       .help = "instead of teachers an .npy matrix of whole numbers: a row for each query, a "
               "column for each class"},
      {.name = "voters",
       .type = Type::whole,
       .value = "N",
       .help = "how many teachers voted, where some abstain; default: the sum of every row",
       .range = Range::from(1)},
      {.name = "student",
       .type = Type::file,
       .value = "DIR",
       .help = "for interactive: a student of labels that were released before"},
      {.name = "out",
       .type = Type::file,
       .value = "FILE",
       .help = "CSV file for the labels; beside it goes NAME.certificate.json"},
      relation_option(),
      sign_option()};
  for (Option& option : pool_options(true)) options.push_back(std::move(option));
  for (Option& option : reader_options()) options.push_back(std::move(option));
  for (Option& option : payment_options())
    if (option.name != "fingerprint-key") options.push_back(std::move(option));
  for (Option& option : labelling_options()) options.push_back(std::move(option));
  return {
      .name = "label",
      .summary = "release noisy votes as labels",
      .description =
          "Adds noise to the votes of the teachers and releases the winner of each query. The "
          "guarantee (epsilon_data_independent) holds whatever the votes are and is what the "
          "certificate says and a ledger is charged. Where teachers agree, the votes at hand "
          "cost less; how much less is private itself, so it is released with noise, as an "
          "estimate (epsilon) and with a margin (epsilon_upper).\n\n"
          "Which queries an aggregator with a threshold answers is released and paid for.",
      .examples = {{"Ask teachers about a hundred public records",
                    "sotto pate train --data people.csv --schema people.toml --target city "
                    "--teachers 20 --out voters && sotto pate label --teachers voters --public "
                    "strangers.csv --queries 100 --epsilon 3 --delta 1e-5 --out labels.csv"},
                   {"Votes that another program has counted",
                    "sotto pate label --votes votes.npy --sigma 10 --delta 1e-5 --out "
                    "labels.csv"},
                   {"Only where most teachers agree",
                    "sotto pate label --votes votes.npy --aggregator confident_gnmax --sigma "
                    "10 --threshold 60 --sigma-threshold 30 --delta 1e-5 --out sure.csv"},
                   {"What would it cost?",
                    "sotto pate label --votes votes.npy --epsilon 2 --delta 1e-5 --dry-run"}},
      .options = std::move(options),
      .run = run_pate_label,
      .usage =
          "(--teachers DIR --public FILE --queries N | --votes FILE.npy) (--sigma S | --epsilon "
          "E) --delta D --out FILE [options]"};
}

}  // namespace sotto::cli
