// sotto attack extraction: secrets that stand in a text, asked of a model of the text without
// privacy and of a private one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "commands/attack.hpp"
#include "commands/commands.hpp"
#include "commands/many_models.hpp"
#include "commands/text_table.hpp"
#include "commands/training.hpp"
#include "shell/workshop.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// "my number is ####": a # is any digit, a ? any letter from a to z.
class Pattern {
 public:
  explicit Pattern(std::string text) : text_(std::move(text)) {
    for (const char c : text_)
      if (c == '#' || c == '?') space_ *= c == '#' ? 10 : 26;
    if (space_ < 10)
      throw InvalidArgument("--secret has no # and no ?, so there is nothing to find out",
                            "e.g. --secret 'my number is ####'");
  }
  double space() const { return space_; }
  std::string filled(std::uint64_t number) const {
    std::string text = text_;
    for (auto c = text.rbegin(); c != text.rend(); ++c) {
      if (*c != '#' && *c != '?') continue;
      const std::uint64_t base = *c == '#' ? 10 : 26;
      *c = static_cast<char>((base == 10 ? '0' : 'a') + static_cast<char>(number % base));
      number /= base;
    }
    return text;
  }
  // All, or so many at random.
  std::vector<std::string> candidates(std::size_t most, std::mt19937_64& random) const {
    std::vector<std::string> all;
    const bool every = space_ <= static_cast<double>(most);
    const auto count = every ? static_cast<std::size_t>(space_) : most;
    for (std::size_t i = 0; i < count; ++i) all.push_back(filled(every ? i : random()));
    return all;
  }

 private:
  std::string text_;
  double space_ = 1;
};

struct Secret {
  std::string text;
  std::size_t copies = 0;
  double exposure = 0, rank = 0;
};

struct ExtractionSide {
  std::string label, method;
  double perplexity = 0;
  std::vector<Secret> secrets;
};

// Of the secrets with so many copies.
struct Exposed {
  double mean = 0, most = 0;
  std::size_t secrets = 0, first = 0;
};
Exposed exposed(const ExtractionSide& side, std::size_t copies) {
  Exposed e;
  for (const Secret& s : side.secrets) {
    if (s.copies != copies) continue;
    e.mean += s.exposure, e.most = std::max(e.most, s.exposure);
    e.secrets += 1, e.first += s.rank <= 1;
  }
  e.mean /= static_cast<double>(std::max<std::size_t>(1, e.secrets));
  return e;
}

class Extraction {
 public:
  Extraction(const Arguments& arguments, Context& context)
      : arguments_(arguments),
        context_(context),
        family_(family_named(arguments)),
        rng_(attack_rng(arguments, context)),
        texts_(arguments.text("alphabet"), arguments.whole("length")),
        pattern_(texts_.fitting(arguments.text("secret"))),
        lines_(texts_.lines(arguments.text("text"))) {
    std::mt19937_64 random(rng_.next_u64());
    candidates_ = pattern_.candidates(arguments.whole("candidates"), random);
    for (const std::string& text : arguments.list("copies")) {
      char* end = nullptr;
      const unsigned long copies = std::strtoul(text.c_str(), &end, 10);
      if (text.empty() || *end != '\0' || copies < 1 || copies > 100000)
        throw InvalidArgument(fmt::format("--copies has '{}'", text), "e.g. --copies 1,4,16");
      copies_.push_back(copies);
    }
    copies_.insert(copies_.begin(), 0);  // what is found of secrets that stand nowhere
    for (const std::size_t copies : copies_)
      for (std::size_t k = 0; k < arguments.whole("secrets"); ++k)
        secrets_.push_back({candidates_[random() % candidates_.size()], copies});
    for (const Secret& s : secrets_)
      for (std::size_t c = 0; c < s.copies; ++c) lines_.push_back(s.text);
    std::shuffle(lines_.begin(), lines_.end(), random);
  }

  std::vector<ExtractionSide> sides() {
    const auto facts = [&](const TrainingRequest& request) {
      return facts_for(family_, texts_.schema(lines_.size()), request);
    };
    const std::vector<Route> routes = both_routes(arguments_, family_, facts);
    Progress progress(context_.progress("training", routes.size()));
    std::vector<ExtractionSide> all;
    for (const Route& route : routes) {
      all.push_back(one_side(route, facts(route.request)));
      progress.advance(all.size());
    }
    progress.finish();
    return all;
  }
  const std::vector<std::size_t>& copies() const { return copies_; }
  std::size_t candidates() const { return candidates_.size(); }
  std::size_t lines() const { return lines_.size(); }

