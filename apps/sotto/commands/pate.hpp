// What the files of `sotto pate` share.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "families.hpp"
#include "paid/charge.hpp"
#include "sotto/features/neighbour_graph.hpp"
#include "sotto/ledger/tally.hpp"
#include "sotto/pate/sanitised.hpp"
#include "sotto/pate/student.hpp"
#include "sotto/pate/teachers.hpp"

namespace sotto::cli {

// What is known before any vote is seen.
struct PateFacts {
  std::uint64_t teachers = 0, queries = 0;
  std::size_t classes = 0;
  Relation relation = Relation::add_remove;
  std::string unit = "record";
  // Of the student that is asked. Its answers are among the labels, so what it cost is part of what
  // they cost. A ledger cannot know that it was paid for before, and is charged for it again.
  std::vector<Event> student = {};
};

// The labels and, unless it is not wanted, the sanitised ε: planned together, paid for together.
struct PatePlan {
  pate::LabelPlan labels;
  std::optional<pate::SanitisePlan> sanitised;
  double delta = 0;
  Event paid;  // of both, and of the student that is asked
  Event event() const { return paid; }
  Relation relation() const { return labels.relation(); }
  std::string describe() const;
};

struct PateResult {
  pate::Labels labels;
  std::optional<pate::Sanitised> sanitised;
};

// --aggregator, --sigma, --threshold, …, the budget and the ledger.
std::vector<Option> labelling_options();
PatePlan plan_labels(const Arguments& arguments, const PateFacts& facts);
// Draws the noise. The votes are gone afterwards.
PateResult label(const PatePlan& plan, const pate::Votes& votes, Rng& rng,
                 const std::vector<double>* student = nullptr);

// The members that every result has: queries, epsilon_data_independent, delta, …
nlohmann::ordered_json planned_json(const PatePlan& plan, double epsilon);
void add_result(nlohmann::ordered_json& json, const PateResult& result, double independent);
// What the votes will say about this data, for a tally of a ledger; nothing where they say nothing
// of all that leaves: without a sanitised ε, and where a student was asked, whose cost it leaves
// out.
ledger::Announcement announced_statement(const PatePlan& plan);
std::optional<ledger::Statement> statement_about(const PatePlan& plan, const PateResult& result,
                                                 double independent);
void print_result(const PatePlan& plan, const nlohmann::ordered_json& json, Context& context);
bool has_labels(const pate::Labels& labels);
// ε of all that leaves, for any votes.
double independent_epsilon(const PatePlan& plan);
// "query,label" lines of the queries that have one; queries: their rows in the pool, or none.
std::string labels_csv(const pate::Labels& labels, const std::vector<std::size_t>& queries,
                       const std::vector<std::string>& classes);

// Teachers as the options say: a family without noise, the facts about the private records.
struct Teaching {
  const Family* family = nullptr;
  TrainingRequest request;
  Facts facts;
  std::uint64_t teachers = 0;
};
// --model with the options of each kind, for teachers or students.
void add_kinds(Command& command);
Teaching teaching_of(const Arguments& arguments);
// Refuses a schema that was estimated from the data: certificates of labels do not add up its cost.
void check_not_drafted(const Facts& facts);
TrainingRequest noiseless_request(const Arguments& arguments, const Family& family);
Table private_records(const Arguments& arguments, const Facts& facts);

// Public records to be labelled, and what is made of them alone.
struct Pool {
  Facts facts;  // as the family of the student sees them
  std::unique_ptr<Table> records;
  std::unique_ptr<features::NeighbourGraph> graph;  // null: none is asked for
};
std::vector<Option> pool_options(bool with_queries);
Option standardise_option();
// How far each column spreads in public records, where --standardise asks for it; else nothing.
// Throws Unsupported, before anything is paid for, where the family cannot use it.
std::vector<double> public_spreads(const Arguments& arguments, const Family& family,
                                   const Pool& pool);
std::vector<Option> student_options();
pate::StudentOptions student_options_of(const Arguments& arguments);
Pool read_pool(const Arguments& arguments, const Facts& facts);
// The rows of the pool that are asked about. Public.
std::vector<std::size_t> chosen_queries(const Arguments& arguments, const Table& pool);
pate::Smoothing teacher_smoothing(const Arguments& arguments, const Pool& pool,
                                  std::size_t classes);

// Where labels and their certificate go.
struct LabelPlaces {
  std::string labels, certificate;
  explicit LabelPlaces(const std::string& out);  // throws StorageError
  std::string name() const;                      // of the labels
};
Certificate label_certificate(const PatePlan& plan, const PateFacts& facts,
                              const Arguments& arguments, const Rng& rng, const Payment* payment);
void write_labels(const LabelPlaces& places, const std::string& csv, const Certificate& certificate,
                  const std::string& key);

Command features_command();
Command pate_command();
Command pate_label_command();
Command pate_run_command();
Command pate_student_command();
Command pate_train_command();

}  // namespace sotto::cli
