// Detail: the refusal of a model that is not known to treat records one by one.
#pragma once

#include "sotto/core/error.hpp"

namespace sotto::deep {

// Says which operation, where in the module tree if that is known, and what to do instead.
struct NotRowWise : Error {
  explicit NotRowWise(const std::string& message, std::string hint = {})
      : Error(ErrorCode::bad_input, message, std::move(hint)) {}
};

}  // namespace sotto::deep