 private:
  ExtractionSide one_side(const Route& route, const Facts& facts) {
    const Facts any = with_rows(facts, std::nullopt);
    const auto table = [&](const std::vector<std::string>& lines, const Encoder& encoder) {
      return load_table(workshop_.write("lines.csv", texts_.csv(lines)), encoder, {});
    };
    auto all = std::make_shared<RecordSet>(table(lines_, *facts.encoder));
    const Table tried = table(candidates_, *any.encoder);
    std::vector<std::string> planted;
    for (const Secret& s : secrets_) planted.push_back(s.text);
    const Table asked = table(planted, *any.encoder);
    ExtractionSide side{.label = route.label, .method = {}, .secrets = secrets_};
    train_many({.plan =
                    [&] {
                      auto plan = plan_training(family_, facts, route.request);
                      side.method = plan->explain().method;
                      return plan;
                    },
                .count = 1,
                .data = [&](std::size_t) { return all; },
                .one_thread = true},
               rng_, [&](std::size_t, const Model& model) {
                 std::vector<double> others = likelihoods(model, tried);
                 const std::vector<double> own = likelihoods(model, asked),
                                           known = likelihoods(model, all->block());
                 std::ranges::sort(others);
                 rank(side, own, others);
                 double sum = 0;
                 for (const double x : known) sum -= x;
                 side.perplexity = std::exp(sum / static_cast<double>(known.size()) /
                                            static_cast<double>(texts_.length()));
               });
    return side;
  }
  std::vector<double> likelihoods(const Model& model, const Block& block) const {
    const std::vector<OutputColumn> columns = model.columns();
    if (columns.size() != 1 || columns.front().name != "log_likelihood")
      throw Unsupported(
          fmt::format("a {} model says nothing of how likely a text is", arguments_.text("model")),
          "choose a --model that writes a log_likelihood");
    return model.apply(block);
  }
  // Among all candidates the secret is one itself; ties count by half.
  static void rank(ExtractionSide& side, const std::vector<double>& own,
                   const std::vector<double>& sorted) {
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), own[k]);
      const auto above = static_cast<double>(sorted.end() - last),
                 equal = static_cast<double>(std::max<std::ptrdiff_t>(0, last - first - 1));
      side.secrets[k].rank = 1 + above + equal / 2;
      side.secrets[k].exposure =
          std::log2(static_cast<double>(sorted.size())) - std::log2(side.secrets[k].rank);
    }
  }

  const Arguments& arguments_;
  Context& context_;
  const Family& family_;
  Rng rng_;
  TextTable texts_;
  Pattern pattern_;
  std::vector<std::string> lines_, candidates_;
  std::vector<std::size_t> copies_;
  std::vector<Secret> secrets_;
  Workshop workshop_;
};

Json to_json(const ExtractionSide& side, const std::vector<std::size_t>& copies) {
  Json secrets = Json::array();
  for (const std::size_t c : copies) {
    const Exposed e = exposed(side, c);
    secrets.push_back({{"copies", c},
                       {"secrets", e.secrets},
                       {"exposure", e.mean},
                       {"largest_exposure", e.most},
                       {"extracted", e.first}});
  }
  return {{"label", side.label},
          {"method", side.method},
          {"perplexity", side.perplexity},
          {"secrets", secrets}};
}

