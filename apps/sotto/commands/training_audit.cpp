#include "commands/training_audit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/attack.hpp"
#include "commands/class_weight_options.hpp"
#include "commands/image_canaries.hpp"
#include "commands/released_scores.hpp"
#include "paid/cost.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/learning/gradient_canaries.hpp"

namespace sotto::cli {
namespace {

// How much of y follows from x, from 0 to 1.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, together = 0, alone = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    together += (x[i] - mean_x) * (y[i] - mean_y);
    alone += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return alone > 0 ? std::clamp(together / alone, 0.0, 1.0) : 0;
}

}  // namespace

TrainingAudit::TrainingAudit(const Arguments& arguments, const Arguments& inner, Context& context)
    : arguments_(arguments),
      inner_(inner),
      context_(context),
      choice_(chosen_model(inner)),
      request_(request_of(inner, choice_)),
      facts_(facts_of(inner, *choice_.family, request_)),
      rng_(attack_rng(arguments, context)),
      random_(rng_.next_u64()) {
  if (facts_.unit == Unit::user && facts_.relation != Relation::add_remove)
    throw Unsupported("canaries that are users can only be added",
                      "audit a schema with relation = \"add_remove\"");
  any_ = with_rows(facts_, std::nullopt);
  const auto plan = new_plan();
  method_ = plan->explain().method;
  if (plan->event()) claim_ = cost_of(*plan->event(), plan->relation(), inner).epsilon;
  if (arguments.given("claim")) claim_ = arguments.number("claim");
}

TrainingFinding TrainingAudit::found() {
  if (by_gradient()) return from_gradients();
  if (facts_.images) return from_images();
  const CsvText text(inner_.text("data"), csv_options(inner_).delimiter);
  Canaries canaries(text, facts_.encoder->schema(), csv_options(inner_).decimal_comma);
  const std::vector<std::string> lines = canary_lines(text, canaries);
  canaries.take_places(lines.size(), random_);
  std::string all = text.header() + "\n";
  for (const std::string& line : lines) all += line + "\n";
  const RecordSet probe = loaded("canaries.csv", all, *any_.encoder);
  return found_in(probe, [&](const std::vector<bool>& in) {
    return loaded("data.csv", canaries.file(lines, in), *facts_.encoder);
  });
}

RecordSet TrainingAudit::loaded(const std::string& name, const std::string& text,
                                const Encoder& encoder) {
  return RecordSet(
      load_table(workshop_.write(name, text), encoder, table_options(inner_, encoder.schema())));
}

std::vector<std::string> TrainingAudit::canary_lines(const CsvText& text,
                                                     const Canaries& canaries) {
  const std::size_t wanted = arguments_.whole("runs") > 1 ? 1 : arguments_.whole("canaries");
  if (!arguments_.given("canary-file"))
    return canaries.made(parse_canary(arguments_.text("canary")), wanted, random_);
  const CsvText given(arguments_.text("canary-file"), text.delimiter());
  if (given.header() != text.header())
    throw DataError(
        fmt::format("'{}' has other columns than the data", arguments_.text("canary-file")),
        "both files need the same header line");
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < given.records(); ++i) lines.push_back(given.record(i));
  check_number(lines.size());
  if (arguments_.whole("runs") > 1) lines.resize(1);
  return lines;
}

void TrainingAudit::check_number(std::size_t canaries) const {
  const std::size_t least = arguments_.whole("runs") > 1 ? 1 : kLeastCanaries;
  if (canaries < least)
    throw DataError(fmt::format("'{}' has {} canaries that can be read; {} are needed",
                                arguments_.text("canary-file"), canaries, least),
                    "one run needs hundreds to prove anything; --runs takes one");
}

std::vector<std::vector<audit::Sight>> TrainingAudit::sights(
    std::size_t count, const RecordSet& probe, std::function<const RecordSet&(std::size_t)> data) {
  Progress progress(context_.progress("training", count));
  std::uint64_t trained = 0;
  const ManyModels models{.plan = [this] { return new_plan(); },
                          .count = count,
                          // Tables outlive the models: nothing is owned.
                          .data =
                              [&](std::size_t k) {
                                return std::shared_ptr<const RecordSet>(
                                    std::shared_ptr<const RecordSet>(), &data(k));
                              },
                          .probe = &probe,
                          .one_thread = choice_.family->host != "sotto",
                          .done = [&] { progress.advance(++trained); }};
  auto all = sights_of_models(models, rng_);
  progress.finish();
  return all;
}

TrainingFinding TrainingAudit::found_in(const RecordSet& probe, const DataWith& data_with) {
  if (white_box()) return from_releases(probe.size(), data_with);
  return arguments_.whole("runs") > 1 ? many_runs(probe, data_with) : one_run(probe, data_with);
}

