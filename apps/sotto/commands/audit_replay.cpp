// sotto audit replay: another command on neighbouring files with one tape of randomness.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/audit.hpp"
#include "commands/commands.hpp"
#include "commands/replayed_data.hpp"
#include "options/parse.hpp"
#include "shell/deep_dispatch.hpp"
#include "shell/observed_run.hpp"
#include "shell/workshop.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 5;

// The words of the command with one option's value replaced.
Words with_value(Words words, const std::string& option, const std::string& value) {
  const std::string name = "--" + option, assigned = name + "=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) words[i + 1] = value;
    if (words[i].starts_with(assigned)) words[i] = assigned + value;
  }
  return words;
}

// A text with one name in place of another.
std::string with_name(std::string text, const std::string& name, const std::string& other) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += other.size())
    text.replace(at, name.size(), other);
  return text;
}

struct Finding {
  std::size_t pair, record;
  std::string change, what;
};

// What neighbours are, as the inner command has it.
struct Neighbourhood {
  Relation relation = Relation::add_remove;
  std::optional<UserColumn> user;  // they differ in one user, not in one record
  const char* unit() const { return user ? "user" : "record"; }
};

Neighbourhood declared_neighbours(const Arguments& inner) {
  Neighbourhood result;
  if (find_option(inner.command(), "schema") != nullptr && inner.given("schema")) {
    const Schema schema = Schema::from_file(inner.text("schema"));
    result.relation = schema.relation;
    if (schema.unit == Unit::user)
      result.user = UserColumn{schema.user()->name, schema.max_contributions};
  }
  const bool has = find_option(inner.command(), "relation") != nullptr;
  if (has && inner.given("relation")) result.relation = parse_relation(inner.text("relation"));
  return result;
}

std::vector<Change> chosen_changes(const Arguments& arguments, Relation relation) {
  const std::string wanted = arguments.text("neighbour");
  if (wanted == "auto" || wanted == "adversarial") return changes_under(relation);
  for (const Change c : {Change::drop, Change::add, Change::replace, Change::null})
    if (wanted == name(c)) return {c};
  return {};
}

// A command that may be repeated: it reads --data and charges nobody.
Arguments checked_replay(const Call& call) {
  Arguments inner = call.arguments();
  const auto refuse = [&](const char* option, const char* why, const char* hint) {
    if (find_option(inner.command(), option) != nullptr && inner.given(option))
      throw InvalidArgument(fmt::format("--{} cannot be replayed: {}", option, why), hint);
  };
  if (find_option(inner.command(), "data") == nullptr || !inner.given("data"))
    throw InvalidArgument(fmt::format("'{}' reads no --data", call.title()),
                          "replay a command that reads private rows, such as train or release");
  refuse("ledger", "every run would be charged", "leave it out; nothing is released");
  refuse("query", "neighbours are made from a file", "export the rows to a CSV file first");
  refuse("output", "what is printed is compared as it is", "leave it out");
  return inner;
}

void print(const std::vector<Finding>& findings, std::size_t pairs, std::size_t queries,
           double move, const Neighbourhood& neighbours, Context& context) {
  const std::string how = fmt::format("{}{}", name(neighbours.relation),
                                      neighbours.user ? ", all records of a user" : "");
  if (findings.empty()) {
    context.out.print(
        "{} pairs of neighbouring files ({}): nothing visible differs but noised values\n"
        "{} noised queries compared; the largest move was {:.4g} of the declared sensitivity\n",
        pairs, how, queries, move);
    return;
  }
  context.out.print("{} of {} pairs of neighbouring files ({}) tell {}s apart:\n", findings.size(),
                    pairs, how, neighbours.unit());
  for (std::size_t i = 0; i < std::min(findings.size(), kShown); ++i) {
    const Finding& f = findings[i];
    const std::string whom = f.record == 0     ? fmt::format("a new {}", neighbours.unit())
                             : neighbours.user ? fmt::format("the user of record {}", f.record)
                                               : fmt::format("record {}", f.record);
    context.out.print("  pair {} ({} {}): {}\n", f.pair, f.change, whom, f.what.substr(0, 400));
  }
}

