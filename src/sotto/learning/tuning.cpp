#include "sotto/learning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/learning/detail/dominating_event.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostStateBytes = std::size_t{1} << 32;

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string unhex(const std::string& text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw DataError("the state of the tuning is damaged");
  };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return bytes;
}

// A part of the budget of a trial; the δ of an (ε, δ) is spent once, on the whole.
Budget training_part(const Budget& trial, bool as_rho, double share, double delta) {
  if (trial.is_pure()) return trial.part(share);
  const double rho = std::get<ZcdpBudget>(trial.kind()).rho.value() * share;
  if (as_rho) return Budget::zcdp(rho);
  return Budget::approximate(gaussian_epsilon_lower(std::sqrt(2 * rho), Delta(delta)), delta);
}

}  // namespace

struct TuningPlan::Trial {
  Candidate candidate;
  Facts facts;
  std::unique_ptr<TrainingPlan> plan;
  bool takes_rho = true;  // else an (ε, δ)
};

struct TuningPlan::Best {
  std::size_t candidate = 0;
  double score = 0;
  std::unique_ptr<Model> model;
};

struct TuningPlan::State {
  std::uint64_t count = 0, next = 0;
  std::optional<Best> best;
  bool done = false;
  std::string token;  // names the finished run in a ledger; says nothing of the trials
};

// Read once: who watches the file would count the trials.
struct TuningPlan::Records {
  const Facts* facts;
  Table table;
  std::unique_ptr<Source> source;
};

TuningPlan::~TuningPlan() = default;

TuningPlan::TuningPlan(TuningRequest request) : request_(std::move(request)) {
  if (request_.candidates.empty()) throw InvalidArgument("there is no candidate to choose from");
  if (request_.candidates.size() > kMostCandidates)
    throw InvalidArgument(fmt::format("there are more than {} candidates", kMostCandidates));
  if (std::holds_alternative<ZcdpBudget>(request_.budget.kind()))
    throw InvalidArgument("the cost of a choice among trials is no rho",
                          "give `epsilon` with `delta`, or `epsilon` alone");
  if (!request_.public_score && !(request_.score_share > 0 && request_.score_share < 1))
    throw InvalidArgument("the share of the score must be above 0 and below 1");
  if (request_.good_enough && !std::isfinite(*request_.good_enough))
    throw InvalidArgument("the score that is good enough must be a finite number");
  for (const Candidate& candidate : request_.candidates) trials_.push_back({candidate, {}, {}});
  const auto* approximate = std::get_if<ApproximateBudget>(&request_.budget.kind());
  plan_trials(solved_budget(approximate != nullptr ? approximate->delta.value() : 0));
  if (request_.good_enough && !request_.public_score && !facts().rows)
    throw InvalidArgument("a private score has a scale only where the number of rows is declared",
                          "declare rows in the schema, or score on public rows");
}

void TuningPlan::plan_trial(Trial& trial, const Budget& budget, double share, double delta) const {
  TrainingRequest asked = request_.base;
  if (!trial.candidate.method.empty()) asked.method = trial.candidate.method;
  OptionValues::Raw raw = trial.candidate.options;
  for (const Option& option : asked.options.declared())
    if (asked.options.given(option.name))
      raw[option.name] = {option.type == OptionType::flag ? "true"
                                                          : asked.options.text(option.name)};
  asked.options = OptionValues(options_of(*request_.family, asked.kind), std::move(raw));
  const auto plan_with = [&] {
    asked.budget = training_part(budget, trial.takes_rho, share, delta);
    trial.facts = request_.facts(asked);
    trial.plan = plan_training(*request_.family, trial.facts, asked);
  };
  try {
    plan_with();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage || budget.is_pure() || !trial.takes_rho) throw;
    trial.takes_rho = false;  // a family that wants ε with δ; else the same error again
    plan_with();
  }
  if (!trial.plan->event())
    throw InvalidArgument(
        fmt::format("the candidate '{}' is NOT PRIVATE", trial.candidate.words()));
}

