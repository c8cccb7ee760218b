#include "sotto/learning/certify.hpp"

#include "sotto/accounting/account.hpp"
#include "sotto/core/version.hpp"

namespace sotto {

Certificate uncertified(const Rng& rng) {
  Certificate c;
  c.version = kVersion;
  c.generator = rng.kind();
  c.noise = "none";
  return c;
}

Certificate certify(const Event& event, Relation relation, double delta, const Rng& rng) {
  Certificate c = uncertified(rng);
  c.spec = Spec{relation, {event}};
  c.delta = delta;
  const Bound bound = guarantee(*c.spec, delta, kCertificateAccounting);
  c.epsilon = bound.upper;
  c.accountant = name(bound.accountant);
  c.conversion = bound.conversion;
  c.noise = noise_of(event);
  if (delta == 0) {  // both theorems say the same without a δ: the sum
    c.epsilon_by = {{"basic", bound.upper}, {"optimal", bound.upper}};
  } else {
    for (const Comparison& line : compare(*c.spec, Delta(delta))) {
      if (line.bound) c.epsilon_by[std::string(name(line.accountant))] = line.bound->upper;
    }
  }
  return c;
}

Bound together_with_draft(const Spec& training, const std::vector<Event>& draft, double delta) {
  Spec both = training;
  both.events.insert(both.events.end(), draft.begin(), draft.end());
  return guarantee(both, delta, kCertificateAccounting);
}

void add_draft(Certificate& c, const Schema& schema) {
  if (!schema.drafted) return;
  const SchemaDraft& draft = *schema.drafted;
  c.draft = {draft.events, draft.epsilon, draft.delta, 0, c.delta + draft.delta};
  c.draft->epsilon_together =
      together_with_draft(*c.spec, draft.events, c.draft->delta_together).upper;
}

Certificate certify_training(const Family& family, const Facts& facts, const TrainingPlan& plan,
                             const TrainedModel& trained, double delta, const Rng& rng) {
  const Explanation explanation = plan.explain();
  Certificate c = uncertified(rng);
  if (trained.event()) {
    c = certify(*trained.event(), plan.relation(), delta, rng);
    c.assumptions = assumptions_of(facts);
    if (facts.encoder) add_draft(c, facts.encoder->schema());
    c.assumptions.insert(c.assumptions.end(), explanation.assumptions.begin(),
                         explanation.assumptions.end());
  }
  c.family = family.name;
  c.unit = name(facts.unit);
  c.method = explanation.method;
  c.description = explanation.words;
  return c;
}

}  // namespace sotto
