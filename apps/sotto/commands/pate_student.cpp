// sotto pate student: a model of public records, from released labels only.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <set>

#include "options/model_options.hpp"
#include "paid/signing.hpp"
#include "pate.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/pate/student.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLabelBytes = std::size_t{1} << 30;

// Labels that were paid for: what their certificate says is what a student of them costs.
class PaidLabels {
 public:
  PaidLabels(const std::string& place, std::size_t rows, const std::vector<std::string>& classes) {
    std::filesystem::path stem(place);
    const std::string name = stem.filename().string();
    const std::string beside = stem.replace_extension().string() + ".certificate.json";
    const std::string text = read_whole_file(beside, kMostCertificateBytes);
    check_certificate_text(text);
    certificate_ = certificate_from_json(parse_json(text, beside));
    const std::string csv = read_whole_file(place, kMostLabelBytes);
    const auto digest = certificate_.files.find(name);
    if (!certificate_.spec || digest == certificate_.files.end() || digest->second != sha256(csv))
      throw VerificationFailed(fmt::format("'{}' is not what '{}' speaks about", place, beside),
                               "make the labels again with sotto pate label");
    read(csv, place, rows, classes);
  }

  Event event() const { return certificate_.spec->event(); }
  Relation relation() const { return certificate_.spec->relation; }
  std::string describe() const { return certificate_.description; }
  const Certificate& certificate() const { return certificate_; }
  const std::vector<std::size_t>& queries() const { return queries_; }
  const pate::Labels& labels() const { return labels_; }

 private:
  void read(const std::string& csv, const std::string& place, std::size_t rows,
            const std::vector<std::string>& classes) {
    const auto damaged = [&] {
      return DataError(fmt::format("'{}' holds no labels of these public records", place),
                       "query is a row number of the public file, label one of the classes");
    };
    std::set<std::size_t> seen;
    std::size_t at = csv.find('\n');
    if (csv.substr(0, at) != "query,label") throw damaged();
    while (++at < csv.size()) {
      const std::size_t end = std::min(csv.find('\n', at), csv.size());
      const std::string line = csv.substr(at, end - at);
      at = end;
      const std::size_t comma = line.find(',');
      std::size_t query = 0;
      if (comma == std::string::npos ||
          std::from_chars(line.data(), line.data() + comma, query).ptr != line.data() + comma ||
          query >= rows || !seen.insert(query).second)
        throw damaged();
      const std::string label = line.substr(comma + 1);
      std::size_t value = 0;
      while (value < classes.size() && csv_field(classes[value]) != label) ++value;
      if (value == classes.size()) throw damaged();
      queries_.push_back(query);
      labels_.labels.push_back({pate::Origin::teachers, static_cast<std::uint32_t>(value)});
    }
    labels_.answered = labels_.asked = queries_.size();
  }

  Certificate certificate_;
  std::vector<std::size_t> queries_;
  pate::Labels labels_;
};

void run_pate_student(const Arguments& arguments, Context& context) {
  const std::string out = arguments.text("out");
  check_artifact_place(out);
  const std::string key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
  const Family& family = family_named(arguments);
  TrainingRequest request = noiseless_request(arguments, family);
  const Facts facts = facts_for(family, schema_of(arguments), request);
  check_target(facts, Task::classify, "a student of labels", "a class");
  check_not_drafted(facts);
  const Pool pool = read_pool(arguments, facts);
  request.spreads = public_spreads(arguments, family, pool);
  const PaidLabels paid(arguments.text("labels"), pool.records->rows(), facts.classes());
  auto student =
      pate::train_student(family, pool.facts, request, *pool.records, paid.queries(), paid.labels(),
                          pool.graph.get(), context.rng(), student_options_of(arguments));
  const TrainedModel released = Release<std::unique_ptr<Model>>(std::move(student), paid);
  Certificate c = paid.certificate();
  c.family = family.name;
  c.description = "student of released labels: " + c.description;
  c.ledger.reset();  // the entry paid for the labels, and says so there
  write_artifact(out, released, pool.facts, c, key);
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"labels", paid.queries().size()},
                                   {"epsilon_data_independent", c.epsilon},
                                   {"delta", c.delta},
                                   {"out", out}}
                                  .dump());
    return;
  }
  context.out.print(
      "student of {} labels in {}, at no further cost\n  guarantee  epsilon = {}, delta = {}, that "
      "of the labels\n",
      paid.queries().size(), context.bold(out), round_up(c.epsilon), round_up(c.delta));
}

}  // namespace

Command pate_student_command() {
  std::vector<Option> options = {{.name = "labels",
                                  .type = Type::file,
                                  .value = "FILE",
                                  .help = "what sotto pate label wrote, its certificate beside it",
                                  .required = true},
                                 {.name = "schema",
                                  .type = Type::file,
                                  .value = "FILE",
                                  .help = "the public facts about the records, as TOML",
                                  .required = true},
                                 {.name = "target",
                                  .type = Type::text,
                                  .value = "COLUMN",
                                  .help = "what the labels say; default: the schema's target"}};
  for (Option& option : pool_options(false)) options.push_back(std::move(option));
  options.push_back(standardise_option());
  for (Option& option : student_options()) options.push_back(std::move(option));
  for (Option& option : reader_options()) options.push_back(std::move(option));
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for the student, its encoder and certificate",
                     .required = true});
  options.push_back(sign_option());
  options.push_back(json_option());
  options.push_back(output_option());
  Command command = {
      .name = "student",
      .summary = "train a student on released labels",
      .description =
          "Fits a model to public records and the labels that were released for some of them; with "
          "--neighbours the other records help. It costs nothing more than the labels did: its "
          "certificate is theirs.",
      .examples =
          {{"Labels, then a student of them",
            "sotto pate train --data people.csv --schema people.toml --target city "
            "--teachers 20 --out panel && sotto pate label --teachers panel --public "
            "strangers.csv --queries 100 --sigma 5 --delta 1e-5 --out named.csv && sotto pate "
            "student --labels named.csv --schema people.toml --target city --public "
            "strangers.csv --out pupil"}},
      .options = std::move(options),
      .run = run_pate_student,
      .usage = "--labels FILE --schema FILE --public FILE [--model KIND] --out DIR [options]"};
  add_kinds(command);
  return command;
}

}  // namespace sotto::cli