std::vector<bool> TrainingAudit::coins(std::size_t count) {
  std::vector<bool> in(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = (rng_.next_u64() & 1) != 0;
  // Said before anything is trained. Coins do not depend on the data, and a run that is not made
  // claims nothing.
  const auto heads = static_cast<std::size_t>(std::ranges::count(in, true));
  if (std::min(heads, count - heads) < 2)
    throw InvalidArgument(
        fmt::format("{} of {} canaries would be in, by their coins: both sides need two", heads,
                    count),
        "use more canaries; a bound needs hundreds");
  return in;
}

TrainingFinding TrainingAudit::one_run(const RecordSet& probe, const DataWith& data_with) {
  const std::vector<bool> in = coins(probe.size());
  const RecordSet with = data_with(in), without = data_with(std::vector<bool>(in.size()));
  const std::size_t references = arguments_.whole("references");
  const auto seen = sights(1 + references, probe, [&](std::size_t k) -> const RecordSet& {
    return k == 0 ? with : without;
  });
  std::vector<double> shown, usual(in.size()), members, others;
  for (std::size_t i = 0; i < in.size(); ++i) {
    shown.push_back(seen[0][i].confidence);
    for (std::size_t r = 1; r <= references; ++r)
      usual[i] += seen[r][i].confidence / static_cast<double>(references);
  }
  const double share = slope(usual, shown);
  for (std::size_t i = 0; i < in.size(); ++i)
    (in[i] ? members : others).push_back(shown[i] - share * usual[i]);
  return of_one_run(members, others);
}

TrainingFinding TrainingAudit::many_runs(const RecordSet& probe, const DataWith& data_with) {
  const RecordSet with = data_with({true}), without = data_with({false});
  const auto seen = sights(arguments_.whole("runs"), probe, [&](std::size_t k) -> const RecordSet& {
    return k % 2 == 0 ? with : without;
  });
  std::vector<double> members, others;
  for (std::size_t k = 0; k < seen.size(); ++k)
    (k % 2 == 0 ? members : others).push_back(seen[k][0].confidence);
  return of_many_runs(members, others);
}

TrainingFinding TrainingAudit::of_one_run(const std::vector<double>& members,
                                          const std::vector<double>& others) const {
  TrainingFinding f;
  f.scores = audit::audit_scores(members, others, options());
  f.epsilon_lower = f.scores.one_run;
  f.ceiling = f.scores.one_run_ceiling;
  f.canaries = members.size() + others.size(), f.models = 1, f.in = members.size();
  return f;
}

TrainingFinding TrainingAudit::of_many_runs(const std::vector<double>& members,
                                            const std::vector<double>& others) const {
  TrainingFinding f;
  f.scores = audit::audit_scores(members, others, options());
  f.epsilon_lower = f.scores.clopper_pearson;
  f.ceiling = f.scores.clopper_pearson_ceiling;
  f.canaries = 1, f.models = members.size() + others.size(), f.in = members.size();
  return f;
}

TrainingFinding TrainingAudit::from_releases(std::size_t canaries, const DataWith& data_with) {
  const std::unique_ptr<TrainingPlan> plan = new_plan();
  const auto run = [&](const RecordSet& data, const replay::Recording* follow) {
    const std::unique_ptr<Source> source = data.source();
    return recorded([&](Rng& own) { plan->run(*source, own); }, rng_, follow);
  };
  const std::size_t runs = arguments_.whole("runs");
  const RecordSet none = data_with(std::vector<bool>(canaries));
  Progress progress(context_.progress("training", runs * (2 + canaries)));
  std::uint64_t trained = 0;
  std::vector<double> members, others;
  for (std::size_t r = 0; r < runs; ++r) {
    const std::vector<bool> in = runs > 1 ? std::vector<bool>{r % 2 == 0} : coins(canaries);
    const replay::Recording released = run(data_with(in), nullptr), without = run(none, &released);
    progress.advance(trained += 2);
    for (std::size_t k = 0; k < canaries; ++k) {
      std::vector<bool> one(canaries);
      one[k] = true;
      const replay::Recording with = run(data_with(one), &released);
      (in[k] ? members : others).push_back(log_likelihood_ratio(released, without, with));
      progress.advance(++trained);
    }
  }
  progress.finish();
  return runs > 1 ? of_many_runs(members, others) : of_one_run(members, others);
}

TrainingFinding TrainingAudit::from_images() {
  const RecordSet all = RecordSet::read(inner_, any_);
  const std::size_t wanted = arguments_.whole("runs") > 1 ? 1 : arguments_.whole("canaries");
  const RecordSet probe =
      arguments_.given("canary-file")
          ? given_images(arguments_.text("canary-file"))
          : image_canaries(parse_canary(arguments_.text("canary")), wanted, all, facts_, random_);
  const CanaryPlaces places(probe.size(), all.size(), facts_.relation, random_);
  return found_in(
      probe, [&](const std::vector<bool>& in) { return places.data_with(all, probe, in, facts_); });
}

RecordSet TrainingAudit::given_images(const std::string& folder) const {
  const RecordSet given = RecordSet::images(folder, *any_.images);
  check_number(given.size());
  return arguments_.whole("runs") > 1 ? given.chosen({0}, any_) : given;
}

TrainingFinding TrainingAudit::from_gradients() {
  if (arguments_.given("canary-file"))
    throw InvalidArgument("--canary gradient has no cells, and a --canary-file is given",
                          "leave out one of them");
  const RecordSet all = RecordSet::read(inner_, any_);
  const std::unique_ptr<Source> source = all.source();
  const std::unique_ptr<TrainingPlan> plan = new_plan();
  auto* const canaries = dynamic_cast<GradientCanaries*>(plan.get());
  if (canaries == nullptr)
    throw Unsupported(
        fmt::format("a {} model is not trained by gradients of single records", choice_.kind),
        "choose another --canary");
  const std::size_t runs = arguments_.whole("runs");
  Progress progress(context_.progress("training", runs));
  std::vector<double> members, others;
  for (std::size_t r = 0; r < runs; ++r) {
    const std::vector<bool> in =
        runs > 1 ? std::vector<bool>{r % 2 == 0} : coins(arguments_.whole("canaries"));
    const std::vector<double> scores = canaries->scores_of_canaries(in, *source, rng_);
    for (std::size_t i = 0; i < in.size(); ++i) (in[i] ? members : others).push_back(scores[i]);
    progress.advance(r + 1);
  }
  progress.finish();
  return runs > 1 ? of_many_runs(members, others) : of_one_run(members, others);
}

std::unique_ptr<TrainingPlan> TrainingAudit::new_plan() const {
  return plan_weighted(inner_, *choice_.family, facts_, request_);
}

}  // namespace sotto::cli