// All trials for this budget, and the one event that stands for any of them.
void TuningPlan::plan_trials(const Budget& budget) {
  const bool pure = budget.is_pure();
  const auto* approximate = std::get_if<ApproximateBudget>(&request_.budget.kind());
  const double delta = approximate != nullptr ? approximate->delta.value() : 0;
  const double share = request_.public_score ? 1.0 : 1 - request_.score_share;
  std::vector<Event> events;
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    try {
      plan_trial(*trial, budget, share, delta);
    } catch (const Error& error) {
      if (!request_.drop_refused || error.code() != ErrorCode::usage || trials_.size() == 1) throw;
      trial = trials_.erase(trial);
      continue;
    }
    if (trial->plan->relation() != trials_.front().plan->relation())
      throw InvalidArgument("candidates have different relations");
    events.push_back(*trial->plan->event());
    ++trial;
  }
  if (!request_.public_score) {
    score_.emplace(facts(), pure ? budget.part(request_.score_share)
                                 : training_part(budget, true, request_.score_share, delta));
    for (Event& event : events) event = compose({event, score_->event()});
  }
  trial_ = dominating_event(events, relation(), pure, [&](const Event& event) {
    return epsilon(Spec{relation(), {request_.count.event(event)}}, Delta(delta),
                   {.accountant = Accountant::rdp})
        .upper;
  });
  trial_budget_ = budget;
}

// The budget of one trial with which the whole costs no more than it may.
Budget TuningPlan::solved_budget(double delta) {
  if (const auto* pure = std::get_if<PureBudget>(&request_.budget.kind())) {
    if (request_.count.distribution() == SelectionDistribution::poisson)
      throw InvalidArgument("a Poisson number of trials has no guarantee without `delta`",
                            "give `delta`, or another distribution of the number of trials");
    double part = pure->epsilon.value() / (2 + request_.count.shape());
    if (request_.count.mean() == 1) part = pure->epsilon.value();
    for (int attempt = 0; attempt < 40; ++attempt) {
      const Budget budget = Budget::pure(part * (1 - 1e-12));
      plan_trials(budget);
      if (guarantee(Spec{relation(), {*event()}}, 0).upper <= pure->epsilon.value()) return budget;
      part *= 1 - 1e-9 * std::pow(2.0, attempt);
    }
    throw AccountingError("no budget of a trial was found that meets the whole");
  }
  const auto& whole = std::get<ApproximateBudget>(request_.budget.kind());
  const Relation relation = request_.facts(request_.base).relation;
  // The accountant that is sharpest for a known profile, then that for a mere curve.
  AccountOptions asking{.accountant = Accountant::basic};
  const auto guess_for = [&](const std::function<Event(double)>& trial) {
    const Unknown plain{.name = "rho", .at = [&](double rho) {
                          return Spec{relation, {request_.count.event(trial(rho))}};
                        }};
    return calibrate(plain, whole.epsilon, Delta(delta), asking).value * (1 - 1e-6);
  };
  double guess = guess_for([](double rho) { return GdpEvent{std::sqrt(2 * rho)}; });
  plan_trials(Budget::zcdp(guess));  // refusals of the candidates as they are
  if (trial_.get_if<ZcdpEvent>() != nullptr || trial_.get_if<TcdpEvent>() != nullptr) {
    asking.accountant = Accountant::rdp;
    guess = guess_for([](double rho) { return ZcdpEvent{rho}; });
  }
  const Unknown real{.name = "rho", .at = [&](double rho) {
                       plan_trials(Budget::zcdp(rho));
                       return Spec{this->relation(), {*event()}};
                     }};
  return Budget::zcdp(
      confirm(real, guess, Safer::smaller, whole.epsilon, Delta(delta), asking).value);
}

std::optional<Event> TuningPlan::event() const { return request_.count.event(trial_); }
Relation TuningPlan::relation() const { return trials_.front().facts.relation; }
const Facts& TuningPlan::facts() const { return trials_.front().facts; }