void run_audit_replay(const Arguments& arguments, Context& context) {
  const Words words = arguments.positionals();
  const Call call = parse(table(), words);
  const Arguments inner = checked_replay(call);
  if (is_deep_call(inner.command(), inner)) {
    Words all = {"audit", "replay"};
    for (const Option& option : arguments.command().options) {
      if (!arguments.given(option.name)) continue;
      all.push_back("--" + option.name);
      if (option.type != Type::flag) all.push_back(arguments.text(option.name));
    }
    all.push_back("--");
    all.insert(all.end(), words.begin(), words.end());
    deep_run("audit", all)(arguments, context);
    return;
  }
  const Neighbourhood neighbours = declared_neighbours(inner);
  const std::vector<Change> changes = chosen_changes(arguments, neighbours.relation);
  Workshop workshop;
  const std::unique_ptr<ReplayedData> data = ReplayedData::of(inner, neighbours.user, workshop);
  const std::string made = workshop.place("made");
  Words base = words;
  for (const char* option : {"out", "certificate", "checkpoint"})
    base = with_value(base, option, made + (option[1] == 'h' ? ".checkpoint" : ""));
  const std::string place = data->path();
  base = with_value(base, "data", place);

  std::mt19937_64 random(arguments.whole("seed"));
  const std::size_t pairs = arguments.whole("pairs");
  const bool looked_for = arguments.text("neighbour") == "adversarial";
  std::vector<Finding> findings;
  std::size_t queries = 0;
  double move = 0;
  Progress progress(context.progress("replaying", pairs));
  for (std::size_t i = 0; i < pairs; ++i) {
    const Change change = changes[i % changes.size()];
    const bool unreadable = arguments.flag("unreadable");
    const ReplayedData::Pair pair = looked_for ? data->adversarial(change, random, unreadable)
                                               : data->neighbours(change, random, unreadable);
    pair.write_first();
    const std::uint64_t seed = arguments.whole("seed") + i;
    const RecordedRun first = record_run(base, made, seed);
    pair.write_second();
    const RunComparison runs = compare_runs(first, record_run(base, made, seed, &first));
    data->tell(runs.largest_move);
    std::string what = runs.difference;
    std::ranges::replace(what, '\n', ' ');
    if (runs.first.code != 0 && what.empty() && i == 0)
      throw InvalidArgument(fmt::format("the command itself fails: {}",
                                        with_name(runs.first.err, place, inner.text("data"))),
                            "make it work alone first");
    if (!what.empty()) findings.push_back({i + 1, pair.record, std::string(name(change)), what});
    queries += runs.queries;
    move = std::max(move, runs.largest_move);
    progress.advance(i + 1);
  }
  progress.finish();
  if (queries == 0 && findings.empty())
    context.note("no noised query was seen: only what is visible was compared");
  if (arguments.flag("json")) {
    Json list = Json::array();
    for (const Finding& f : findings)
      list.push_back(
          {{"pair", f.pair}, {"change", f.change}, {"record", f.record}, {"what", f.what}});
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"pairs", pairs},
                                    {"relation", name(neighbours.relation)},
                                    {"unit", neighbours.unit()},
                                    {"queries", queries},
                                    {"largest_move", move},
                                    {"findings", list}})
                                  .dump());
  } else {
    print(findings, pairs, queries, move, neighbours, context);
  }
  if (findings.empty()) return;
  context.out.flush();
  throw VerificationFailed(
      fmt::format("{} of {} pairs of neighbouring files can be told apart", findings.size(), pairs),
      "what was found is private; where a cell cannot be read the schema says what becomes of it, "
      "anything else is a defect of the command");
}

}  // namespace

Command audit_replay_command() {
  return {
      .name = "replay",
      .summary = "run a command on neighbouring files and compare all that is visible",
      .description =
          "Each pair of files differs in one record, or in all records of one user where the "
          "schema has users. Both runs use one tape of randomness, and "
          "the second is given what the first released; so no noised query may move by more than "
          "its declared sensitivity, and exit code, both outputs and all files must be equal. "
          "What the command prints is thrown away: nothing is released and nothing is charged.",
      .examples = {{"Does training show anything of one record?",
                    "sotto audit replay -- train --data people.csv --schema people.toml --model "
                    "logistic --target city --epsilon 1 --delta 1e-6 --out model"},
                   {"A hundred records that were nulled",
                    "sotto audit replay --pairs 100 --neighbour null -- release mean --data "
                    "people.csv --column age --lower 0 --upper 90 --epsilon 1 --relation "
                    "zero_out"},
                   {"Records that move a gradient as far as they can",
                    "sotto audit replay --pairs 50 --neighbour adversarial -- train --data "
                    "people.csv --schema people.toml --model logistic --target city --epsilon 1 "
                    "--delta 1e-6 --out model"}},
      .positionals = {{.name = "COMMAND", .help = "the command and its words", .many = true}},
      .options = {{.name = "pairs",
                   .type = Type::whole,
                   .value = "N",
                   .help = "how many pairs of files",
                   .fallback = "20",
                   .range = Range::between(1, 1e6)},
                  {.name = "neighbour",
                   .type = Type::choice,
                   .value = "HOW",
                   .help =
                       "how the neighbour comes about; auto: as the relation says; adversarial: "
                       "so too, by records that are looked for because they move a query "
                       "most",
                   .fallback = "auto",
                   .choices = {"auto", "drop", "add", "replace", "null", "adversarial"}},
                  {.name = "unreadable",
                   .type = Type::flag,
                   .help = "records also have cells that cannot be read or are empty; the schema "
                           "must then say what becomes of them"},
                  {.name = "seed",
                   .type = Type::whole,
                   .value = "S",
                   .help = "of the records that are chosen and of the tape",
                   .fallback = "1",
                   .range = Range::between(0, 0x1p53)},
                  json_option(),
                  output_option()},
      .run = run_audit_replay,
      .usage = "[options] -- COMMAND [words]"};
}

}  // namespace sotto::cli
