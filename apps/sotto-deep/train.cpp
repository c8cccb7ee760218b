// sotto train --model {softmax,mlp,cnn}: plan, train under checkpoints, write the artifact.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "artifact.hpp"
#include "certify.hpp"
#include "charge.hpp"
#include "commands/budget_options.hpp"
#include "deep_commands.hpp"
#include "fingerprinting.hpp"
#include "signing.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/source_error.hpp"
#include "sotto/deep/training/checkpoint.hpp"
#include "train_request.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

volatile std::sig_atomic_t stop_asked = 0;
// The first signal ends the run after this step; the next one ends the process, and the last checkpoint stands.
void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Certificate certificate(const TrainRequest& request, const DeepFacts& facts,
                        const deep::Trainer& trainer, const Arguments& arguments, const Rng& rng,
                        const Payment& payment) {
  const auto event = trainer.event();
  Certificate c =
      event ? certify(*event, facts.relation, arguments.number("delta"), rng) : uncertified(rng);
  if (event) {
    c.assumptions = {
        facts.encoder
            ? fmt::format("the schema (columns, bounds, categories, {} rows) is public and was "
                          "not read from this data",
                          facts.rows)
            : fmt::format("{} images of {}x{} pixels in {} classes are declared, public figures",
                          facts.rows, facts.network.input[1], facts.network.input[2],
                          facts.network.outputs),
        "the sampled batches and unfinished checkpoints stay secret",
        trainer.rounding_is_proved()
            ? fmt::format("arithmetic on a batch computes each row from that row alone, as it did "
                          "for made-up records before the first step; no step has more than {} "
                          "records; all other rounding is charged",
                          deep::seats_for(trainer.expected_batch()))
            : std::string(
                  "rounding in 32-bit gradients moves a clipped sum by less than 1 % of the "
                  "clip norm, which is charged (proved for small batches, measured "
                  "beyond)")};
    if (request.plan->options().noise == deep::NoiseKind::bulk)
      c.assumptions.push_back(
          "noise is drawn and added in floating point (--noise exact avoids this)");
  }
  c.unit = facts.unit;
  c.method = request.plan ? "dp_sgd" : "none";
  c.description = request.plan ? request.plan->describe() : "plain training, NOT PRIVATE";
  c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
  c.ledger = payment.reference();
  if (arguments.given("insecure-seed")) c.generator = "insecure_seed";
  return c;
}

Json summary(const TrainRequest& request, const DeepFacts& facts, const Arguments& arguments,
             std::uint64_t parameters, double epsilon) {
  Json json = {{"schema", 1}, {"epsilon", nullptr}, {"delta", nullptr}};
  if (request.plan) json["epsilon"] = epsilon, json["delta"] = arguments.number("delta");
  json["method"] = request.plan ? "dp_sgd" : "none";
  json["model"] = arguments.text("model");
  json["relation"] = name(facts.relation);
  json["parameters"] = parameters;
  json["rows"] = facts.rows;
  json["sampling"] = name(request.plain.sampling);
  json["batch"] = request.plain.batch;
  json["steps"] = request.plan ? request.plan->steps() : request.plain.steps;
  if (request.plan) {
    json["noise_multiplier"] = request.plan->noise_multiplier();
    json["noise"] = name(request.plan->options().noise);
    json["clip"] = request.plan->options().clip;
  } else {
    json["warning"] = "NOT PRIVATE";
  }
  json["optimizer"] = deep::to_json(request.trainer.optimizer);
  return json;
}

std::string promise(const TrainRequest& request, const DeepFacts& facts, double epsilon,
                    double delta) {
  if (!request.plan) return "NOT PRIVATE: no noise, no guarantee";
  return fmt::format("epsilon = {}, delta = {} ({}, unit: one {})", round_up(epsilon),
                     round_up(delta), name(facts.relation), facts.unit);
}

// ε so far for the progress line, asked of the accountant a few dozen times in a run.
class EpsilonSoFar {
 public:
  explicit EpsilonSoFar(double delta) : delta_(delta) {}
  std::string note(const deep::Trainer& trainer) {
    if (!trainer.is_private()) return "NOT PRIVATE";
    if (trainer.done() >= next_) {
      epsilon_ = trainer.epsilon(delta_, {.tolerance = 1e-2, .upper_only = true}).upper;
      next_ = trainer.done() + std::max<std::uint64_t>(1, trainer.planned() / 25);
    }
    return fmt::format("epsilon {:.3f}", epsilon_);
  }

 private:
  double delta_, epsilon_ = 0;
  std::uint64_t next_ = 0;
};

class Run {
 public:
  Run(const Arguments& arguments, Context& context, deep::Trainer& trainer, std::string checkpoint,
      deep::Notes notes)
      : arguments_(arguments),
        context_(context),
        trainer_(trainer),
        checkpoint_(std::move(checkpoint)),
        notes_(std::move(notes)) {}

