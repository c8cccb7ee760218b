// sotto sweep: the privacy–utility curve. For public or synthetic data; or, with --private, a
// release that costs all its runs.
#include "sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "many_models.hpp"
#include "metric.hpp"
#include "paid/charge.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/evaluation.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

// Training and test records under one encoding. Methods may encode differently, so there can be
// several.
struct SweepRecords {
  Facts asked, facts;  // before and after the split, which changes the declared rows
  std::optional<Table> train_table, test_table;
  std::unique_ptr<Source> train, test;
};

class Data {
 public:
  explicit Data(const Arguments& arguments) : arguments_(arguments) {}

  // A column that test rows have beside those of the schema.
  void add_group(std::string column) { extra_groups_.push_back(std::move(column)); }

  SweepRecords& of(const Facts& asked) {
    for (const auto& records : loaded_)
      if (same(records->asked, asked)) return *records;
    auto records = std::make_unique<SweepRecords>();
    records->asked = records->facts = asked;
    if (asked.images) {
      load_images(*records);
    } else {
      load_tables(*records);
    }
    loaded_.push_back(std::move(records));
    return *loaded_.back();
  }

 private:
  static bool same(const Facts& a, const Facts& b) {
    return !a.encoder || a.encoder->schema() == b.encoder->schema();
  }
  void load_images(SweepRecords& records) const {
    records.train = source_of(arguments_, records.facts);
    records.test =
        source_of(arguments_, records.facts, arguments_.given("test") ? "test" : "data", "t10k");
  }
  void load_tables(SweepRecords& records) const {
    const Facts any = with_rows(records.asked, std::nullopt);
    TableOptions options = table_options(arguments_, any.encoder->schema());
    if (arguments_.given("test")) {
      records.train_table = load_table(arguments_.text("data"), *records.asked.encoder, options);
      options.extra_groups = extra_groups_;
      encoders_.push_back(any.encoder);
      records.test_table = load_table(arguments_.text("test"), *any.encoder, options);
    } else {
      options.extra_groups = extra_groups_;
      split(records, load_table(arguments_.text("data"), *any.encoder, options));
    }
    records.train = table_in_memory(*records.train_table);
    records.test = table_in_memory(*records.test_table);
  }
  void split(SweepRecords& records, const Table& all) const {
    const std::vector<bool> held = held_out_rows(all.rows(), arguments_.number("test-fraction"));
    records.facts = with_rows(
        records.asked, static_cast<std::uint64_t>(std::count(held.begin(), held.end(), false)));
    records.train_table.emplace(*records.facts.encoder);
    records.test_table.emplace(*records.facts.encoder);
    for (std::size_t i = 0; i < held.size(); ++i)
      (held[i] ? *records.test_table : *records.train_table).append(all, i, 1);
  }

  const Arguments& arguments_;
  std::vector<std::string> extra_groups_;
  std::vector<std::unique_ptr<SweepRecords>> loaded_;
  mutable std::vector<std::shared_ptr<const Encoder>> encoders_;  // of test tables
};

// Any family, one curve for each method.
class FamilySweep final : public SweepSubject {
 public:
  explicit FamilySweep(const Arguments& arguments)
      : arguments_(arguments),
        family_(family_named(arguments)),
        delta_(arguments.maybe_number("delta")),
        data_(arguments) {
    for (const std::string& name : arguments.list("methods")) {
      const Method* method = find_method(family_, name);
      if (method == nullptr)
        throw InvalidArgument(fmt::format("--methods holds '{}', which the model {} does not have",
                                          name, arguments.text("model")),
                              "see: sotto train --model " + arguments.text("model") + " --help");
      if (name == "none")
        throw InvalidArgument("--methods holds 'none', which has no epsilon",
                              "the line without privacy is drawn anyway, unless --private");
      methods_.push_back(name);
    }
    chosen_.resize(methods_.size());
    facts_ = facts_of(arguments, family_, request(0, std::nullopt));
    metric_ = metric_named(arguments.given("metric") ? arguments.text("metric") : "",
                           facts_.classes().size());
    if (arguments.given("groups")) find_groups(arguments.text("groups"));
  }

