// Certificates: what was guaranteed for a result, computed from its events.
//
// What       certify(): the event of a release, what the accountants say it costs, who made it.
//            certify_training(): the same for a trained model, with what its plan and the facts
//            say.
// Guarantee  The ε written down is an upper bound of what the events cost at the δ beside it.
// Method     The best accountant for the events; all others for comparison.
// Numerics   Computed, and checked again by whoever verifies, to kCertificateAccounting.
// Reference  docs/reference/certificate.md.
#pragma once

#include <string>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/training_plan.hpp"

namespace sotto {

inline const AccountOptions kCertificateAccounting = {.tolerance = kAccountingTolerance};

// The version and the generator; an artifact without events is NOT PRIVATE.
Certificate uncertified(const Rng& rng);
// δ: 0 for a pure ε. The rest is the caller's to fill in.
Certificate certify(const Event& event, Relation relation, double delta, const Rng& rng);

// What the training cost together with the draft of its schema, at the sum of their δ.
Bound together_with_draft(const Spec& training, const std::vector<Event>& draft, double delta);

// Adds what it cost to estimate the schema, where it was estimated: the certificate's own events
// are there already.
void add_draft(Certificate& certificate, const Schema& schema);

// Of a model that this plan has trained. The label of the data, its fingerprint and the entry of a
// ledger are the caller's to fill in.
Certificate certify_training(const Family& family, const Facts& facts, const TrainingPlan& plan,
                             const TrainedModel& trained, double delta, const Rng& rng);

}  // namespace sotto
