#include "sotto/learning/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "majority_family_test.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/detail/dominating_event.hpp"

namespace sotto::tuning_test {

using testing::HasSubstr;

const std::string kSchema =
    "rows = 60\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n"
    "[columns.y]\ntype = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = \"target\"\n";

// What ran, and for which budget.
struct Log {
  std::vector<Event> events;
  std::uint64_t stop_after = ~std::uint64_t{0};
};

// The majority with a `weight`: it spends that share of the budget.
class LoggedPlan final : public TrainingPlan {
 public:
  LoggedPlan(std::unique_ptr<TrainingPlan> plan, Log& log) : plan_(std::move(plan)), log_(log) {}
  std::optional<Event> event() const override { return plan_->event(); }
  Relation relation() const override { return plan_->relation(); }
  Explanation explain() const override { return plan_->explain(); }
  using TrainingPlan::run;
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    if (log_.events.size() == log_.stop_after) throw StorageError("the machine went down");
    log_.events.push_back(*event());
    return plan_->run(source, rng, control);
  }

 private:
  std::unique_ptr<TrainingPlan> plan_;
  Log& log_;
};

Family logged_family(Log& log) {
  Family family = test::majority_family();
  family.options[0].range = {.lower = 0, .upper = 1, .open_lower = true};
  const auto plain = family.plan;
  family.plan = [plain, &log](const Facts& facts, const TrainingRequest& asked) {
    TrainingRequest request = asked;
    if (request.options.given("weight"))
      request.budget = request.budget->part(request.options.number("weight"));
    return std::make_unique<LoggedPlan>(plain(facts, request), log);
  };
  return family;
}

class Tuning : public testing::Test {
 protected:
  ~Tuning() override { std::filesystem::remove_all(place_); }

  static Facts facts_of(const std::string& relation) {
    return table_facts(Schema::from_toml("relation = \"" + relation + "\"\n" + kSchema));
  }
  static void add(Table& table, double target) {
    Table::Sink row = table.add_row();
    row.dense[0] = 0.5;
    row.factor = 1;
    table.add_target(target);
  }
  static Table table_of(const Facts& facts, int rows = 60) {
    Table table(*facts.encoder);
    for (int i = 0; i < rows; ++i) add(table, i % 3 == 0 ? 0 : 1);
    return table;
  }
  TuningRequest request(const Budget& budget, const std::string& relation = "add_remove") {
    TuningRequest r;
    r.family = &family_;
    r.base.kind = "majority";
    r.base.method = "laplace";
    r.base.options = OptionValues(family_.options, {});
    r.candidates = {{}, {.method = "", .options = {{"weight", {"0.5"}}}}};
    r.budget = budget;
    const Facts facts = facts_of(relation);
    r.facts = [facts](const TrainingRequest&) { return facts; };
    r.public_score = [](const Model& model, const Facts&) {
      return static_cast<double>(model.files().at("model.json").size());
    };
    return r;
  }

  std::filesystem::path place_ =
      std::filesystem::temp_directory_path() / ("sotto_tuning_" + std::to_string(::getpid()));
  Log log_;
  Family family_ = logged_family(log_);
};

double cost(const TuningPlan& plan, double delta) {
  return guarantee(Spec{plan.relation(), {*plan.event()}}, delta).upper;
}

TEST_F(Tuning, CostsItsBudgetAndNearlyAllOfIt) {
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const double shape : {0.0, 0.5, 1.0}) {
      TuningRequest r = request(Budget::approximate(1, 1e-5), relation);
      r.count = TrialCount::truncated_negative_binomial(shape, 10);
      const TuningPlan plan(r);
      EXPECT_LE(cost(plan, 1e-5), 1) << relation << shape;
      EXPECT_GE(cost(plan, 1e-5), 0.95) << relation << shape;
      r.budget = Budget::pure(1);
      const TuningPlan pure(r);
      EXPECT_LE(cost(pure, 0), 1) << relation << shape;
      EXPECT_GE(cost(pure, 0), 0.999) << relation << shape;
    }
    TuningRequest r = request(Budget::approximate(2, 1e-5), relation);
    r.count = TrialCount::poisson(5);
    EXPECT_LE(cost(TuningPlan(r), 1e-5), 2);
    r.budget = Budget::pure(1);
    EXPECT_THROW(TuningPlan{r}, InvalidArgument);
  }
}