  std::vector<std::string> methods() const override { return methods_; }
  Relation relation() const override { return facts_.relation; }
  std::string unit() const override { return std::string(name(facts_.unit)); }
  std::optional<std::uint64_t> rows() const override { return facts_.rows; }
  std::string target() const override {
    if (!facts_.encoder) return "images";
    return facts_.encoder->has_target() ? facts_.encoder->target().column().name : "?";
  }
  std::string metric() const override { return metric_; }
  bool smaller_is_better() const override { return is_loss(metric_); }

  Event event(std::size_t method, double epsilon) const override {
    const TrainingRequest wanted = request(method, epsilon);
    return *plan_training(family_, facts_of(arguments_, family_, wanted), wanted)->event();
  }

  std::vector<double> qualities(std::size_t method, double epsilon, std::uint64_t repeats, Rng& rng,
                                const std::function<void()>& done) override {
    const TrainingRequest wanted = request(method, epsilon);
    SweepRecords& records = data_.of(facts_of(arguments_, family_, wanted));
    const auto plan = plan_training(family_, records.facts, wanted);
    chosen_[method] = plan->explain().method;
    std::vector<double> values;
    GroupRuns* runs = nullptr;
    if (!groups_.empty()) {
      runs = &group_runs_.try_emplace({method, epsilon}, facts_.classes().size(), groups_)
                  .first->second;
      if (!arguments_.flag("private")) runs->set_baseline(baseline(rng));
    }
    for (std::uint64_t i = 0; i < repeats; ++i) {
      const std::vector<ScoredRow> rows = scored(*plan, records, rng);
      values.push_back(measured(metric_, facts_.classes().size(), rows));
      if (runs != nullptr) runs->add(rows);
      done();
    }
    return values;
  }
  const GroupRuns* groups(std::size_t method, double epsilon) const override {
    const auto found = group_runs_.find({method, epsilon});
    return found == group_runs_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> labels() const override { return facts_.classes(); }
  double without_privacy(Rng& rng) override {
    return measured(metric_, facts_.classes().size(), baseline(rng));
  }
  // What "auto" became, where there was a choice.
  std::string curve(std::size_t method) const override {
    const auto choices = std::count_if(family_.methods.begin(), family_.methods.end(), [](auto& m) {
      return m.name != "auto" && m.name != "none";
    });
    return methods_[method] == "auto" && choices > 1 ? "auto: " + chosen_[method] : chosen_[method];
  }

 private:
  TrainingRequest request(std::size_t method, std::optional<double> epsilon) const {
    TrainingRequest wanted = request_of(arguments_, family_, methods_[method]);
    if (epsilon)
      wanted.budget = delta_ ? Budget::approximate(*epsilon, *delta_) : Budget::pure(*epsilon);
    return wanted;
  }

  std::vector<ScoredRow> scored(TrainingPlan& plan, SweepRecords& records, Rng& rng) const {
    const TrainedModel trained = plan.run(*records.train, rng);
    const Model& model = *trained.value();
    std::vector<ScoredRow> rows;
    records.test->each([&](const Block& block) {
      for (ScoredRow& row : model.score(block, group_)) rows.push_back(std::move(row));
    });
    if (by_class_)
      for (ScoredRow& row : rows) row.group = static_cast<std::uint32_t>(row.target);
    return rows;
  }
  // What a model without privacy says of the test rows; with those options that mean something to
  // it.
  const std::vector<ScoredRow>& baseline(Rng& rng) {
    if (!baseline_) {
      const TrainingRequest wanted = fitting_request(arguments_, family_, "none", std::nullopt);
      SweepRecords& records = data_.of(facts_of(arguments_, family_, wanted));
      baseline_ = scored(*plan_training(family_, records.facts, wanted), records, rng);
    }
    return *baseline_;
  }

  void find_groups(const std::string& column) {
    if (facts_.classes().empty())
      throw InvalidArgument("--groups of a sweep is about classes, and the target is a number",
                            "sotto evaluate --groups measures errors by group");
    by_class_ =
        facts_.encoder ? facts_.encoder->target().column().name == column : column == "class";
    if (by_class_) {
      groups_ = facts_.classes();
      return;
    }
    if (!facts_.encoder)
      throw InvalidArgument("--groups of images can only be their class", "write --groups class");
    const auto& declared = facts_.encoder->groups();
    const auto found = std::find_if(declared.begin(), declared.end(), [&](const ColumnEncoder& c) {
      return c.column().name == column;
    });
    if (found == declared.end()) data_.add_group(column);
    groups_ = facts_.encoder->group(column).labels();
    group_ = static_cast<std::size_t>(found - declared.begin());
  }

  const Arguments& arguments_;
  const Family& family_;
  std::optional<double> delta_;
  Data data_;
  Facts facts_;
  std::vector<std::string> methods_;
  std::vector<std::string> chosen_;
  std::string metric_;
  std::vector<std::string> groups_;
  std::optional<std::size_t> group_;  // of the table's group columns
  bool by_class_ = false;
  std::optional<std::vector<ScoredRow>> baseline_;
  std::map<std::pair<std::size_t, double>, GroupRuns> group_runs_;
};

void run_sweep(const Arguments& arguments, Context& context) {
  FamilySweep sweep(arguments);
  run_sweep(arguments, context, sweep);
}

}  // namespace

