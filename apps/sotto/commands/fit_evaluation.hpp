// sotto evaluate for a model without a target: inertia, or the share of the variance that is kept.
#pragma once

#include "options/model_options.hpp"
#include "shell/context.hpp"
#include "sotto/learning/artifact.hpp"

namespace sotto::cli {

// Without a budget the figures as they are, NOT PRIVATE; with one a private release.
void run_fit_evaluation(const Arguments& arguments, Context& context, const Artifact& artifact);

}  // namespace sotto::cli
