// sotto attack inversion: what a model takes for a typical record of a class, and how much of the
// class that gives away.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/canaries.hpp"
#include "commands/commands.hpp"
#include "commands/image_inversion.hpp"
#include "commands/many_models.hpp"
#include "commands/training.hpp"
#include "shell/output_file.hpp"
#include "shell/workshop.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/number.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPasses = 2;  // over all columns; linear models need one
constexpr int kLevels = 9;  // tried of a numeric column

struct Feature {
  const ColumnSchema* column;
  std::size_t at;  // place in a line
};

std::vector<std::string> levels_of(const ColumnSchema& column) {
  if (column.type != ColumnType::numeric)
    return column.values.empty() ? std::vector<std::string>{"0", "1"} : column.values;
  std::vector<std::string> levels;
  for (int i = 0; i < kLevels; ++i)
    levels.push_back(fmt::format(
        "{}", column.bounds->lower() +
                  (column.bounds->upper() - column.bounds->lower()) * i / (kLevels - 1)));
  return levels;
}

// How the records of a class differ from all others, column by column: the truth of the attack.
class Leanings {
 public:
  Leanings(const CsvText& text, std::size_t target, const std::string& label) {
    for (std::size_t i = 0; i < text.records(); ++i) {
      std::vector<std::string> cells = text.cells(text.record(i));
      if (cells.size() <= target) continue;
      const bool of_class = cells[target] == label;
      (of_class ? inside_ : outside_).push_back(std::move(cells));
    }
  }
  // Whether the class leans towards this value: a number on its side, a category commoner in it.
  bool towards(const Feature& f, const std::string& value) const {
    if (f.column->type == ColumnType::numeric) {
      const double in = mean(inside_, f), out = mean(outside_, f),
                   middle = (f.column->bounds->lower() + f.column->bounds->upper()) / 2;
      return (std::stod(value) > middle) == (in > out);
    }
    return share(inside_, f, value) > share(outside_, f, value);
  }

 private:
  using Records = std::vector<std::vector<std::string>>;
  static double mean(const Records& records, const Feature& f) {
    double sum = 0, count = 0;
    for (const auto& cells : records) {
      const NumberCell cell = parse_number(f.at < cells.size() ? cells[f.at] : "");
      if (cell.kind != CellKind::number) continue;
      sum += std::clamp(cell.value, f.column->bounds->lower(), f.column->bounds->upper());
      count += 1;
    }
    return count > 0 ? sum / count : 0;
  }
  static double share(const Records& records, const Feature& f, const std::string& value) {
    double same = 0;
    for (const auto& cells : records) same += f.at < cells.size() && cells[f.at] == value;
    return records.empty() ? 0 : same / static_cast<double>(records.size());
  }

  Records inside_, outside_;
};

struct ClassPortrait {
  std::vector<std::string> cells;
  double likelihood = 0;
  std::size_t leaning = 0;  // columns where it leans as the class does
};

struct InversionSide {
  std::string label;
  std::vector<ClassPortrait> classes;
};

