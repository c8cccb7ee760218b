// sotto pate train: teachers on disjoint parts of the private records.
#include <fmt/format.h>

#include "options/model_options.hpp"
#include "pate.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/teacher_store.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

Json options_json(const TrainingRequest& request) {
  Json json = Json::object();
  for (const Option& option : request.options.declared())
    if (request.options.given(option.name)) json[option.name] = request.options.text(option.name);
  if (!request.spreads.empty()) json["standardise"] = sha256(Json(request.spreads).dump());
  return json;
}

void run_pate_train(const Arguments& arguments, Context& context) {
  Teaching teaching = teaching_of(arguments);
  if (arguments.flag("standardise"))
    teaching.request.spreads =
        public_spreads(arguments, *teaching.family, read_pool(arguments, teaching.facts));
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  const Table records = private_records(arguments, teaching.facts);
  const std::string out = arguments.text("out");
  const auto store = pate::TeacherStore::open(out,
                                              {.teachers = teaching.teachers,
                                               .family = teaching.family->name,
                                               .kind = teaching.request.kind,
                                               .options = options_json(teaching.request),
                                               .facts = teaching.facts,
                                               .key = pate::fresh_key(rng)},
                                              records);
  pate::TeacherControl control;
  control.progress = context.progress("teachers (pace NOT PRIVATE)", teaching.teachers);
  control.has = [&](std::size_t i) { return store.has(i); };
  control.keep = [&](std::size_t i, std::optional<TrainedModel> model) {
    store.keep(i, model, rng);
  };
  pate::train_teachers(*teaching.family, teaching.facts, teaching.request, records,
                       teaching.teachers, store.catalogue().key, rng, control);
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"teachers", teaching.teachers},
                                   {"model", teaching.request.kind},
                                   {"unit", name(teaching.facts.unit)},
                                   {"relation", name(teaching.facts.relation)},
                                   {"out", out},
                                   {"warning", "NOT PRIVATE"}}
                                  .dump());
    return;
  }
  context.out.print(
      "{} teachers ({}) in {}\n  NOT PRIVATE: keep the directory as secret as the data\n",
      teaching.teachers, teaching.request.kind, context.bold(out));
  context.note("next: sotto pate label --teachers " + out + " --public PUBLIC.csv");
}

}  // namespace

Command pate_train_command() {
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
                     .help = "directory for the teachers, which only its owner may enter; one that "
                             "is not complete is taken up",
                     .required = true});
  options.push_back({.name = "public",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "of --standardise: records that need no protection",
                     .group = "Public records"});
  options.push_back(standardise_option());
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  Command command = {
      .name = "train",
      .summary = "train teachers on disjoint parts of the records",
      .description =
          "Sends every record, or every user with all records, to one teacher by a keyed hash, and "
          "trains each teacher without noise. Nothing is released: the directory is as secret as "
          "the data. A part without records, or one that cannot be learned from, gives a teacher "
          "that votes the same whatever the data is.\n\nA run that was stopped is taken up by the "
          "same command.",
      .examples = {{"Fifty teachers",
                    "sotto pate train --data people.csv --schema people.toml --target city "
                    "--teachers 50 --out teachers"}},
      .options = std::move(options),
      .run = run_pate_train,
      .usage = "--data FILE --schema FILE [--model KIND] [--teachers N] --out DIR [options]"};
  add_kinds(command);
  return command;
}

}  // namespace sotto::cli
