// sotto attack attribute: one column of a record from a model and the rest of the record.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/commands.hpp"
#include "commands/many_models.hpp"
#include "commands/neighbouring_files.hpp"
#include "commands/training.hpp"
#include "shell/workshop.hpp"
#include "sotto/audit/proportion.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

const ColumnSchema& attribute_of(const Arguments& arguments, const Schema& schema) {
  const ColumnSchema& column = schema.column(arguments.text("attribute"));
  if (column.role != Role::feature || column.type == ColumnType::numeric ||
      column.type == ColumnType::text)
    throw InvalidArgument(
        fmt::format("--attribute is '{}', which is no feature of categories", column.name),
        "choose a categorical or boolean feature of the schema");
  return column;
}

std::vector<std::string> values_of(const ColumnSchema& column) {
  return column.values.empty() ? std::vector<std::string>{"0", "1"} : column.values;
}

// The file once for each value of the attribute, all else as it is.
struct Variants {
  std::vector<Table> tables;       // one for each value
  std::vector<std::size_t> truth;  // positions of the values; values.size(): another
  std::vector<double> shares;      // of the values
};

Variants variants_of(const Arguments& arguments, const CsvText& text, const ColumnSchema& column,
                     const Encoder& encoder) {
  const std::vector<std::string> names = text.names(), values = values_of(column);
  const auto at = static_cast<std::size_t>(std::ranges::find(names, column.name) - names.begin());
  if (at == names.size()) throw DataError(fmt::format("the data has no column '{}'", column.name));
  Workshop workshop;
  Variants out;
  out.shares.assign(values.size(), 0.5);
  std::vector<std::vector<std::string>> records;
  for (std::size_t i = 0; i < text.records(); ++i) {
    records.push_back(text.cells(text.record(i)));
    records.back().resize(names.size());
    const auto is =
        static_cast<std::size_t>(std::ranges::find(values, records.back()[at]) - values.begin());
    out.truth.push_back(is);
    if (is < values.size()) out.shares[is] += 1;
  }
  for (const std::string& value : values) {
    std::string all = text.header() + "\n";
    for (std::vector<std::string>& cells : records) {
      cells[at] = value;
      all += text.record_of(cells) + "\n";
    }
    out.tables.push_back(load_table(workshop.write("data.csv", all), encoder,
                                    table_options(arguments, encoder.schema())));
  }
  return out;
}

struct Hits {
  std::uint64_t right = 0, of = 0;

  double share() const {
    return of == 0 ? 0 : static_cast<double>(right) / static_cast<double>(of);
  }
};

struct AttributeSide {
  std::string label;
  Hits members, others, guess;
};

// The value that makes the truth likeliest, with what is known of how common it is.
AttributeSide attacked(const Model& model, const Variants& variants, const std::vector<bool>& in) {
  std::vector<std::vector<audit::Sight>> sights;
  for (const Table& table : variants.tables) sights.push_back(sights_of(model, table));
  const auto commonest =
      static_cast<std::size_t>(std::ranges::max_element(variants.shares) - variants.shares.begin());
  AttributeSide side;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (variants.truth[i] == variants.tables.size()) continue;  // none of the declared values
    std::size_t best = 0;
    double most = -HUGE_VAL;
    for (std::size_t v = 0; v < sights.size(); ++v) {
      const double score =
          std::log(std::max(1e-300, sights[v][i].likelihood)) + std::log(variants.shares[v]);
      if (score > most) most = score, best = v;
    }
    Hits& hits = in[i] ? side.members : side.others;
    hits.of += 1, side.guess.of += 1;
    hits.right += best == variants.truth[i];
    side.guess.right += commonest == variants.truth[i];
  }
  return side;
}

