// Errors: one hierarchy, each with a message (what, which value, what is allowed), a hint (what to
// do) and an exit code.
//
// A private computation must fail closed: a forgotten check may stop a release, never publish one.
// Hence exceptions.
// Messages name columns, row numbers, options and bounds; they never quote a cell of private data.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sotto {

// The value is the exit code of the command line; this is the only place where the codes are
// written down.
enum class ErrorCode {
  internal = 1,             // a defect of ours
  usage = 2,                // an option or argument that cannot be meant
  bad_input = 3,            // data, schema or configuration that cannot be used
  budget_refused = 4,       // the privacy budget does not cover the request
  verification_failed = 5,  // an audit or a check of an artifact failed
  storage = 6,              // disk, pipe or database
  not_built = 69,           // the feature is not part of this build
  interrupted = 130,        // stopped by the user
};

int exit_code(ErrorCode code);
std::string_view name(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

  ErrorCode code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorCode code_;
  std::string hint_;
};

// A parameter outside its range, or a combination of parameters that has no meaning.
struct InvalidArgument : Error {
  explicit InvalidArgument(const std::string& message, std::string hint = {})
      : Error(ErrorCode::usage, message, std::move(hint)) {}
};

// Something asked for that the algorithm does not support (a relation, a layer, an event for an
// accountant).
struct Unsupported : Error {
  explicit Unsupported(const std::string& message, std::string hint = {})
      : Error(ErrorCode::usage, message, std::move(hint)) {}
};

// A file, table, schema or specification that cannot be used.
struct DataError : Error {
  explicit DataError(const std::string& message, std::string hint = {})
      : Error(ErrorCode::bad_input, message, std::move(hint)) {}
};

// An accountant could not bound the loss; it refuses rather than return nonsense.
struct AccountingError : Error {
  explicit AccountingError(const std::string& message, std::string hint = {})
      : Error(ErrorCode::bad_input, message, std::move(hint)) {}
};

struct BudgetExceeded : Error {
  explicit BudgetExceeded(const std::string& message, std::string hint = {})
      : Error(ErrorCode::budget_refused, message, std::move(hint)) {}
};

struct VerificationFailed : Error {
  explicit VerificationFailed(const std::string& message, std::string hint = {})
      : Error(ErrorCode::verification_failed, message, std::move(hint)) {}
};

struct StorageError : Error {
  explicit StorageError(const std::string& message, std::string hint = {})
      : Error(ErrorCode::storage, message, std::move(hint)) {}
};

struct NotBuilt : Error {
  explicit NotBuilt(const std::string& message, std::string hint = {})
      : Error(ErrorCode::not_built, message, std::move(hint)) {}
};

struct Interrupted : Error {
  explicit Interrupted(const std::string& message = "interrupted")
      : Error(ErrorCode::interrupted, message) {}
};

// Throws an internal error. For broken invariants of ours, never for input.
[[noreturn]] void invariant_broken(std::string_view what);

}  // namespace sotto
