// TrainingPlan: how a model will be trained, decided from public facts before a private byte is
// read.
//
// What       event(), relation() and explain() say what will be done and what it costs; prepare()
//            finds what would fail; run() reads the records and is the only maker of a
//            TrainedModel.
// Guarantee  What run() returns costs event(), or is marked as unprotected by its type.
// Method     A Release<unique_ptr<Model>> carries the event of the plan that made it.
// Numerics   As the family's documents say.
// Reference  docs/adr/0011-one-shelf-for-families.md.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/run_control.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {

struct Explanation {
  std::string method;                         // the route to privacy: "gradient"
  std::string reason = {};                    // why this one; empty: there was no choice
  std::string words = {};                     // what will be done
  std::vector<std::string> assumptions = {};  // of the guarantee, beyond those of the facts
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();  // public, for JSON results
};

// A model with what it cost, or one that is marked as unprotected. Artifacts are written from
// nothing else.
using TrainedModel = MaybeRelease<std::unique_ptr<Model>>;

class TrainingPlan {
 public:
  virtual ~TrainingPlan() = default;

  virtual std::optional<Event> event() const = 0;  // none: NOT PRIVATE
  virtual Relation relation() const = 0;
  virtual Explanation explain() const = 0;
  // What a run will take on this machine, in words for a dry run: measured on made-up records, no
  // part of any certificate. Empty: too little to speak of.
  virtual std::string estimate() const { return {}; }

  // Before anything is paid for or read: tries what may fail (the model, its memory) and takes up a
  // checkpoint. Not needed before run().
  virtual void prepare(RunControl&, Rng&) {}
  // Names a result that a resumed checkpoint holds already, so that no data has to be read; or that
  // of a finished run, to which a ledger binds its charge. Empty: nothing of the kind.
  virtual std::string result() const { return {}; }

  // May be called again, to train another model with fresh randomness: another release. Throws
  // Error with the code `interrupted` when control.stop() said so.
  virtual TrainedModel run(Source& source, Rng& rng, RunControl& control) = 0;
  TrainedModel run(Source& source, Rng& rng) {
    RunControl none;
    return run(source, rng, none);
  }

 protected:
  // What run() made, with event() as its cost; marked as unprotected when there is none.
  TrainedModel finished(std::unique_ptr<Model> model) const;
};

}  // namespace sotto
