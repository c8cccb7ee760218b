// Detail: the releases of a generator in their order, and the model that follows from them.
//
// What       Counts of columns, trends, what pairs and triples hold (dependence_search.hpp), counts
//            of what is worth it; the Markov model of all that, and what a check leaves of it.
// Guarantee  Private data is read by the mechanisms of the setting alone, each once
//            (synthesis_design.hpp); all else is post-processing.
// Reference  docs/math/synthesis.md.
#pragma once

#include "sotto/learning/run_control.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/detail/synthesis_setting.hpp"

namespace sotto {

SynthesisModel synthesis_run(const SynthesisSetting& setting, std::uint32_t bins, Source& source,
                             Rng& rng, RunControl& control);

}  // namespace sotto
