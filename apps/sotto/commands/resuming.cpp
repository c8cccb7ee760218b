#include "resuming.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/random_source.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// Notes of a checkpoint: which run it belongs to, what was declared about the data, whether a
// ledger pays.
constexpr const char *kRun = "run", *kDeclared = "declared", *kLedger = "ledger";

volatile std::sig_atomic_t stop_asked = 0;
// The first signal ends the run after this step; the next one ends the process, and the last
// checkpoint stands.
void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

std::string fresh_run() {
  std::array<std::byte, 16> bytes{};
  system_random(bytes);
  std::string id;
  for (const std::byte b : bytes) id += fmt::format("{:02x}", std::to_integer<int>(b));
  return id;
}

// Everything the guarantee says about the data, beyond the plan: a resumed run must have been told
// the same.
std::string digest_of(const Facts& facts, const std::string& model, const std::string& dataset) {
  nlohmann::ordered_json json = {{"unit", name(facts.unit)},
                                 {"relation", name(facts.relation)},
                                 {"rows", facts.rows.value_or(0)},
                                 {"max_contributions", facts.contributions},
                                 {"model", model},
                                 {"dataset", dataset}};
  if (facts.encoder) json["encoder"] = to_json(*facts.encoder);
  if (facts.images)
    json["images"] = {facts.images->height, facts.images->width, facts.images->classes};
  return sha256(json.dump());
}

std::string checkpoint_place(const Arguments& arguments) {
  if (arguments.given("checkpoint")) return arguments.text("checkpoint");
  std::string out = arguments.text("out");
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".checkpoint";
}

void check_place(const std::string& place, bool resume) {
  const bool there = fs::exists(place);
  if (there && !resume)
    throw InvalidArgument(
        fmt::format("'{}' is the checkpoint of an earlier run", place),
        "go on with --resume; or remove it to start again, as another run with another --key");
  if (!there && resume)
    throw InvalidArgument(fmt::format("there is no checkpoint '{}' to resume from", place),
                          "leave out --resume to start; the same --key pays once");
}

}  // namespace

Resuming::Resuming(const Arguments& arguments, Context& context, bool resumable, const Facts& facts)
    : arguments_(arguments), resumable_(resumable) {
  control_.progress = [&context](std::uint64_t steps) {
    return context.progress("training", steps);
  };
  control_.tell = [&context](const std::string& line) { context.note(line); };
  if (arguments.given("insecure-seed")) control_.insecure_seed = arguments.whole("insecure-seed");
  if (!resumable_ || arguments.flag("dry-run")) return;
  control_.stop = [] { return stop_asked != 0; };
  const bool timed = find_option(arguments.command(), "checkpoint-seconds") != nullptr;
  const double seconds = timed ? arguments.number("checkpoint-seconds") : 0;
  control_.checkpoints = Checkpoints{
      .path = checkpoint_place(arguments), .seconds = seconds, .resume = arguments.flag("resume")};
  check_place(control_.checkpoints->path, control_.checkpoints->resume);
  declared_ = digest_of(facts, arguments.text("model"),
                        arguments.given("dataset") ? arguments.text("dataset") : "");
}

Ready Resuming::prepare(TrainingPlan& plan, Rng& rng, const Payment& payment) {
  if (!resumable_) {
    plan.prepare(control_, rng);
    return {};
  }
  // A resumed run must take up the reservation of the first one, not make another.
  if (payment.active() && !arguments_.given("key"))
    throw InvalidArgument(
        "a run that can be resumed needs --key with a ledger",
        "give a name of your own to this run; --resume takes it up again with the same key");
  std::map<std::string, std::string>& notes = control_.checkpoints->notes;
  notes = {{kRun, fresh_run()}, {kDeclared, declared_}};
  if (payment.active()) notes[kLedger] = "yes";
  plan.prepare(control_, rng);  // a resumed run gets back the notes of the first
  if (notes[kDeclared] != declared_)
    throw VerificationFailed(
        "the checkpoint does not belong to this run: other facts were declared about the data",
        "resume with the schema, unit, rows and data set the run was started with");
  if (notes[kLedger] == "yes" && !payment.active())
    throw VerificationFailed("the run that is resumed was charged to a ledger, and none is named",
                             "add --ledger, --dataset and --key as in the first call");
  if (payment.active()) notes[kLedger] = "yes";
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  return {.run = notes[kRun], .result = plan.result()};
}

void Resuming::forget() {
  if (!control_.checkpoints || control_.checkpoints->resume) return;
  done();
}

void Resuming::done() {
  std::error_code ignored;
  if (control_.checkpoints) fs::remove(control_.checkpoints->path, ignored);
}

}  // namespace sotto::cli
