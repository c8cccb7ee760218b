// sotto attack membership: who was in the training data, asked of a model without privacy and of a
// private one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "commands/attack.hpp"
#include "commands/commands.hpp"
#include "commands/many_models.hpp"
#include "commands/training.hpp"
#include "shell/output_file.hpp"
#include "sotto/audit/scores.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/report/roc_page.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// Who is in: fair coins. Under replace_one the number of records is public, so a coin chooses one
// of two neighbours in the file; under the other relations each record has its own.
struct Coins {
  Relation relation;
  std::size_t records;  // even where they come in pairs

  bool in_pairs() const { return relation == Relation::replace_one; }
  std::vector<bool> thrown(Rng& rng) const {
    std::vector<bool> in(records);
    for (std::size_t i = 0; i < records; ++i)
      in[i] = in_pairs() && i % 2 == 1 ? !in[i - 1] : (rng.next_u64() & 1) != 0;
    return in;
  }
  std::uint64_t declared_rows() const {
    return relation == Relation::zero_out ? records : std::max<std::size_t>(1, records / 2);
  }
};

std::shared_ptr<const RecordSet> members_of(const RecordSet& all, const std::vector<bool>& in,
                                            const Facts& facts) {
  auto records = std::make_shared<RecordSet>(RecordSet::none(facts));
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i]) {
      records->append(all, i);
    } else if (facts.relation == Relation::zero_out) {
      records->append_null();
    }
  }
  return records;
}

struct Scored {
  std::size_t target, record;
  bool member;
  double score;
};

// One side of the comparison: what was tried on models by one route.
struct MembershipSide {
  std::string label;
  std::string method;
  std::size_t records = 0;
  std::vector<Scored> scores;
  audit::ScoreAudit found;     // of records
  audit::ScoreAudit of_coins;  // the same, except where a coin decides on two records
  std::vector<std::pair<double, double>> curve;
};

void sum_up(MembershipSide& side, bool in_pairs, double delta, double confidence) {
  std::vector<double> in, out, heads, tails;
  for (std::size_t i = 0; i < side.scores.size(); ++i) {
    const Scored& s = side.scores[i];
    (s.member ? in : out).push_back(s.score);
    if (in_pairs && i % 2 == 0)
      (s.member ? heads : tails).push_back(s.score - side.scores[i + 1].score);
  }
  const audit::ScoreOptions options{.delta = delta, .confidence = confidence};
  side.found = audit::audit_scores(in, out, options);
  side.of_coins = in_pairs ? audit::audit_scores(heads, tails, options) : side.found;
  side.curve = audit::roc_curve(std::move(in), std::move(out));
}

class Game {
 public:
  Game(const Arguments& arguments, Context& context)
      : arguments_(arguments),
        context_(context),
        family_(family_named(arguments)),
        attack_(audit::parse_attack(arguments.text("attack"))),
        targets_(arguments.whole("targets")),
        shadows_(audit::needs_shadows(attack_) ? arguments.whole("shadows") : 0),
        rng_(attack_rng(arguments, context)) {}

  std::vector<MembershipSide> play() {
    const std::vector<Route> routes = both_routes(arguments_, family_);
    Progress progress(context_.progress("training", routes.size() * (targets_ + shadows_)));
    std::uint64_t trained = 0;
    std::vector<MembershipSide> sides;
    for (const auto& [label, request] : routes)
      sides.push_back(one_side(label, request, [&] { progress.advance(++trained); }));
    progress.finish();
    return sides;
  }
  std::size_t shadows() const { return shadows_; }

