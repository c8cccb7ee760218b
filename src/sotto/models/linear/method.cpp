#include "sotto/models/linear/method.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr LinearKind kKinds[] = {LinearKind::logistic, LinearKind::svm, LinearKind::linear};
constexpr Method kMethods[] = {Method::automatic,   Method::gradient,
                               Method::objective,   Method::output,
                               Method::functional,  Method::sufficient_statistics,
                               Method::exponential, Method::sample_aggregate,
                               Method::input,       Method::none};

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

std::string_view name(Method method) {
  switch (method) {
    case Method::automatic: return "auto";
    case Method::gradient: return "gradient";
    case Method::objective: return "objective";
    case Method::output: return "output";
    case Method::functional: return "functional";
    case Method::sufficient_statistics: return "sufficient_statistics";
    case Method::exponential: return "exponential";
    case Method::sample_aggregate: return "sample_aggregate";
    case Method::input: return "input";
    case Method::none: return "none";
  }
  return "auto";
}

Method parse_method(std::string_view text) {
  for (Method method : kMethods) {
    if (text == name(method)) return method;
  }
  throw InvalidArgument(fmt::format("unknown method '{}'", text),
                        "'sotto train --help' lists the methods");
}

std::span<const Method> all_methods() { return kMethods; }

}  // namespace sotto