Command sweep_command() {
  std::vector<Option> options = training_data_options();
  options.push_back({.name = "test",
                     .type = Type::file,
                     .value = "FILE",
                     .help =
                         "public rows to measure on; default: rows held out of the data, or the "
                         "t10k files of a folder of images",
                     .group = "Data"});
  options.push_back({.name = "test-fraction",
                     .type = Type::number,
                     .value = "F",
                     .help = "share of the rows that are held out",
                     .fallback = "0.25",
                     .range = Range::inside(0, 1),
                     .group = "Data"});
  options.push_back(kind_option(true));
  options.push_back({.name = "methods",
                     .type = Type::list,
                     .value = "A,B",
                     .help = "routes to privacy, one curve each",
                     .fallback = "auto"});
  options.push_back(metric_option("what is measured; default: accuracy, or r2 of a number"));
  options.push_back({.name = "groups",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help =
                         "also by groups of the test rows: a categorical column, or the class of "
                         "images"});
  options.push_back({.name = "epsilons",
                     .type = Type::list,
                     .value = "A,B,C",
                     .help = "the budgets to try",
                     .fallback = "0.1,0.3,1,3,10",
                     .group = "Privacy"});
  for (Option& option : budget_options()) {
    if (option.name == "delta") options.push_back(std::move(option));
  }
  options.push_back({.name = "repeats",
                     .type = Type::whole,
                     .value = "R",
                     .help = "runs at each epsilon, for the spread",
                     .fallback = "5",
                     .range = Range::between(1, 10000)});
  options.push_back({.name = "private",
                     .type = Type::flag,
                     .help = "the data is private: state what all runs cost together, draw no line "
                             "without privacy",
                     .group = "Privacy"});
  for (Option& option : payment_options()) options.push_back(std::move(option));
  options.push_back(dry_run_option());
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for sweep.csv, sweep.svg and sweep.html; of groups also "
                             "groups.csv, groups.svg and groups.html"});
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "sweep",
          .summary = "draw the privacy-utility curve, for public or synthetic data",
          .description =
              "Trains at each epsilon several times, measures each model, and draws the mean, the "
              "spread and the line without privacy. It is FOR PUBLIC OR SYNTHETIC DATA ONLY: "
              "choosing a budget or a method by such a curve on private data is a release of all "
              "its runs. With --private that cost is stated, measurement needs a public --test "
              "file, and the line without privacy is left out.",
          .examples =
              {{"The curve of two methods",
                "sotto sweep --data people.csv --schema people.toml --model linear "
                "--methods auto,gradient --epsilons 0.3,1,3 --delta 1e-5 --repeats 2 --out curve"},
               {"What would it cost on private data?",
                "sotto sweep --data people.csv --schema people.toml --model linear --delta "
                "1e-5 --private --test public.csv --dry-run"},
               {"The curve of a small network",
                "sotto sweep --data people.csv --schema people.toml --model mlp --target city "
                "--epsilons 1,8 --delta 1e-5 --repeats 1 --epochs 2 --out networks"}},
          .options = std::move(options),
          .run = run_sweep,
          .usage = "--data FILE [--schema FILE] --epsilons A,B,C --out DIR [options]",
          .selector = "model",
          .variants = kind_variants(true)};
}

}  // namespace sotto::cli