TEST_F(Tuning, ItsEventIsWhatRan) {
  TuningPlan plan(request(Budget::approximate(1, 1e-5)));
  const Event whole = *plan.event();
  const auto* selection = whole.get_if<PrivateSelectionEvent>();
  ASSERT_NE(selection, nullptr);
  EXPECT_EQ(selection->mean, 10);
  EXPECT_EQ(selection->shape, 0);
  EXPECT_EQ(*selection->event, plan.trial_event());
  const Table table = table_of(plan.facts());
  std::map<std::size_t, int> counts;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng = Rng::insecure_seed(seed), same = Rng::insecure_seed(seed);
    log_.events.clear();
    const TrainedModel trained = plan.run(*table_in_memory(table), rng);
    EXPECT_EQ(trained.event(), plan.event());
    // As many as the law said, none of which costs more than the event of a trial.
    EXPECT_EQ(log_.events.size(), TrialCount::truncated_negative_binomial(0, 10).sample(same));
    ++counts[log_.events.size()];
    const RenyiCurve trial(plan.trial_event(), plan.relation());
    for (const Event& event : log_.events)
      for (const double order : {1.01, 1.5, 2.0, 8.0, 64.0, 500.0})
        EXPECT_LE(RenyiCurve(event, plan.relation())(order), trial(order) * (1 + 1e-12));
  }
  EXPECT_GT(counts.size(), 5U);
}

TEST_F(Tuning, DrawsItsCandidatesUniformly) {
  TuningRequest r = request(Budget::approximate(1, 1e-5));
  r.count = TrialCount::truncated_negative_binomial(1, 50);
  TuningPlan plan(r);
  const Table table = table_of(plan.facts());
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng = Rng::insecure_seed(seed);
    plan.run(*table_in_memory(table), rng);
  }
  const auto n = static_cast<double>(log_.events.size());
  const auto first =
      static_cast<double>(std::count(log_.events.begin(), log_.events.end(), log_.events.front()));
  EXPECT_NEAR(first, n / 2, 4.9 * std::sqrt(n) / 2);  // false alarm below 1e-6
}

TEST_F(Tuning, ReleasesTheBestAndNothingOfTheOthers) {
  const auto visible = [&](std::uint64_t seed, std::size_t& trials) {
    TuningRequest r = request(Budget::approximate(1, 1e-5));
    double best = -1;
    r.public_score = [&](const Model& model, const Facts&) {
      const auto score = static_cast<double>(model.files().at("model.json").size() % 7);
      best = std::max(best, score);
      return score;
    };
    TuningPlan plan(r);
    Rng rng = Rng::insecure_seed(seed);
    const Table table = table_of(plan.facts());
    log_.events.clear();
    RunControl control;
    std::string told;
    control.tell = [&](const std::string& line) { told += line; };
    control.progress = [&](std::uint64_t steps) {
      told += std::to_string(steps);
      return ProgressOptions{.label = {}, .total = steps, .enabled = false};
    };
    const TrainedModel trained = plan.run(*table_in_memory(table), rng, control);
    trials = log_.events.size();
    EXPECT_EQ(plan.explain().figures["score"], best);
    EXPECT_EQ(told, "");
    // What leaves, but for the released model and what was chosen.
    const Certificate c = certify_training(family_, plan.chosen_facts(), plan, trained, 1e-5, rng);
    nlohmann::ordered_json json = to_json(c);
    json.erase("description");
    json.erase("digest");
    nlohmann::ordered_json figures = plan.explain().figures;
    figures.erase("chosen");
    figures.erase("score");
    std::string files;
    for (const auto& [name, bytes] : artifact_files(trained, plan.chosen_facts()))
      files += name + ";";
    return json.dump() + figures.dump() + files + plan.result();
  };
  std::size_t trials = 0;
  const std::string first = visible(0, trials);
  std::set<std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    EXPECT_EQ(visible(seed, trials), first);
    seen.insert(trials);
  }
  EXPECT_GT(seen.size(), 5U);
  EXPECT_GT(*seen.rbegin(), 15U);
}