 private:
  MembershipSide one_side(const std::string& label, const TrainingRequest& request,
                          const std::function<void()>& done) {
    const Facts asked = record_facts(arguments_, family_, request, Forms::any);
    const Facts any = with_rows(asked, std::nullopt);
    const RecordSet read = RecordSet::read(arguments_, any);
    const bool pairs = asked.relation == Relation::replace_one;
    const std::vector<std::size_t> places = chosen_records(read.size(), pairs);
    const Coins coins{asked.relation, places.size()};
    if (coins.records < 20)
      throw DataError("there are fewer than 20 records to attack", "a bound needs hundreds");
    const Facts facts = with_rows(asked, coins.declared_rows());
    const RecordSet all = read.chosen(places, any);

    std::vector<audit::SeenModel> seen(targets_ + shadows_);
    for (audit::SeenModel& model : seen) model.members = coins.thrown(rng_);
    const ManyModels models{
        .plan = [&] { return plan_training(family_, facts, request); },
        .count = seen.size(),
        .data = [&](std::size_t k) { return members_of(all, seen[k].members, facts); },
        .probe = &all,
        .one_thread = family_.host != "sotto",
        .done = done};
    MembershipSide side{.label = label,
                        .method = models.plan()->explain().method,
                        .records = coins.records,
                        .scores = {},
                        .found = {},
                        .of_coins = {},
                        .curve = {}};
    auto sights = sights_of_models(models, rng_);
    for (std::size_t k = 0; k < seen.size(); ++k) seen[k].sights = std::move(sights[k]);
    const std::vector<audit::SeenModel> shadows(seen.begin() + static_cast<long>(targets_),
                                                seen.end());
    for (std::size_t t = 0; t < targets_; ++t) {
      const auto scores = audit::membership_scores(attack_, seen[t].sights, shadows);
      for (std::size_t i = 0; i < scores.size(); ++i)
        side.scores.push_back({t, i, seen[t].members[i], scores[i]});
    }
    sum_up(side, pairs, arguments_.maybe_number("delta").value_or(0),
           arguments_.number("confidence"));
    return side;
  }

  // All, or so many at random: the same for both sides. An even number where they come in pairs.
  const std::vector<std::size_t>& chosen_records(std::size_t all, bool pairs) {
    if (!places_.empty()) return places_;
    places_.resize(all);
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    const std::size_t wanted = arguments_.given("records") ? arguments_.whole("records") : all;
    if (wanted < all) {
      std::shuffle(places_.begin(), places_.end(), std::mt19937_64(rng_.next_u64()));
      places_.resize(wanted);
    }
    if (pairs) places_.resize(places_.size() / 2 * 2);
    return places_;
  }

  const Arguments& arguments_;
  Context& context_;
  const Family& family_;
  audit::Attack attack_;
  std::vector<std::size_t> places_;
  std::size_t targets_, shadows_;
  Rng rng_;
};

std::string title(const Arguments& arguments) {
  return fmt::format("Membership in the data of {} models", arguments.text("model"));
}

std::string subtitle(const Arguments& arguments, const Game& game, std::size_t records) {
  return fmt::format("{}, {} attacked and {} shadow models of random halves of {} records",
                     arguments.text("attack"), arguments.text("targets"), game.shadows(), records);
}

void write_documents(const Arguments& arguments, const Game& game,
                     const std::vector<MembershipSide>& sides) {
  const std::filesystem::path place = arguments.text("out");
  RocReport report{
      .title = title(arguments),
      .subtitle = subtitle(arguments, game, sides.back().records),
      .warning = kPrivateResult,
      .curves = {},
      .claim = RocClaim{arguments.number("epsilon"), arguments.maybe_number("delta").value_or(0)},
      .smallest = 0.5 / static_cast<double>(sides.back().found.nonmembers),
      .columns = {"area under the curve", "found at 0.1\u00a0% false positives", "at 1\u00a0%",
                  "at 10\u00a0%", "ε at least"},
      .facts = {{"attack", arguments.text("attack")},
                {"left end of the curves",
                 "every step is one record, so chance may lift a curve above what is allowed; "
                 "intervals are in the table"},
                {"bound of ε",
                 fmt::format("holds with confidence {:g} %; the coins of the attacked models were "
                             "fair",
                             100 * arguments.number("confidence"))},
                {"claimed", fmt::format("ε = {}, δ = {:g}", arguments.text("epsilon"),
                                        arguments.maybe_number("delta").value_or(0))}}};
  std::string csv = "model,target,record,member,score\n";
  for (const MembershipSide& side : sides) {
    RocCurve curve{.label = side.label, .points = side.curve, .figures = {}};
    curve.figures.push_back(fmt::format("{:.4f}", side.found.auc.value));
    for (const audit::RateAt& r : side.found.tpr_at_fpr)
      curve.figures.push_back(fmt::format(
          "{:.2f}\u00a0% ({:.1f}\u00a0to\u00a0{:.1f})", 100 * r.true_positive_rate.value,
          100 * r.true_positive_rate.lower, 100 * r.true_positive_rate.upper));
    curve.figures.push_back(round_down(side.of_coins.one_run, 3));
    report.curves.push_back(std::move(curve));
    for (const Scored& s : side.scores)
      csv += fmt::format("{},{},{},{},{}\n", side.label, s.target + 1, s.record + 1,
                         s.member ? 1 : 0, s.score);
  }
  write_file(place / "roc.svg", roc_svg(report), Readers::owner);
  write_file(place / "attack.html", roc_html(report), Readers::owner);
  write_file(place / "private_scores.csv", csv, Readers::owner);
}