class Inversion {
 public:
  Inversion(const Arguments& arguments, Context& context)
      : arguments_(arguments),
        family_(family_named(arguments)),
        rng_(attack_rng(arguments, context)),
        text_(arguments.text("data"), csv_options(arguments).delimiter),
        schema_(schema_of(arguments)) {
    if (csv_options(arguments).decimal_comma)
      throw Unsupported("sotto attack inversion writes numbers with points",
                        "write the file with decimal points first");
    const ColumnSchema* target = schema_.target();
    if (target == nullptr || target->type == ColumnType::numeric)
      throw Unsupported("sotto attack inversion asks for a class, and the target is a number",
                        "choose a categorical or boolean --target");
    labels_ = levels_of(*target);
    const std::vector<std::string> names = text_.names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto column = std::ranges::find(schema_.columns, names[i], &ColumnSchema::name);
      if (column == schema_.columns.end()) continue;
      if (column->role == Role::target) target_ = i;
      if (column->role == Role::feature && column->type != ColumnType::text &&
          column->type != ColumnType::ignore)
        features_.push_back({&*column, i});
    }
  }

  std::vector<InversionSide> sides() {
    std::vector<InversionSide> all;
    for (const Route& route : both_routes(arguments_, family_)) all.push_back(one_side(route));
    return all;
  }
  const std::vector<Feature>& features() const { return features_; }
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  InversionSide one_side(const Route& route) {
    const Facts asked = record_facts(arguments_, family_, route.request),
                any = with_rows(asked, std::nullopt);
    auto all = std::make_shared<RecordSet>(load_table(
        arguments_.text("data"), *any.encoder, table_options(arguments_, any.encoder->schema())));
    const Facts facts = with_rows(asked, all->size());
    InversionSide side{route.label, {}};
    train_many({.plan = [&] { return plan_training(family_, facts, route.request); },
                .count = 1,
                .data = [&](std::size_t) { return all; },
                .one_thread = true},
               rng_, [&](std::size_t, const Model& model) {
                 for (const std::string& label : labels_)
                   side.classes.push_back(portrait(model, label, *any.encoder));
               });
    return side;
  }

  // The likeliest record of the class, one column after another.
  ClassPortrait portrait(const Model& model, const std::string& label, const Encoder& encoder) {
    std::mt19937_64 random(1);
    const Canaries blank(text_, schema_, false);
    ClassPortrait p;
    p.cells = text_.cells(blank.made(CanaryKind::blank, 1, random).front());
    p.cells[target_] = label;
    for (int pass = 0; pass < kPasses; ++pass) {
      for (const Feature& f : features_) {
        const std::vector<std::string> levels = levels_of(*f.column);
        std::string lines = text_.header() + "\n";
        for (const std::string& level : levels) {
          p.cells[f.at] = level;
          lines += text_.record_of(p.cells) + "\n";
        }
        const Table tried = load_table(workshop_.write("tried.csv", lines), encoder,
                                       table_options(arguments_, encoder.schema()));
        const std::vector<audit::Sight> sights = sights_of(model, tried);
        std::size_t best = 0;
        for (std::size_t i = 1; i < sights.size(); ++i)
          if (sights[i].confidence > sights[best].confidence) best = i;
        p.cells[f.at] = levels[best];
        p.likelihood = sights[best].likelihood;
      }
    }
    const Leanings truth(text_, target_, label);
    for (const Feature& f : features_) p.leaning += truth.towards(f, p.cells[f.at]);
    return p;
  }

  const Arguments& arguments_;
  const Family& family_;
  Rng rng_;
  CsvText text_;
  Schema schema_;
  std::vector<std::string> labels_;
  std::vector<Feature> features_;
  std::size_t target_ = 0;
  Workshop workshop_;
};

// The same of images.
void run_on_images(const Arguments& arguments, const Family& family, Context& context) {
  Rng rng = attack_rng(arguments, context);
  std::vector<std::string> labels;
  std::vector<std::vector<ImagePortrait>> sides;
  ImageFacts shape;
  for (const Route& route : both_routes(arguments, family)) {
    const Facts asked = record_facts(arguments, family, route.request, Forms::any);
    shape = *asked.images;
    auto all =
        std::make_shared<RecordSet>(RecordSet::read(arguments, with_rows(asked, std::nullopt)));
    const Facts facts = with_rows(asked, all->size());
    train_many({.plan = [&] { return plan_training(family, facts, route.request); },
                .count = 1,
                .data = [&](std::size_t) { return all; },
                .one_thread = true},
               rng, [&](std::size_t, const Model& model) {
                 sides.push_back(image_portraits(model, all->block().images(), shape.classes));
               });
    labels.push_back(route.label);
  }
  if (arguments.given("out"))
    write_file(arguments.text("out"), portraits_pgm(sides, shape.height, shape.width),
               Readers::owner);
  Json models = Json::array();
  for (std::size_t s = 0; s < sides.size(); ++s) {
    double likeness = 0;
    std::size_t recognised = 0;
    Json classes = Json::array();
    for (const ImagePortrait& p : sides[s]) {
      likeness += p.likeness / static_cast<double>(shape.classes);
      recognised += p.recognised;
      classes.push_back(
          {{"likelihood", p.likelihood}, {"likeness", p.likeness}, {"recognised", p.recognised}});
    }
    models.push_back({{"label", labels[s]},
                      {"likeness", likeness},
                      {"recognised", recognised},
                      {"classes", classes}});
  }
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"model", arguments.text("model")},
                                    {"models", models}})
                                  .dump());
  } else {
    context.out.print("{}\nthe likeliest image of each class, read off a {} model\n",
                      context.bold(kPrivateResult), arguments.text("model"));
    for (const Json& m : models)
      context.out.print(
          "{}\n  correlation with the class {:.3f}; most like their own class: {} of {}\n",
          m["label"].get<std::string>(), m["likeness"].get<double>(),
          m["recognised"].get<std::size_t>(), shape.classes);
  }
  if (arguments.given("out"))
    context.note("a row of portraits for each model in " + arguments.text("out"));
}