TEST_F(Tuning, APrivateScoreIsPartOfEveryTrial) {
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    TuningRequest r = request(Budget::approximate(1, 1e-5), relation);
    r.public_score = nullptr;
    r.candidates = {{}};
    TuningPlan plan(r);
    EXPECT_LE(cost(plan, 1e-5), 1);
    EXPECT_GE(cost(plan, 1e-5), 0.95);
    ASSERT_NE(plan.trial_event().get_if<ComposeEvent>(), nullptr);
    EXPECT_EQ(plan.trial_event().get_if<ComposeEvent>()->events.size(), 2U);
    // Neighbours: a row more, a row replaced, a row nulled; all on one tape.
    const Table table = table_of(plan.facts());
    Table other = table_of(plan.facts(), relation == "replace_one" ? 59 : 60);
    if (relation == "zero_out") {
      other = table_of(plan.facts(), 59);
      other.add_row().factor = std::numeric_limits<double>::quiet_NaN();
      other.add_target(table.targets()[59]);
    } else {
      add(other, 0);
    }
    const auto run_on = [&](const Table& data) {
      return [&](Rng& rng) { return plan.run(*table_in_memory(data), rng).event(); };
    };
    for (std::uint64_t seed = 0; seed < 12; ++seed)
      EXPECT_EQ(replay::check_neighbours(run_on(table), run_on(other), seed), "") << relation;
  }
}

TEST_F(Tuning, AScoreThatIsNotPaidForIsCaught) {
  // A mutant: a score of the private rows that no event speaks of lets neighbours part ways.
  TuningRequest r = request(Budget::approximate(1, 1e-5));
  const Table* seen = nullptr;
  r.public_score = [&](const Model& model, const Facts&) {
    const Evaluation e = evaluate(true, model.score(*seen));
    return e.classification.rows % 2 == 0 ? 1.0 : 0.0;
  };
  r.good_enough = 0.5;
  TuningPlan plan(r);
  const Table table = table_of(plan.facts());
  Table other = table_of(plan.facts());
  add(other, 0);
  const auto run_on = [&](const Table& data) {
    return [&](Rng& rng) {
      seen = &data;
      return plan.run(*table_in_memory(data), rng).event();
    };
  };
  bool caught = false;
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    caught = caught || !replay::check_neighbours(run_on(table), run_on(other), seed).empty();
  EXPECT_TRUE(caught);
}

TEST_F(Tuning, FirstGoodEnoughStopsThereOrSaysNone) {
  TuningRequest r = request(Budget::approximate(1, 1e-5));
  double next = 0;
  r.public_score = [&](const Model&, const Facts&) { return ++next; };
  r.good_enough = 3;
  TuningPlan plan(r);
  EXPECT_EQ(*plan.event(), *TuningPlan(request(Budget::approximate(1, 1e-5))).event());
  const Table table = table_of(plan.facts());
  bool some = false, none = false;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng = Rng::insecure_seed(seed), same = Rng::insecure_seed(seed);
    const std::uint64_t count = TrialCount::truncated_negative_binomial(0, 10).sample(same);
    next = 0;
    log_.events.clear();
    const TrainedModel trained = plan.run(*table_in_memory(table), rng);
    EXPECT_EQ(trained.value() != nullptr, count >= 3);
    EXPECT_EQ(log_.events.size(), std::min<std::uint64_t>(count, 3));
    EXPECT_EQ(trained.event(), plan.event());
    (count >= 3 ? some : none) = true;
  }
  EXPECT_TRUE(some && none);
}

