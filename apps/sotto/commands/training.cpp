#include "training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/commands.hpp"
#include "options/budget_options.hpp"
#include "paid/charge.hpp"
#include "paid/cost.hpp"
#include "paid/signing.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

constexpr std::uint64_t kImagesOfMnist = 60000;
constexpr const char* kImageOptions[] = {"rows", "classes", "image", "relation"};

bool is_image_folder(const Arguments& arguments) {
  std::error_code ignored;
  return std::filesystem::is_directory(arguments.text("data"), ignored) ||
         !arguments.given("schema");
}

}  // namespace

ImageFacts declared_images(const Arguments& arguments) {
  const std::string text = arguments.text("image");
  const std::size_t x = text.find('x');
  const auto side = [&](const std::string& digits) -> std::size_t {
    const bool plain = !digits.empty() && digits.size() < 6 &&
                       digits.find_first_not_of("0123456789") == std::string::npos;
    return plain ? std::stoul(digits) : 0;
  };
  const ImageFacts images{.height = side(text.substr(0, x)),
                          .width = x == std::string::npos ? 0 : side(text.substr(x + 1)),
                          .classes = arguments.whole("classes")};
  if (images.height < 1 || images.width < 1)
    throw InvalidArgument(fmt::format("--image is '{}'; it must be height x width", text),
                          "e.g. --image 28x28");
  return images;
}

std::vector<Option> certified_run_options() {
  std::vector<Option> options = {
      {.name = "dataset",
       .type = OptionType::text,
       .value = "LABEL",
       .help = "a name for the data, quoted in the certificate; with a ledger the data "
               "set whose budget is charged"},
      sign_option()};
  for (Option& option : payment_options(false)) options.push_back(std::move(option));
  for (Option& option : budget_options()) options.push_back(std::move(option));
  for (Option option : {dry_run_option(), insecure_seed_option(), json_option(), output_option()})
    options.push_back(std::move(option));
  return options;
}

std::string kind_of(const Arguments& arguments) {
  std::string named = arguments.text("model");
  if (arguments.given("model") || !arguments.given("schema")) return named;
  const Schema schema = schema_of(arguments);
  const ColumnSchema* target = schema.target();
  const Task task =
      target != nullptr && target->type == ColumnType::numeric ? Task::regress : Task::classify;
  for (const Kind& kind : family_named(arguments).kinds)
    if (std::find(kind.tasks.begin(), kind.tasks.end(), task) != kind.tasks.end()) return kind.name;
  return named;
}

TrainingRequest request_of(const Arguments& arguments, const Family& family,
                           const std::string& method) {
  TrainingRequest request;
  request.kind = kind_of(arguments);
  request.method = method;
  request.delta = arguments.maybe_number("delta");
  std::vector<Option> declared = options_of(family, request.kind);
  request.options = arguments.values_of(declared);
  return request;
}

// What to train: as --model says, or as public facts suggest.
Suggestion chosen_model(const Arguments& arguments) {
  if (!is_automatic(arguments)) return {&family_named(arguments), kind_of(arguments), ""};
  if (!has_budget(arguments))
    throw InvalidArgument("--model auto chooses for a budget, and none is given",
                          "e.g. --epsilon 1 --delta 1e-6");
  return suggest(families(), table_facts(schema_of(arguments)), budget_of(arguments));
}

TrainingRequest request_of(const Arguments& arguments, const Suggestion& choice) {
  TrainingRequest request = is_automatic(arguments)
                                ? make_request(*choice.family, choice.kind, budget_of(arguments))
                                : request_of(arguments, *choice.family, arguments.text("method"));
  request.delta = arguments.maybe_number("delta");
  if (has_budget(arguments)) request.budget = budget_of(arguments);
  if (arguments.given("rho") && !arguments.given("delta")) {
    throw InvalidArgument(
        "sotto train needs --delta with --rho, to state the certificate's epsilon",
        "e.g. --delta 1e-6");
  }
  return request;
}

Facts facts_of(const Arguments& arguments, const Family& family, const TrainingRequest& request) {
  if (family.reads_images && is_image_folder(arguments)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(arguments.text("data"), ignored))
      throw InvalidArgument(
          fmt::format("--data {} is a file: images to train on are a folder, a table has a schema",
                      arguments.text("data")),
          "name the folder with the four IDX files, or give --schema FILE");
    if (arguments.given("schema"))
      throw InvalidArgument("a folder of images needs no --schema",
                            "declare --rows and --classes instead");
    return image_facts(declared_images(arguments), parse_relation(arguments.text("relation")),
                       arguments.given("rows") ? arguments.whole("rows") : kImagesOfMnist);
  }
  for (const char* option : kImageOptions)
    if (family.reads_images && arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is about images, and the data is a table", option),
                            "the schema says it for tables");
  return facts_for(family, schema_of(arguments), request);
}

Facts with_rows(const Facts& facts, std::optional<std::uint64_t> rows) {
  if (facts.images) {
    Facts images = facts;
    images.rows = rows;
    return images;
  }
  Schema schema = facts.encoder->schema();
  schema.rows = rows;
  return table_facts(std::move(schema));
}

std::unique_ptr<Source> source_of(const Arguments& arguments, const Facts& facts,
                                  const std::string& option, const std::string& part) {
  if (facts.images) return image_folder(arguments.text(option), part, *facts.images);
  return table_file(arguments.text(option), facts.encoder,
                    table_options(arguments, facts.encoder->schema()));
}

std::unique_ptr<Source> applied_source(const Arguments& arguments, const Facts& facts,
                                       const TableOptions& options) {
  std::error_code ignored;
  const bool file = std::filesystem::is_regular_file(arguments.text("data"), ignored);
  if (facts.images && file && options.targets)
    throw InvalidArgument(
        fmt::format("--data {} is a file: labelled images are a folder", arguments.text("data")),
        "name the folder with t10k-images and t10k-labels");
  if (facts.images && file) return image_file(arguments.text("data"), *facts.images);
  if (!facts.encoder && facts.images)
    return image_folder(arguments.text("data"), "t10k", *facts.images, options.targets);
  return table_file(arguments.text("data"), facts.encoder, options);
}

std::string promise(const std::optional<Event>& event, const Facts& facts, const Cost& cost) {
  if (!event) return "NOT PRIVATE: no noise, no guarantee";
  return fmt::format(
      "epsilon = {}, delta = {} ({}, unit: one {})", cost.epsilon ? round_up(*cost.epsilon) : "-",
      cost.delta ? round_up(*cost.delta) : "-", name(facts.relation), name(facts.unit));
}

}  // namespace sotto::cli
