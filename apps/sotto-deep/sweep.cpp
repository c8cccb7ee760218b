// sotto sweep for networks: one curve, each point trained anew.
#include "commands/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data.hpp"
#include "deep_commands.hpp"
#include "score.hpp"
#include "sotto/core/error.hpp"
#include "train_request.hpp"

namespace sotto::cli {
namespace {

class DeepSweep final : public SweepSubject {
 public:
  explicit DeepSweep(const Arguments& arguments)
      : arguments_(arguments), facts_(training_facts(arguments)) {
    if (arguments.given("methods") && arguments.text("methods") != "auto" &&
        arguments.text("methods") != "gradient")
      throw InvalidArgument("networks have one method, gradient", "leave out --methods");
    parameters_ = deep::count_parameters(*deep::Network(facts_.network));
  }

  std::vector<std::string> methods() const override { return {"dp_sgd"}; }
  Relation relation() const override { return facts_.relation; }
  std::string unit() const override { return facts_.unit; }
  std::optional<std::uint64_t> rows() const override { return facts_.rows; }
  std::string target() const override {
    return facts_.encoder ? facts_.encoder->target().column().name : "images";
  }
  std::string metric() const override { return facts_.classification ? "accuracy" : "r2"; }
  Event event(std::size_t, double epsilon) const override {
    return request_at(arguments_, facts_, parameters_, epsilon).plan->event();
  }

  std::vector<double> qualities(std::size_t, double epsilon, std::uint64_t repeats, Rng& rng,
                                const std::function<void()>& done) override {
    load();
    const TrainRequest request = request_at(arguments_, facts_, parameters_, epsilon);
    std::vector<double> values;
    for (std::uint64_t i = 0; i < repeats; ++i) {
      values.push_back(quality(request, rng));
      done();
    }
    return values;
  }
  double without_privacy(Rng& rng) override {
    load();
    return quality(request_at(arguments_, facts_, parameters_, std::nullopt), rng);
  }

 private:
  double quality(const TrainRequest& request, Rng& rng) {
    torch::manual_seed(rng.next_u64());
    deep::Network network(facts_.network);
    const auto objective = [&](const torch::Tensor& x, const torch::Tensor& y) {
      return losses_of(facts_.classification, network->forward(x), y);
    };
    deep::TrainerOptions options = request.trainer;
    options.insecure_seed.reset();  // rng has the seed already, and repeats must differ
    deep::Trainer trainer = request.plan
                                ? deep::Trainer(*network, *request.plan, objective, options)
                                : deep::Trainer(*network, request.plain, objective, options);
    trainer.fit(*train_, rng);
    trainer.parameters_to_release();
    const Evaluation e =
        evaluate(facts_.classification, score_records(network, facts_.encoder.get(), *test_));
    return e.is_classification ? e.classification.accuracy : e.regression.r2;
  }

  // Private data only when it is needed: a dry run reads none.
  void load() {
    if (train_) return;
    if (facts_.encoder) return load_table_parts();
    train_ = image_records(arguments_.text("data"), "train", facts_.network, true);
    test_ = image_records(arguments_.text(arguments_.given("test") ? "test" : "data"), "t10k",
                          facts_.network, true);
  }
  void load_table_parts() {
    const Encoder any = for_other_data(*facts_.encoder);
    const TableOptions options = table_options(arguments_, any.schema());
    const auto read = [&](const char* option, const Encoder& encoder) {
      return table_records(load_table(arguments_.text(option), encoder, options),
                           facts_.classification, true);
    };
    if (arguments_.given("test")) {
      train_ = read("data", *facts_.encoder);
      test_ = read("test", any);
      return;
    }
    const deep::Records all = read("data", any);
    const std::vector<bool> held =
        held_out_rows(static_cast<std::size_t>(all.size()), arguments_.number("test-fraction"));
    std::vector<std::int64_t> kept, out;
    for (std::size_t i = 0; i < held.size(); ++i)
      (held[i] ? out : kept).push_back(static_cast<std::int64_t>(i));
    const auto part = [&](const std::vector<std::int64_t>& which) {
      const deep::Batch b = all.take(which);
      return deep::Records(b.inputs, b.targets);
    };
    train_ = part(kept);
    test_ = part(out);
    facts_.rows = kept.size();  // the data is public here
  }

  const Arguments& arguments_;
  DeepFacts facts_;
  std::uint64_t parameters_ = 0;
  std::optional<deep::Records> train_, test_;
};

}  // namespace

void deep_sweep(const Arguments& arguments, Context& context) {
  DeepSweep sweep(arguments);
  run_sweep(arguments, context, sweep);
}

}  // namespace sotto::cli