AttributeSide one_side(const Arguments& arguments, const Family& family, const Route& route,
                       const std::vector<bool>& in, const CsvText& text, Rng& rng) {
  const Facts asked = record_facts(arguments, family, route.request),
              any = with_rows(asked, std::nullopt);
  const Table all = load_table(arguments.text("data"), *any.encoder,
                               table_options(arguments, any.encoder->schema()));
  if (all.rows() != in.size())
    throw DataError("the data has blank lines", "give a file without any");
  const Facts facts = with_rows(asked, static_cast<std::uint64_t>(std::ranges::count(in, true)));
  Table chosen(*facts.encoder);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i]) chosen.append(all, i, 1);
  auto members = std::make_shared<RecordSet>(std::move(chosen));
  const Variants variants =
      variants_of(arguments, text, attribute_of(arguments, any.encoder->schema()), *any.encoder);
  AttributeSide side;
  train_many({.plan = [&] { return plan_training(family, facts, route.request); },
              .count = 1,
              .data = [&](std::size_t) { return members; },
              .one_thread = true},
             rng, [&](std::size_t, const Model& model) { side = attacked(model, variants, in); });
  side.label = route.label;
  return side;
}

Json to_json(const Hits& hits) {
  return {{"right", hits.share()},
          {"interval",
           {audit::clopper_pearson_lower(hits.right, hits.of, 0.025),
            audit::clopper_pearson_upper(hits.right, hits.of, 0.025)}},
          {"records", hits.of}};
}

std::string words(const Hits& hits) {
  return fmt::format("{:.2f} % ({:.2f} to {:.2f})", 100 * hits.share(),
                     100 * audit::clopper_pearson_lower(hits.right, hits.of, 0.025),
                     100 * audit::clopper_pearson_upper(hits.right, hits.of, 0.025));
}

void run_attack_attribute(const Arguments& arguments, Context& context) {
  const Family& family = family_named(arguments);
  const std::vector<Route> routes = both_routes(arguments, family);
  Rng rng = attack_rng(arguments, context);
  const CsvText text(arguments.text("data"), csv_options(arguments).delimiter);
  if (text.records() < 20)
    throw DataError("there are fewer than 20 records to attack", "figures need hundreds");
  std::vector<bool> in(text.records());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = (rng.next_u64() & 1) != 0;
  std::vector<AttributeSide> sides;
  for (const Route& route : routes)
    sides.push_back(one_side(arguments, family, route, in, text, rng));
  if (arguments.flag("json")) {
    Json models = Json::array();
    for (const AttributeSide& s : sides)
      models.push_back(
          {{"label", s.label}, {"members", to_json(s.members)}, {"others", to_json(s.others)}});
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"attribute", arguments.text("attribute")},
                                    {"model", arguments.text("model")},
                                    {"models", models},
                                    {"guess", to_json(sides.back().guess)}})
                                  .dump());
    return;
  }
  context.out.print("{}\n{} of a record, from a {} model and all its other cells\n",
                    context.bold(kPrivateResult), arguments.text("attribute"),
                    arguments.text("model"));
  for (const AttributeSide& s : sides)
    context.out.print("  {:<17}right for {} of members, {} of others\n", s.label, words(s.members),
                      words(s.others));
  context.out.print("  {:<17}right for {}\n", "no model", words(sides.back().guess));
  context.out.print(
      "what is right for others too is what the model knows of people in general; what is right "
      "for members only is what it remembers of them\n");
}

}  // namespace

Command attack_attribute_command() {
  std::vector<Option> options = attacked_model_options();
  std::erase_if(options,
                [](const Option& o) { return o.name == "no-header" || o.name == "query"; });
  options.push_back({.name = "attribute",
                     .value = "COLUMN",
                     .help = "the feature to find out; categorical or boolean",
                     .required = true,
                     .group = "Attack"});
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "attribute",
      .summary = "one cell of a record from a model and the rest of the record",
      .description =
          "A model is trained on a random half of the records. For each record the value is "
          "chosen that makes its target likeliest, with what is known of how common values "
          "are. Shown is how often that is right: for members, for others, and without a "
          "model. THE RESULT IS PRIVATE.",
      .examples = {{"Does a model of incomes tell cities?",
                    "sotto attack attribute --data people.csv --schema people.toml --model "
                    "linear --attribute city --epsilon 1 --delta 1e-6"}},
      .options = std::move(options),
      .run = run_attack_attribute,
      .usage = "--data FILE --schema FILE --model KIND --attribute COLUMN --epsilon E [options]",
      .selector = "model",
      .variants = kind_variants(true)};
}

}  // namespace sotto::cli