  void save() const { deep::save_checkpoint(checkpoint_, trainer_, notes_); }

  void fit(const deep::Records& records, Rng& rng) const {
    std::signal(SIGINT, ask_to_stop);
    std::signal(SIGTERM, ask_to_stop);
    ProgressOptions shown = context_.progress("training", trainer_.planned());
    shown.first = trainer_.done();
    Progress progress(std::move(shown));
    EpsilonSoFar epsilon(arguments_.maybe_number("delta").value_or(0));
    const double every = arguments_.number("checkpoint-seconds");
    const auto start = Clock::now();
    auto saved = start;
    const std::uint64_t first = trainer_.done();
    const double batch = trainer_.expected_batch();
    trainer_.fit(records, rng, [&](const deep::Trainer& t) {
      if (!context_.quiet) {
        // The expected batch, not the true one, which is private.
        const double speed =
            static_cast<double>(t.done() - first) * batch / std::max(seconds_since(start), 1e-9);
        std::string note = fmt::format("{}, {:.0f} examples/s", epsilon.note(t), speed);
        if (arguments_.flag("show-private-loss"))
          note += fmt::format(", loss {:.4f} NOT PRIVATE", t.private_loss());
        progress.advance(t.done(), note);
      }
      if (seconds_since(saved) >= every) {
        save();
        saved = Clock::now();
      }
      return stop_asked == 0;
    });
    progress.stop();
    save();  // what waits for the ledger's word is kept before it is asked
    if (trainer_.done() < trainer_.planned())
      throw Error(ErrorCode::interrupted,
                  fmt::format("interrupted after step {} of {}; the state is in '{}'",
                              trainer_.done(), trainer_.planned(), checkpoint_),
                  "the same command with --resume goes on");
  }

 private:
  const Arguments& arguments_;
  Context& context_;
  deep::Trainer& trainer_;
  std::string checkpoint_;
  deep::Notes notes_;
};

// Notes of a checkpoint: which run it belongs to, what was declared about the data, whether a ledger pays.
constexpr const char *kRun = "run", *kDeclared = "declared", *kLedger = "ledger";

std::string fresh_run() {
  std::array<std::byte, 16> bytes{};
  system_random(bytes);
  std::string id;
  for (const std::byte b : bytes) id += fmt::format("{:02x}", std::to_integer<int>(b));
  return id;
}

// Everything the guarantee says about the data, beyond the plan: a resumed run must have been told the same.
std::string declared_of(const DeepFacts& facts, const Arguments& arguments) {
  Json json = {{"unit", facts.unit},
               {"relation", name(facts.relation)},
               {"rows", facts.rows},
               {"network", deep::to_json(facts.network)},
               {"dataset", arguments.given("dataset") ? arguments.text("dataset") : ""}};
  if (facts.encoder) {
    json["encoder"] = to_json(*facts.encoder);
    json["max_contributions"] = facts.encoder->schema().max_contributions;
  }
  return sha256(json.dump());
}

deep::Notes resumed_notes(const std::string& checkpoint, deep::Trainer& trainer,
                          const std::string& declared, const Payment& payment) {
  deep::Notes notes = deep::load_checkpoint(checkpoint, trainer);
  if (notes[kDeclared] != declared)
    throw VerificationFailed(
        "the checkpoint does not belong to this run: other facts were declared about the data",
        "resume with the schema, unit, rows and data set the run was started with");
  if (notes[kLedger] == "yes" && !payment.active())
    throw VerificationFailed("the run that is resumed was charged to a ledger, and none is named",
                             "add --ledger, --dataset and --key as in the first call");
  return notes;
}

// Names the state behind a finished run: another continuation of the same checkpoint has another one.
std::string result_of(const deep::Trainer& trainer) {
  return sha256(deep::to_safetensors(trainer.state()));
}

// fresh: a checkpoint to remove when nothing has begun: the reservation was refused, or given back.
deep::Records paid_records(const Arguments& arguments, Context& context, const DeepFacts& facts,
                           Payment& payment, const std::string& fresh) {
  const auto forget = [&] {
    std::error_code ignored;
    if (!fresh.empty()) fs::remove(fresh, ignored);
  };
  try {
    payment.reserve(context);
  } catch (...) {
    forget();
    throw;
  }
  try {
    return payment.guard([&] { return training_records(arguments, facts); });
  } catch (const SourceError&) {
    forget();
    throw;
  } catch (const DataError&) {  // a reservation that stays open is taken up by this run only
    if (!payment.active()) forget();
    throw;
  }
}

std::string checkpoint_place(const Arguments& arguments) {
  if (arguments.given("checkpoint")) return arguments.text("checkpoint");
  std::string out = arguments.text("out");
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".checkpoint";
}