Json to_json(const MembershipSide& side) {
  Json rates = Json::object(), intervals = Json::object();
  for (const audit::RateAt& r : side.found.tpr_at_fpr) {
    const std::string at = fmt::format("{:g}", r.false_positive_rate);
    rates[at] = r.true_positive_rate.value;
    intervals[at] = {r.true_positive_rate.lower, r.true_positive_rate.upper};
  }
  return {{"label", side.label},
          {"method", side.method},
          {"members", side.found.members},
          {"nonmembers", side.found.nonmembers},
          {"auc", side.found.auc.value},
          {"auc_interval", {side.found.auc.lower, side.found.auc.upper}},
          {"advantage", side.found.advantage},
          {"tpr_at_fpr", rates},
          {"tpr_at_fpr_interval", intervals},
          {"epsilon_lower", side.of_coins.one_run},
          {"ceiling", side.of_coins.one_run_ceiling}};
}

void print(const Arguments& arguments, const Game& game, const std::vector<MembershipSide>& sides,
           Context& context) {
  context.out.print("{}\n{}\n  {}\n\n", context.bold(kPrivateResult), title(arguments),
                    subtitle(arguments, game, sides.back().records));
  const auto line = [&](const std::string& what, auto&& figure) {
    std::string text = fmt::format("{:<31}", what);
    for (const MembershipSide& side : sides) text += fmt::format("  {:<31}", figure(side));
    text.erase(text.find_last_not_of(' ') + 1);
    context.out.print("{}\n", text);
  };
  line("", [](const MembershipSide& s) { return s.label; });
  line("method", [](const MembershipSide& s) { return s.method; });
  line("area under the curve", [](const MembershipSide& s) {
    return fmt::format("{:.4f} ({:.4f} to {:.4f})", s.found.auc.value, s.found.auc.lower,
                       s.found.auc.upper);
  });
  for (std::size_t r = 0; r < sides.front().found.tpr_at_fpr.size(); ++r)
    line(fmt::format("found at {:g} % false positives",
                     100 * sides.front().found.tpr_at_fpr[r].false_positive_rate),
         [&](const MembershipSide& s) {
           const audit::Interval& i = s.found.tpr_at_fpr[r].true_positive_rate;
           return fmt::format("{:.2f} % ({:.2f} to {:.2f})", 100 * i.value, 100 * i.lower,
                              100 * i.upper);
         });
  line("epsilon at least", [&](const MembershipSide& s) {
    return fmt::format("{} (at most {} possible)", round_down(s.of_coins.one_run, 3),
                       round_down(s.of_coins.one_run_ceiling, 3));
  });
  line("claimed", [&](const MembershipSide& s) {
    return &s == &sides.back() ? "epsilon = " + arguments.text("epsilon") : std::string("nothing");
  });
}

