// sotto sweep: the privacy–utility curve. For public or synthetic data; or, with --private, a release that costs all its runs.
#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "../charge.hpp"
#include "deep_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/evaluation.hpp"
#include "sotto/models/linear/training.hpp"

namespace sotto::cli {
namespace {

// Training and test rows under one encoding. Methods may encode differently, so there can be several.
struct Rows {
  Schema schema;  // as asked for, before the split
  std::unique_ptr<Encoder> encoder, test_encoder;
  std::unique_ptr<Table> train, test;
};

void split(Rows& rows, const Table& all, double fraction) {
  const std::vector<bool> held = held_out_rows(all.rows(), fraction);
  Schema schema = rows.schema;
  schema.rows = static_cast<std::uint64_t>(std::count(held.begin(), held.end(), false));
  rows.encoder = std::make_unique<Encoder>(schema);
  rows.train = std::make_unique<Table>(*rows.encoder);
  rows.test = std::make_unique<Table>(*rows.encoder);
  for (std::size_t i = 0; i < held.size(); ++i)
    (held[i] ? *rows.test : *rows.train).append(all, i, 1);
}

class Data {
 public:
  explicit Data(const Arguments& arguments)
      : arguments_(arguments), schema_(schema_of(arguments)) {}

  const Rows& of(const TrainingRequest& request) {
    Schema wanted = with_basis(schema_, request.kind, request.method, request.budget);
    for (const auto& rows : loaded_) {
      if (rows->schema == wanted) return *rows;
    }
    auto rows = std::make_unique<Rows>();
    rows->schema = wanted;
    TableOptions options = table_options(arguments_, wanted);
    const std::string file = arguments_.text("data");
    if (arguments_.given("test")) {
      rows->encoder = std::make_unique<Encoder>(wanted);
      rows->test_encoder = std::make_unique<Encoder>(for_other_data(*rows->encoder));
      rows->train = std::make_unique<Table>(load_table(file, *rows->encoder, options));
      rows->test = std::make_unique<Table>(
          load_table(arguments_.text("test"), *rows->test_encoder, options));
    } else {
      const Encoder all = for_other_data(Encoder(wanted));
      split(*rows, load_table(file, all, options), arguments_.number("test-fraction"));
    }
    loaded_.push_back(std::move(rows));
    return *loaded_.back();
  }
  const Schema& schema() const { return schema_; }

 private:
  const Arguments& arguments_;
  Schema schema_;
  std::vector<std::unique_ptr<Rows>> loaded_;
};

double quality(const LinearModel& model, const Table& test) {
  const Evaluation e = evaluate(model, test);
  return e.is_classification ? e.classification.accuracy : e.regression.r2;
}

// Linear models, one curve for each method.
class LinearSweep final : public SweepSubject {
 public:
  explicit LinearSweep(const Arguments& arguments)
      : kind_(parse_linear_kind(arguments.text("model"))),
        delta_(arguments.maybe_number("delta")),
        data_(arguments) {
    for (const std::string& name : arguments.list("methods")) {
      methods_.push_back(parse_method(name));
      if (methods_.back() == Method::none)
        throw InvalidArgument("--methods holds 'none', which has no epsilon",
                              "the line without privacy is drawn anyway, unless --private");
    }
    chosen_.resize(methods_.size());
  }

  std::vector<std::string> methods() const override {
    std::vector<std::string> names;
    for (const Method method : methods_) names.emplace_back(name(method));
    return names;
  }
  Relation relation() const override { return data_.schema().relation; }
  std::string unit() const override { return std::string(name(data_.schema().unit)); }
  std::optional<std::uint64_t> rows() const override { return data_.schema().rows; }
  std::string target() const override {
    const ColumnSchema* target = data_.schema().target();
    return target != nullptr ? target->name : "?";
  }
  std::string metric() const override { return kind_ == LinearKind::linear ? "r2" : "accuracy"; }

  Event event(std::size_t method, double epsilon) const override {
    const TrainingRequest wanted = request(method, epsilon);
    const Encoder encoder(with_basis(data_.schema(), wanted.kind, wanted.method, wanted.budget));
    return *LinearTraining(encoder, wanted).event();
  }

  std::vector<double> qualities(std::size_t method, double epsilon, std::uint64_t repeats, Rng& rng,
                                const std::function<void()>& done) override {
    const TrainingRequest wanted = request(method, epsilon);
    const Rows& rows = data_.of(wanted);
    const LinearTraining training(*rows.encoder, wanted);
    chosen_[method] = name(training.method());
    std::vector<double> values;
    for (std::uint64_t i = 0; i < repeats; ++i) {
      values.push_back(quality(training.run(*rows.train, rng).model, *rows.test));
      done();
    }
    return values;
  }
  double without_privacy(Rng& rng) override {
    const TrainingRequest wanted{.kind = kind_, .method = Method::none};
    const Rows& rows = data_.of(wanted);
    return quality(LinearTraining(*rows.encoder, wanted).run(*rows.train, rng).model, *rows.test);
  }
  std::string curve(std::size_t method) const override {
    return methods_[method] == Method::automatic ? "auto: " + chosen_[method]
                                                 : std::string(name(methods_[method]));
  }

 private:
  TrainingRequest request(std::size_t method, double epsilon) const {
    return {.kind = kind_,
            .method = methods_[method],
            .budget = delta_ ? Budget::approximate(epsilon, *delta_) : Budget::pure(epsilon)};
  }

  LinearKind kind_;
  std::optional<double> delta_;
  Data data_;
  std::vector<Method> methods_;
  std::vector<std::string> chosen_;  // what "auto" became
};

void run(const Arguments& arguments, Context& context) {
  for (const Option& option : network_options())
    if (arguments.given(option.name))
      throw InvalidArgument(fmt::format("--{} is for networks, not for the model {}", option.name,
                                        arguments.text("model")),
                            "choose --model softmax, mlp or cnn");
  if (arguments.given("batch")) throw InvalidArgument("--batch is for networks here");
  LinearSweep sweep(arguments);
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
  options.push_back(
      {.name = "model",
       .type = Type::choice,
       .value = "KIND",
       .help = "what to fit: a class (logistic, svm), a number (linear), or a network",
       .fallback = "logistic",
       .choices = {"logistic", "svm", "linear", "softmax", "mlp", "cnn"}});
  options.push_back({.name = "methods",
                     .type = Type::list,
                     .value = "A,B",
                     .help = "routes to privacy, one curve each; networks have one",
                     .fallback = "auto"});
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
                     .help = "directory for sweep.csv, sweep.svg and sweep.html"});
  options.push_back({.name = "batch",
                     .type = Type::number,
                     .value = "B",
                     .help = "expected records in a step; default by a public rule",
                     .range = Range::above(0),
                     .group = kNetworkGroup});
  for (Option& option : network_options()) {
    if (!is_about_one_run(option)) options.push_back(std::move(option));
  }
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
                "1e-5 --private --test people.csv --dry-run"},
               {"The curve of a small network",
                "sotto sweep --data people.csv --schema people.toml --model mlp --target city "
                "--epsilons 1,8 --delta 1e-5 --repeats 1 --epochs 2 --out networks"}},
          .options = std::move(options),
          .run = run,
          .usage = "--data FILE [--schema FILE] --epsilons A,B,C --out DIR [options]"};
}

}  // namespace sotto::cli