TEST_F(Tuning, ResumesAKilledRunWithTheSameNumberOfTrials) {
  std::filesystem::create_directories(place_);
  const std::string path = place_ / "state";
  TuningRequest r = request(Budget::approximate(1, 1e-5));
  r.count = TrialCount::truncated_negative_binomial(1, 12);
  const Facts facts = facts_of("add_remove");
  const Table table = table_of(facts);  // refers to the encoder of the facts
  std::set<std::size_t> totals;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng = Rng::insecure_seed(seed), same = Rng::insecure_seed(seed);
    const std::uint64_t count = r.count.sample(same);
    log_ = {};
    log_.stop_after = count / 2;
    {
      TuningPlan killed(r);
      RunControl control;
      control.checkpoints = Checkpoints{.path = path, .notes = {{"run", "mine"}}};
      killed.prepare(control, rng);
      struct stat status {};
      ASSERT_EQ(::stat(path.c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777, 0600U);
      EXPECT_EQ(killed.result(), "");
      EXPECT_THROW(killed.run(*table_in_memory(table), rng, control), StorageError);
    }
    log_.stop_after = ~std::uint64_t{0};
    TuningPlan resumed(r);
    RunControl control;
    control.checkpoints = Checkpoints{.path = path, .resume = true};
    resumed.prepare(control, rng);
    EXPECT_EQ(control.checkpoints->notes["run"], "mine");
    const TrainedModel trained = resumed.run(*table_in_memory(table), rng, control);
    ASSERT_NE(trained.value(), nullptr);
    EXPECT_EQ(log_.events.size(), count);
    totals.insert(count);
    // A finished run needs no data any more and is the same result.
    TuningPlan again(r);
    RunControl last;
    last.checkpoints = Checkpoints{.path = path, .resume = true};
    again.prepare(last, rng);
    EXPECT_EQ(again.result(), resumed.result());
    EXPECT_NE(again.result(), "");
    const Table empty(*again.facts().encoder);
    EXPECT_EQ(again.run(*table_in_memory(empty), rng, last).value()->files(),
              trained.value()->files());
    // Another plan does not take it up.
    TuningRequest changed = r;
    changed.budget = Budget::approximate(2, 1e-5);
    TuningPlan stranger(changed);
    RunControl theirs;
    theirs.checkpoints = Checkpoints{.path = path, .resume = true};
    EXPECT_THROW(stranger.prepare(theirs, rng), VerificationFailed);
    std::filesystem::remove(path);
  }
  EXPECT_GT(totals.size(), 4U);
}

