// The functions behind the deep calls.
#pragma once

#include "arguments.hpp"
#include "context.hpp"

namespace sotto::cli {

void deep_train(const Arguments& arguments, Context& context);
void deep_evaluate(const Arguments& arguments, Context& context);
void deep_predict(const Arguments& arguments, Context& context);
void deep_sweep(const Arguments& arguments, Context& context);

}  // namespace sotto::cli