void run_attack_membership(const Arguments& arguments, Context& context) {
  make_attack_place(arguments);
  Game game(arguments, context);
  const std::vector<MembershipSide> sides = game.play();
  if (arguments.given("out")) write_documents(arguments, game, sides);
  if (arguments.flag("json")) {
    Json models = Json::array();
    for (const MembershipSide& side : sides) models.push_back(to_json(side));
    context.out.print("{}\n", Json({{"schema", 1},
                                    {"warning", kPrivateResult},
                                    {"attack", arguments.text("attack")},
                                    {"model", arguments.text("model")},
                                    {"targets", arguments.whole("targets")},
                                    {"shadows", game.shadows()},
                                    {"records", sides.back().records},
                                    {"models", models},
                                    {"claim", arguments.number("epsilon")},
                                    {"delta", arguments.maybe_number("delta").value_or(0)},
                                    {"confidence", arguments.number("confidence")}})
                                  .dump());
  } else {
    print(arguments, game, sides, context);
  }
  if (arguments.given("out"))
    context.note(fmt::format("wrote roc.svg, attack.html and private_scores.csv to {}",
                             arguments.text("out")));
  const double bound = sides.back().of_coins.one_run;
  if (bound <= arguments.number("epsilon")) return;
  context.out.flush();
  throw VerificationFailed(
      fmt::format("the claim epsilon = {} is refuted: it is at least {} with confidence {:g} %",
                  arguments.text("epsilon"), round_down(bound),
                  100 * arguments.number("confidence")),
      "look for a wrong sensitivity or too little noise; try sotto audit replay");
}

}  // namespace

Command attack_membership_command() {
  std::vector<Option> options = attacked_model_options();
  options.push_back({.name = "attack",
                     .type = Type::choice,
                     .value = "HOW",
                     .help = "by the loss or entropy alone, or with shadow models",
                     .fallback = "lira",
                     .choices = {"loss", "entropy", "shadow", "lira", "lira_offline",
                                 "lira_offline_density", "rmia"},
                     .group = "Attack"});
  options.push_back({.name = "records",
                     .type = Type::whole,
                     .value = "N",
                     .help = "so many records, chosen at random; default: all",
                     .range = Range::between(20, 1e9),
                     .group = "Attack"});
  options.push_back({.name = "shadows",
                     .type = Type::whole,
                     .value = "K",
                     .help = "shadow models, whose members the attacker knows",
                     .fallback = "32",
                     .range = Range::between(2, 10000),
                     .group = "Attack"});
  options.push_back({.name = "targets",
                     .type = Type::whole,
                     .value = "T",
                     .help = "attacked models, each of its own coins",
                     .fallback = "1",
                     .range = Range::between(1, 1000),
                     .group = "Attack"});
  options.push_back({.name = "confidence",
                     .type = Type::number,
                     .value = "P",
                     .help = "how sure bounds and intervals are to hold",
                     .fallback = "0.95",
                     .range = Range::inside(0.5, 1),
                     .group = "Attack"});
  options.push_back(attack_out_option("directory for roc.svg, attack.html and private_scores.csv"));
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "membership",
          .summary = "who was in the training data, with and without privacy",
          .description =
              "Models are trained on random halves of the data: some are attacked, the others are "
              "the attacker's shadow models. Shown are the area under the curve, how many members "
              "are found at few false alarms, and the epsilon that this proves, beside what was "
              "claimed; exit code 5 when the claim is refuted. THE RESULT IS PRIVATE.",
          .examples = {{"Logistic models, by likelihood ratio",
                        "sotto attack membership --data people.csv --schema people.toml --model "
                        "logistic --target city --epsilon 1 --delta 1e-6 --shadows 4 --out "
                        "attack"},
                       {"Trees, by loss alone",
                        "sotto attack membership --data people.csv --schema people.toml --model "
                        "tree --target city --attack loss --epsilon 1 --delta 1e-6"},
                       {"A network on some of the images of a folder",
                        "sotto attack membership --data mnist --model mlp --records 4000 --epsilon "
                        "1 --delta 1e-5 --shadows 16 --out attack"}},
          .options = std::move(options),
          .run = run_attack_membership,
          .usage = "--data FILE --schema FILE --model KIND --epsilon E [options]",
          .selector = "model",
          .variants = kind_variants(true)};
}

}  // namespace sotto::cli