void run_attack_inversion(const Arguments& arguments, Context& context) {
  const Family& family = family_named(arguments);
  const std::vector<Route> routes = both_routes(arguments, family);
  if (record_facts(arguments, family, routes.front().request, Forms::any).images)
    return run_on_images(arguments, family, context);
  if (arguments.given("out"))
    throw InvalidArgument("--out is for portraits of images, and the data is a table",
                          "leave it out");
  Inversion inversion(arguments, context);
  const std::vector<InversionSide> sides = inversion.sides();
  const std::size_t columns = inversion.features().size();
  if (arguments.flag("json")) {
    Json models = Json::array();
    for (const InversionSide& side : sides) {
      Json classes = Json::object();
      for (std::size_t c = 0; c < side.classes.size(); ++c) {
        Json record = Json::object();
        for (const Feature& f : inversion.features())
          record[f.column->name] = side.classes[c].cells[f.at];
        classes[inversion.labels()[c]] = {{"record", record},
                                          {"likelihood", side.classes[c].likelihood},
                                          {"leaning", side.classes[c].leaning},
                                          {"columns", columns}};
      }
      models.push_back({{"label", side.label}, {"classes", classes}});
    }
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"model", arguments.text("model")},
                                    {"models", models}})
                                  .dump());
    return;
  }
  context.out.print("{}\nthe likeliest record of each class, read off a {} model\n",
                    context.bold(kPrivateResult), arguments.text("model"));
  for (const InversionSide& side : sides) {
    context.out.print("{}\n", side.label);
    for (std::size_t c = 0; c < side.classes.size(); ++c) {
      std::string cells;
      for (const Feature& f : inversion.features())
        cells += fmt::format("{}{} = {}", cells.empty() ? "" : ", ", f.column->name,
                             side.classes[c].cells[f.at]);
      context.out.print("  {}: {}\n    leans as the records of the class do in {} of {} columns\n",
                        inversion.labels()[c], cells, side.classes[c].leaning, columns);
    }
  }
}

}  // namespace

Command attack_inversion_command() {
  std::vector<Option> options = attacked_model_options();
  std::erase_if(options,
                [](const Option& o) { return o.name == "no-header" || o.name == "query"; });
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "FILE.pgm",
                     .help = "a picture of what was found; for images"});
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "inversion",
      .summary = "what a model takes for the typical record of a class",
      .description =
          "Looks for the record that a model is surest of, for each class, and compares it "
          "with the records of that class: in how many columns it leans to the side they lean "
          "to. Complete for linear models; a first try for others. Of images the pixels are moved "
          "to where the model is surer, and compared with how the class differs from all. THE "
          "RESULT IS PRIVATE.",
      .examples = {{"What does the model of cities tell of their people?",
                    "sotto attack inversion --data people.csv --schema people.toml --model "
                    "logistic --target city --epsilon 1 --delta 1e-6"},
                   {"What does a network of digits show of them?",
                    "sotto attack inversion --data mnist --model mlp --epsilon 3 --delta 1e-5 "
                    "--out portraits.pgm"}},
      .options = std::move(options),
      .run = run_attack_inversion,
      .usage = "--data FILE --schema FILE --model KIND --epsilon E [options]",
      .selector = "model",
      .variants = kind_variants(true)};
}

}  // namespace sotto::cli
