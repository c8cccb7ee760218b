#include "sotto/core/error.hpp"

namespace sotto {

int exit_code(ErrorCode code) { return static_cast<int>(code); }

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::internal: return "internal";
    case ErrorCode::usage: return "usage";
    case ErrorCode::bad_input: return "bad_input";
    case ErrorCode::budget_refused: return "budget_refused";
    case ErrorCode::verification_failed: return "verification_failed";
    case ErrorCode::storage: return "storage";
    case ErrorCode::not_built: return "not_built";
    case ErrorCode::interrupted: return "interrupted";
  }
  return "internal";
}

void invariant_broken(std::string_view what) {
  throw Error(ErrorCode::internal, "internal error: " + std::string(what),
              "this is a defect of sotto; please report it with the command that led here");
}

}  // namespace sotto
