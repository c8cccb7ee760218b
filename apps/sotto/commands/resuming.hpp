// What a training run has from outside: its progress, the signals that stop it, its checkpoint.
//
// A run that is not resumable gets progress alone. For the others the checkpoint is written
// before the reservation that names the run, so that from then on a kill at any moment can be
// resumed and is paid for once.
#pragma once

#include <string>

#include "paid/ritual.hpp"
#include "sotto/learning/family.hpp"

namespace sotto::cli {

class Resuming {
 public:
  // Throws InvalidArgument when --resume and the checkpoint do not go together.
  Resuming(const Arguments& arguments, Context& context, bool resumable, const Facts& facts);

  // Everything but the payment. Throws VerificationFailed when the checkpoint is another run's.
  Ready prepare(TrainingPlan& plan, Rng& rng, const Payment& payment);
  RunControl& control() { return control_; }
  void forget();  // a fresh checkpoint of a run that has not begun
  void done();    // the checkpoint of a run whose model is written

 private:
  const Arguments& arguments_;
  bool resumable_;
  std::string declared_;  // digest of what the guarantee says about the data
  RunControl control_;
};

}  // namespace sotto::cli