void check_places(const Arguments& arguments) {
  if (!arguments.given("out"))
    throw InvalidArgument("sotto train needs --out DIR, the place of the model",
                          "or --dry-run to see the cost only");
  check_artifact_place(arguments.text("out"));
  const std::string place = checkpoint_place(arguments);
  const bool there = fs::exists(place);
  if (there && !arguments.flag("resume"))
    throw InvalidArgument(
        fmt::format("'{}' is the checkpoint of an earlier run", place),
        "go on with --resume; or remove it to start again, as another run with another --key");
  if (!there && arguments.flag("resume"))
    throw InvalidArgument(fmt::format("there is no checkpoint '{}' to resume from", place),
                          "leave out --resume to start; the same --key pays once");
}

void print_dry_run(const Json& summary, const TrainRequest& request, const DeepFacts& facts,
                   const Arguments& arguments, Context& context, double epsilon) {
  Json json = summary;
  json["dry_run"] = true;
  if (request.plan) json["event"] = to_json(request.plan->event());
  if (arguments.flag("json")) {
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n",
                    promise(request, facts, epsilon, arguments.maybe_number("delta").value_or(0)),
                    request.plan ? request.plan->describe() : "plain training");
}

}  // namespace

void deep_train(const Arguments& arguments, Context& context) {
  const auto start = Clock::now();
  const bool dry = arguments.flag("dry-run");
  if (!dry) check_places(arguments);
  const DeepFacts facts = training_facts(arguments);
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  torch::manual_seed(rng.next_u64());  // initial weights
  deep::Network network(facts.network);
  const std::uint64_t parameters = deep::count_parameters(*network);
  check_delta(arguments, facts.rows, "declared rows", context);
  const TrainRequest request = train_request(arguments, facts, parameters);
  const double delta = arguments.maybe_number("delta").value_or(0);
  const double cost = request.plan ? request.plan->epsilon(request.plan->steps(), delta).upper : 0;
  Json json = summary(request, facts, arguments, parameters, cost);
  Payment payment(
      arguments,
      request.plan ? std::optional(request.plan->spec(request.plan->steps())) : std::nullopt,
      facts.unit);
  if (dry) {
    payment.quote(context, json);
    return print_dry_run(json, request, facts, arguments, context, cost);
  }
  // A resumed run must take up the reservation of the first one, not make another.
  if (payment.active() && !arguments.given("key"))
    throw InvalidArgument(
        "training a network against a ledger needs --key",
        "give a name of your own to this run; --resume takes it up again with the same key");
  const std::string key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
  const std::string fingerprint_key = read_fingerprint_key(arguments);
  const auto objective = [&](const torch::Tensor& x, const torch::Tensor& y) {
    return losses_of(facts.classification, network->forward(x), y);
  };
  deep::Trainer trainer = request.plan
                              ? deep::Trainer(*network, *request.plan, objective, request.trainer)
                              : deep::Trainer(*network, request.plain, objective, request.trainer);
  const std::string checkpoint = checkpoint_place(arguments);
  const bool resumed = arguments.flag("resume");
  const std::string declared = declared_of(facts, arguments);
  deep::Notes notes = {{kRun, fresh_run()}, {kDeclared, declared}};
  if (resumed) {
    notes = resumed_notes(checkpoint, trainer, declared, payment);
    context.note(fmt::format("resuming after step {} of {}", trainer.done(), trainer.planned()));
  }
  if (payment.active()) notes[kLedger] = "yes";
  payment.belongs_to(notes[kRun]);
  const Run run(arguments, context, trainer, checkpoint, notes);
  if (trainer.done() < trainer.planned()) {
    trainer.prepare(no_records(facts));
    run.save();  // before the reservation that names this run: from here on a kill at any moment can be resumed
    run.fit(paid_records(arguments, context, facts, payment, resumed ? "" : checkpoint), rng);
  } else {
    payment.reserve(context, result_of(trainer));
  }
  const std::string result = result_of(trainer);
  trainer.parameters_to_release();
  const std::string fingerprint = fingerprint_of_data(arguments, fingerprint_key);
  payment.commit(context, result);
  payment.add_to(json);
  Certificate c = certificate(request, facts, trainer, arguments, rng, payment);
  c.fingerprint = fingerprint;
  write_deep_artifact(arguments.text("out"), network, facts.encoder.get(), c,
                      arguments.flag("torchscript"));
  sign_artifact(arguments.text("out"), key);
  std::error_code ignored;
  fs::remove(checkpoint, ignored);

  const double seconds = seconds_since(start);
  if (arguments.flag("json")) {
    json["seconds"] = seconds;
    json["out"] = arguments.text("out");
    if (seeded && request.plan) json["warning"] = kInsecure;
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("{} model in {}\n  guarantee  {}\n  plan       {}\n  time       {:.2f} s\n",
                    arguments.text("model"), context.bold(arguments.text("out")),
                    promise(request, facts, cost, delta),
                    request.plan ? request.plan->describe() : "plain training", seconds);
  if (seeded) context.out.print("  {}\n", kInsecure);
  context.note("next: sotto evaluate --model " + arguments.text("out") + " --data TEST");
}

}  // namespace sotto::cli