TEST_F(Tuning, RefusesWhatCannotBeMeant) {
  const auto refusal = [](const TuningRequest& r) -> std::string {
    try {
      TuningPlan plan(r);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  TuningRequest r = request(Budget::zcdp(0.1));
  EXPECT_THAT(refusal(r), HasSubstr("no rho"));
  r = request(Budget::pure(1));
  r.candidates.clear();
  EXPECT_THAT(refusal(r), HasSubstr("no candidate"));
  r.candidates.assign(kMostCandidates + 1, {});
  EXPECT_THAT(refusal(r), HasSubstr("more than"));
  r = request(Budget::pure(1));
  r.candidates = {{}, {.method = "none", .options = {}}};
  EXPECT_THAT(refusal(r), HasSubstr("none"));
  r = request(Budget::pure(1));
  r.candidates = {{}, {.method = "", .options = {{"weight", {"7"}}}}};
  EXPECT_THAT(refusal(r), HasSubstr("weight"));
  r.drop_refused = true;
  EXPECT_EQ(refusal(r), "accepted");
  r = request(Budget::pure(1));
  int asked = 0;
  const Facts one = facts_of("add_remove"), two = facts_of("replace_one");
  r.facts = [&](const TrainingRequest&) { return ++asked % 2 == 1 ? one : two; };
  EXPECT_THAT(refusal(r), HasSubstr("different relations"));
}

TEST(DominatingEvent, LiesAboveAllCurves) {
  const auto free = [](const Event&) { return 1.0; };
  const std::vector<std::vector<Event>> sets = {
      {DiscreteGaussianEvent{10, 1}, repeat(DiscreteGaussianEvent{30, 1}, 4)},
      {DiscreteLaplaceEvent{5, 1}, DiscreteGaussianEvent{9, 1}, PureEvent{0.1}},
      {repeat(poisson_sampled(GaussianEvent::from_multiplier(1.5), 0.01), 100),
       repeat(poisson_sampled(GaussianEvent::from_multiplier(1.0), 0.003), 300)},
      {ExponentialEvent{0.3}, ZcdpEvent{0.01}}};
  for (const auto& events : sets) {
    const Event bound = dominating_event(events, Relation::add_remove, false, free);
    const RenyiCurve above(bound, Relation::add_remove);
    double last = 64;
    if (const auto* t = bound.get_if<TcdpEvent>()) last = t->omega;
    for (const Event& event : events) {
      const RenyiCurve curve(event, Relation::add_remove);
      for (double order = 1.003; order < last * 0.999; order *= 1.01)
        EXPECT_LE(curve(order), above(order) * (1 + 1e-12)) << event.name() << " " << order;
    }
  }
  // Gaussians on a fine lattice: of the largest μ, of which a loss distribution is known.
  const DiscreteGaussianEvent fine{20, 1, 0x1p-30, 10};
  const Event gaussian =
      dominating_event({repeat(fine, 9), compose({GdpEvent{0.1}, ApproximateEvent{0, 1e-15}})},
                       Relation::add_remove, false, free);
  const auto* parts = gaussian.get_if<ComposeEvent>();
  ASSERT_NE(parts, nullptr);
  EXPECT_NEAR(parts->events.at(0).get_if<GdpEvent>()->mu, 0.15, 1e-6);
  EXPECT_GE(parts->events.at(0).get_if<GdpEvent>()->mu, 0.15);
  EXPECT_EQ(parts->events.at(1).get_if<ApproximateEvent>()->delta, 1e-15);
  // Where δ is less than the failures of such a lattice, equal events stand for themselves, and
  // others for their largest ρ.
  const auto tiny_delta = [](const Event& event) {
    return epsilon(Spec{Relation::add_remove, {event}}, Delta(1e-200),
                   {.accountant = Accountant::rdp})
        .upper;
  };
  const Event nine = repeat(fine, 9);
  EXPECT_NE(dominating_event({nine, nine}, Relation::add_remove, false, free), nine);
  EXPECT_EQ(dominating_event({nine, nine}, Relation::add_remove, false, tiny_delta), nine);
  const Event different =
      dominating_event({nine, repeat(fine, 4)}, Relation::add_remove, false, tiny_delta);
  EXPECT_NE(different.get_if<ZcdpEvent>(), nullptr);
  EXPECT_EQ(dominating_event({PureEvent{1}, PureEvent{1}}, Relation::add_remove, false, free),
            Event(PureEvent{1}));
  const Event pure =
      dominating_event({PureEvent{1}, repeat(PureEvent{0.4}, 3)}, Relation::add_remove, true, free);
  ASSERT_NE(pure.get_if<PureEvent>(), nullptr);
  EXPECT_NEAR(pure.get_if<PureEvent>()->epsilon, 1.2, 1e-12);
  EXPECT_THROW(dominating_event({PureEvent{1}, ApproximateEvent{1, 1e-6}}, Relation::add_remove,
                                false, free),
               Unsupported);
}

}  // namespace sotto::tuning_test