const Facts& TuningPlan::chosen_facts() const {
  return state_ && state_->best ? trials_[state_->best->candidate].facts : facts();
}

Explanation TuningPlan::explain() const {
  Explanation e{.method = request_.good_enough ? "first_good_enough" : "private_selection"};
  e.words = fmt::format(
      "{} of a random number of trials ({}), each a candidate drawn from {} and trained with {}; "
      "score: {}",
      request_.good_enough ? fmt::format("the first with a score of {:g}", *request_.good_enough)
                           : std::string("the best"),
      request_.count.describe(), trials_.size(), trial_budget_->describe(),
      score_ ? score_->describe() : request_.score);
  e.figures["trials_mean"] = request_.count.mean();
  e.figures["trials_distribution"] = name(request_.count.distribution());
  if (request_.count.distribution() == SelectionDistribution::truncated_negative_binomial)
    e.figures["trials_shape"] = request_.count.shape();
  e.figures["candidates"] = trials_.size();
  for (const Trial& trial : trials_)
    for (const std::string& assumption : trial.plan->explain().assumptions)
      if (std::find(e.assumptions.begin(), e.assumptions.end(), assumption) == e.assumptions.end())
        e.assumptions.push_back(assumption);
  e.assumptions.push_back("nobody sees how long the tuning took: the number of trials is hidden");
  if (!score_) e.assumptions.push_back("the rows that trials are scored on are public");
  if (state_ && state_->best) {
    const Trial& chosen = trials_[state_->best->candidate];
    e.words +=
        fmt::format("; chosen: {} ({})", chosen.candidate.words(), chosen.plan->explain().words);
    e.figures["chosen"] = Json::object();
    e.figures["chosen"]["method"] = chosen.plan->explain().method;
    for (const auto& [name, values] : chosen.candidate.options)
      e.figures["chosen"][name] = values.front();
    e.figures["score"] = state_->best->score;
  }
  return e;
}

std::string TuningPlan::digest() const {
  Json json = {{"event", to_json(*event())},
               {"good_enough", request_.good_enough ? Json(*request_.good_enough) : Json(nullptr)},
               {"score", score_ ? score_->describe() : request_.score},
               {"candidates", Json::array()}};
  for (const Trial& trial : trials_)
    json["candidates"].push_back(
        {trial.candidate.words(), to_json(*trial.plan->event()), trial.plan->explain().words});
  return sha256(json.dump());
}

void TuningPlan::save(const RunControl& control) const {
  if (!control.checkpoints) return;
  Json json = {{"schema", 1},
               {"type", "tuning"},
               {"plan", digest()},
               {"notes", control.checkpoints->notes},
               {"count", state_->count},
               {"next", state_->next},
               {"done", state_->done},
               {"token", state_->token},
               {"best", nullptr}};
  if (state_->best) {
    Json files = Json::object();
    for (const auto& [name, bytes] : state_->best->model->files()) files[name] = hex(bytes);
    json["best"] = {{"candidate", state_->best->candidate},
                    {"score", state_->best->score},
                    {"files", std::move(files)}};
  }
  replace_secret(control.checkpoints->path, json.dump() + "\n");
}

void TuningPlan::load(RunControl& control) {
  const std::string what = "the state of the tuning";
  const Json json = parse_json(read_whole_file(control.checkpoints->path, kMostStateBytes), what);
  try {
    if (json.at("schema") != 1 || json.at("type") != "tuning")
      throw DataError(what + " was not written by this version");
    if (json.at("plan") != digest())
      throw VerificationFailed("the checkpoint does not belong to this tuning",
                               "resume with the options, grid and budget it was started with");
    control.checkpoints->notes = json.at("notes").get<std::map<std::string, std::string>>();
    state_ = std::make_unique<State>();
    state_->count = json_count(json.at("count"), what);
    state_->next = json_count(json.at("next"), what, state_->count);
    state_->done = json.at("done").get<bool>();
    state_->token = json.at("token").get<std::string>();
    if (const Json& best = json.at("best"); !best.is_null()) {
      const std::size_t candidate = json_count(best.at("candidate"), what, trials_.size() - 1);
      Files files;
      for (const auto& [name, bytes] : best.at("files").items())
        files[name] = unhex(bytes.get<std::string>());
      Facts facts = trials_[candidate].facts;
      state_->best = {candidate, json_number(best.at("score"), what),
                      request_.family->load(files, facts)};
    }
  } catch (const nlohmann::json::exception&) {
    throw DataError(what + " is damaged", "remove it to start again, as another run");
  }
}