void run_attack_extraction(const Arguments& arguments, Context& context) {
  Extraction extraction(arguments, context);
  const std::vector<ExtractionSide> sides = extraction.sides();
  const auto count = static_cast<double>(extraction.candidates());
  const double epsilon = arguments.number("epsilon"),
               delta = arguments.maybe_number("delta").value_or(0),
               most = std::min(1.0, std::exp(epsilon) / count + delta);
  if (arguments.flag("json")) {
    Json models = Json::array();
    for (const ExtractionSide& side : sides) models.push_back(to_json(side, extraction.copies()));
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"model", arguments.text("model")},
                                    {"lines", extraction.lines()},
                                    {"candidates", extraction.candidates()},
                                    {"largest_possible", std::log2(count)},
                                    {"models", models},
                                    {"claim", epsilon},
                                    {"delta", delta},
                                    {"extracted_with_probability_at_most", most}})
                                  .dump());
    return;
  }
  context.out.print(
      "{}\nsecrets among {} lines, read off a {} model: exposure in bits, at most {:.1f} ({} "
      "candidates)\n\n",
      context.bold(kPrivateResult), extraction.lines(), arguments.text("model"), std::log2(count),
      extraction.candidates());
  const auto line = [&](const std::string& what, auto&& figure) {
    std::string text = fmt::format("{:<31}", what);
    for (const ExtractionSide& side : sides) text += fmt::format("  {:<29}", figure(side));
    text.erase(text.find_last_not_of(' ') + 1);
    context.out.print("{}\n", text);
  };
  line("", [](const ExtractionSide& s) { return s.label; });
  line("method", [](const ExtractionSide& s) { return s.method; });
  line("perplexity of a character",
       [](const ExtractionSide& s) { return fmt::format("{:.3f}", s.perplexity); });
  for (const std::size_t c : extraction.copies())
    line(c == 0   ? std::string("secrets that stand nowhere")
         : c == 1 ? std::string("secrets that stand once")
                  : fmt::format("secrets that stand {} times", c),
         [&](const ExtractionSide& s) {
           const Exposed e = exposed(s, c);
           return fmt::format("{:.2f} ({} of {} found)", e.mean, e.first, e.secrets);
         });
  context.out.print(
      "with epsilon = {} a secret that stands once is found with probability {:.2g} at most; one "
      "with more copies is a group, and less protected\n",
      arguments.text("epsilon"), most);
}

}  // namespace

Command attack_extraction_command() {
  std::vector<Option> options = {
      {.name = "text",
       .type = Type::file,
       .value = "FILE",
       .help = "lines of text; each is one record",
       .required = true,
       .group = "Data"},
      {.name = "alphabet",
       .value = "CHARACTERS",
       .help = "declared characters; capitals become small letters, and others the last one",
       .fallback = "abcdefghijklmnopqrstuvwxyz0123456789.,- ",
       .group = "Data"},
      {.name = "length",
       .type = Type::whole,
       .value = "L",
       .help = "declared characters of a line; longer ones are cut",
       .fallback = "32",
       .range = Range::between(2, 1000),
       .group = "Data"}};
  options.push_back(kind_option(Task::transform));
  options.push_back(route_option());
  for (Option& option : budget_options()) {
    if (option.name == "rho") continue;
    option.required = option.name == "epsilon";
    options.push_back(std::move(option));
  }
  options.push_back({.name = "secret",
                     .value = "PATTERN",
                     .help = "what secrets look like: # is any digit, ? any letter",
                     .fallback = "my number is ####",
                     .group = "Attack"});
  options.push_back({.name = "secrets",
                     .type = Type::whole,
                     .value = "K",
                     .help = "how many are planted with each number of copies",
                     .fallback = "8",
                     .range = Range::between(1, 10000),
                     .group = "Attack"});
  options.push_back({.name = "copies",
                     .type = Type::list,
                     .value = "C,C,…",
                     .help = "how often a secret stands in the text",
                     .fallback = "1,4,16",
                     .group = "Attack"});
  options.push_back({.name = "candidates",
                     .type = Type::whole,
                     .value = "N",
                     .help = "secrets that are ranked; all, if there are no more",
                     .fallback = "10000",
                     .range = Range::between(10, 1e7),
                     .group = "Attack"});
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "extraction",
          .summary = "secrets that stand in a text, from a model of the text",
          .description =
              "Made-up secrets are planted among the lines, and a model of the text is trained "
              "with and without privacy. All secrets of the pattern are ranked by how likely the "
              "model finds them; exposure is by how many bits the planted one stands before where "
              "chance would put it. THE RESULT IS PRIVATE.",
          .examples = {{"Does a model of messages know numbers by heart?",
                        "sotto attack extraction --text messages.txt --model sequence --epsilon 1 "
                        "--delta 1e-6"}},
          .options = std::move(options),
          .run = run_attack_extraction,
          .usage = "--text FILE --model KIND --epsilon E [options]",
          .selector = "model",
          .variants = kind_variants(Task::transform)};
}

}  // namespace sotto::cli
