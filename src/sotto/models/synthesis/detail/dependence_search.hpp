// Detail: which pairs and triples of columns are looked at, and how much each of them holds.
//
// What       Pairs, all or the best by the exponential mechanism, and a noisy score of each; the
//            same for triples of two columns and the target.
// Guarantee  Private data is read by the mechanisms of the setting alone, each once; what the
//            scores are and by how much a record moves them: synthesis_design.hpp.
// Reference  docs/math/synthesis.md.
#pragma once

#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/measurement_plan.hpp"
#include "sotto/models/synthesis/detail/pair_queries.hpp"
#include "sotto/models/synthesis/detail/synthesis_setting.hpp"
#include "sotto/models/synthesis/detail/triple_queries.hpp"

namespace sotto {

// What was looked at, and how much each holds.
struct Looked {
  std::vector<PairCandidate> pairs;
  std::vector<TripleCandidate> triples;
};

Looked looked_at(const SynthesisSetting& setting, const PairQueries& pairs,
                 const TripleQueries& triples, Source& source, Rng& rng,
                 const SynthesisModel& model);

}  // namespace sotto
