// Detail: one operation that is about to run on records, as its rule sees it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <string>

#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep::rows {

struct Call;
using Rule = void (*)(Call&);

// What is known of an operation, from its schema and the table of rules; found once.
struct Operation {
  enum class Kind {
    refused,    // no rule
    ruled,      // checked by a rule, then run as a whole
    composite,  // made of others, which come by one after the other
    view,       // geometry decides
    metadata,   // reads no values
    equal,      // answered from geometry
  };
  Kind kind = Kind::refused;
  std::string name, base;  // "aten::sum.dim_IntList", "sum"
  Rule rule = nullptr;
  bool libtorch = false;       // not an operation of somebody's own
  bool intercepted = false;    // a layer, whose own kernel takes over
  bool uninitialized = false;  // memory comes as it is, and may hold what others left
  bool never = false;          // not with public operands either
  std::size_t arguments = 0;
  c10::SmallVector<int, 2> written,
      outputs;  // arguments written to; those that are only written (out=)
  int dim = -1, keepdim = -1, reduction = -1;  // places of the arguments of these names
};

const Operation& operation_of(const c10::OperatorHandle& handle);
// Makes sure that dispatch.cpp is linked, whose registration nothing else names. Without it every
// pass would be refused.
void register_dispatch();

struct Operand {
  int argument, item;  // item: place in a list of tensors, below 0 without one
  const at::Tensor* tensor;
  Axis axis;
};

struct Call {
  Pass& pass;
  const c10::OperatorHandle& handle;
  const Operation& operation;
  const c10::IValue* arguments;
  c10::SmallVector<Operand, 6> operands = {};  // all tensors but out= ones
  // The answer: the axis in every result, of which the last counts for the rest.
  c10::SmallVector<Axis, 2> results = {};

  const at::Tensor& tensor(int argument) const { return arguments[argument].toTensor(); }
  std::int64_t rank(int argument) const { return tensor(argument).dim(); }
  Axis axis(int argument) const {
    for (const Operand& o : operands)
      if (o.argument == argument && o.item < 0) return o.axis;
    return kPublic;
  }
  std::int64_t whole(int argument) const { return arguments[argument].toInt(); }
  // An argument that names an axis.
  int dim(int argument, std::int64_t rank) const {
    const std::int64_t d = whole(argument);
    return static_cast<int>(d < 0 ? d + std::max<std::int64_t>(rank, 1) : d);
  }
  // Refuses records in any operand but these.
  void only(std::initializer_list<int> allowed, const char* why) const {
    for (const Operand& o : operands)
      if (o.axis.holds_records() &&
          std::find(allowed.begin(), allowed.end(), o.argument) == allowed.end())
        refuse(why);
  }
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const {
    pass.refuse(why, hint);
  }
};

template <class Visit>
void for_tensors(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor(), -1);
  } else if (value.isList()) {
    const auto list = value.toListRef();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].isTensor() && list[i].toTensor().defined())
        visit(list[i].toTensor(), static_cast<int>(i));
  }
}

}  // namespace sotto::deep::rows