void TuningPlan::prepare(RunControl& control, Rng& rng) {
  if (!control.checkpoints) return;
  if (control.checkpoints->resume) {
    load(control);
    if (state_->done) result_ = state_->token;
    return;
  }
  state_ = std::make_unique<State>();
  state_->count = request_.count.sample(rng);
  state_->token = fmt::format("{:016x}{:016x}", rng.next_u64(), rng.next_u64());
  save(control);
}

std::vector<const Facts*> TuningPlan::all_facts() const {
  std::vector<const Facts*> all;
  for (const Trial& trial : trials_) all.push_back(&trial.facts);
  return all;
}

Source& TuningPlan::records_of(const Facts& facts, Source& source) {
  if (!facts.encoder) return source;
  const Schema& schema = facts.encoder->schema();
  const bool first = schema == this->facts().encoder->schema();
  if (first && source.in_memory() != nullptr) return source;
  for (const auto& known : records_)
    if (known->facts->encoder->schema() == schema) return *known->source;
  records_.push_back(std::make_unique<Records>(
      Records{&facts, first ? source.table() : request_.open(facts)->table(), nullptr}));
  records_.back()->source = table_in_memory(records_.back()->table);
  return *records_.back()->source;
}

void TuningPlan::run_trial(Source& source, Rng& rng, RunControl& control) {
  const auto drawn = static_cast<std::size_t>(uniform_below(rng, trials_.size()));
  Trial& trial = trials_[drawn];
  Source* const records = &records_of(trial.facts, source);
  RunControl quiet;  // steps that are shown would count the trials
  quiet.stop = control.stop;
  std::unique_ptr<Model> model = trial.plan->run(*records, rng, quiet).value();
  const double sign = request_.smaller_is_better && !score_ ? -1 : 1;
  double score =
      score_ ? score_->run(*model, *records, rng) : request_.public_score(*model, trial.facts);
  if (!std::isfinite(score)) score = -sign * std::numeric_limits<double>::max();
  const bool wanted = request_.good_enough
                          ? sign * score >= sign * *request_.good_enough
                          : !state_->best || sign * score > sign * state_->best->score;
  if (wanted) state_->best = {drawn, score, std::move(model)};
  ++state_->next;
  // What follows could change nothing any more.
  if (request_.good_enough && state_->best) state_->next = state_->count;
}

TrainedModel TuningPlan::run(Source& source, Rng& rng, RunControl& control) {
  records_.clear();
  if (!control.checkpoints || !state_) {
    state_ = std::make_unique<State>();
    state_->count = request_.count.sample(rng);
  }
  // What cannot be read is refused before the first trial, whatever their number and whichever
  // candidates are drawn: a file that is opened again between trials would tell of them.
  if (!state_->done)
    for (const Facts* each : all_facts()) records_of(*each, source);
  while (!state_->done && state_->next < state_->count) {
    if (control.stop && control.stop())
      throw Error(ErrorCode::interrupted, "the tuning was stopped", "go on with `resume`");
    run_trial(source, rng, control);
    save(control);
  }
  if (!state_->done) {
    state_->done = true;
    save(control);
    result_ = state_->token;
  }
  return finished(state_->best ? std::move(state_->best->model) : nullptr);
}

}  // namespace sotto
