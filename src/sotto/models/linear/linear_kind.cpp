#include "sotto/models/linear/linear_kind.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr LinearKind kKinds[] = {LinearKind::logistic, LinearKind::svm, LinearKind::linear};

}  // namespace

std::string_view name(LinearKind kind) {
  switch (kind) {
    case LinearKind::logistic: return "logistic";
    case LinearKind::svm: return "svm";
    case LinearKind::linear: return "linear";
  }
  return "logistic";
}

LinearKind parse_linear_kind(std::string_view text) {
  for (LinearKind kind : kKinds) {
    if (text == name(kind)) return kind;
  }
  throw InvalidArgument(fmt::format("unknown model '{}'", text), "use logistic, svm or linear");
}

Loss loss_of(LinearKind kind) {
  switch (kind) {
    case LinearKind::logistic: return Loss::logistic;
    case LinearKind::svm: return Loss::huber_hinge;
    case LinearKind::linear: return Loss::squared;
  }
  return Loss::logistic;
}

}  // namespace sotto
