// Every rule is audited by machine: the call is repeated with all records but one changed, and the
// rows of that one must not move. Operations for which private passes have kernels of their own are
// audited with these too (Kernels::recording), derivatives by the records included.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <sstream>

#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/rows/detail/rules.hpp"

namespace sotto::deep::rows {

using at::Tensor;
using c10::IValue;
using Arguments = std::vector<IValue>;

constexpr std::int64_t kRecords = 4;

// Places on an axis that belong to one record, or to all others.
inline Tensor places(const Axis& axis, std::int64_t size, std::int64_t record, bool own) {
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < size; ++i)
    if (((i / axis.inner) % kRecords == record) == own) at.push_back(i);
  return torch::tensor(at, torch::kLong);
}

// All records but one become others.
inline Tensor with_others(const Tensor& t, std::int64_t axis, std::int64_t record) {
  Tensor copy = t.detach().clone();
  const Tensor rows = places({static_cast<int>(axis), 1, 1}, t.size(axis), record, false);
  Tensor values = copy.index_select(axis, rows).roll(1, axis);
  if (values.is_floating_point())
    values = 0.97 - 0.9 * values;  // stays between 0 and 1, where every function is defined
  else if (values.scalar_type() == torch::kBool)
    values = values.logical_not();
  else
    values = values.max() - values;
  return copy.index_copy_(axis, rows, values);
}

struct Audit {
  std::string said;    // empty: the rows stayed
  bool moved = false;  // the audit could see something: other rows did move
  bool by_us = false;  // a private layer did the work
};

inline std::vector<Tensor> tensors_in(const c10::Stack& stack) {
  std::vector<Tensor> all;
  for (const IValue& v : stack) for_tensors(v, [&](const Tensor& t, int) { all.push_back(t); });
  return all;
}

template <class Change>
c10::Stack copied(const Arguments& arguments, Change&& change) {
  c10::Stack stack;
  for (const IValue& v : arguments) {
    if (v.isTensor() && v.toTensor().defined()) {
      stack.emplace_back(change(v.toTensor()));
    } else if (v.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor& t : v.toTensorVector()) list.push_back(change(t));
      stack.emplace_back(std::move(list));
    } else if (v.isList() && !v.toListRef().empty() &&
               v.toList().elementType()->kind() == c10::TypeKind::OptionalType) {
      c10::List<c10::optional<Tensor>> list;
      for (const IValue& item : v.toListRef())
        list.push_back(item.isTensor() && item.toTensor().defined()
                           ? c10::optional<Tensor>(change(item.toTensor()))
                           : c10::nullopt);
      stack.emplace_back(std::move(list));
    } else {
      stack.push_back(v);
    }
  }
  return stack;
}

struct Outcome {
  std::vector<Tensor> tensors;
  std::vector<Axis> axes;
  bool by_us = false;  // a private layer was at work
};

// recording: as in a private pass, whose recorder trains all public numbers.
enum class Kernels { libtorch, recording };

inline bool has_private_layer(const Tensor& t) {
  std::vector<torch::autograd::Node*> open{t.grad_fn().get()};
  while (!open.empty()) {
    auto* const node = open.back();
    open.pop_back();
    if (node == nullptr) continue;
    if (is_private_layer(*node)) return true;
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return false;
}

// What the records' derivatives are when every number of the results counts with its square.
inline void add_derivatives(Outcome& outcome, const RecordTensors& live) {
  Tensor sum;
  std::vector<Tensor> records;
  std::vector<Axis> axes;
  for (const Tensor& t : outcome.tensors)
    if (t.requires_grad()) sum = sum.defined() ? sum + t.square().sum() : t.square().sum();
  for (const auto& [tensor, axis] : live)
    if (tensor.requires_grad()) {
      records.push_back(tensor);
      axes.push_back({static_cast<int>(axis), 1, 1});
    }
  if (!sum.defined() || records.empty()) return;
  const auto all = torch::autograd::grad({sum}, records, {}, {}, false, true);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!all[k].defined()) continue;
    outcome.tensors.push_back(all[k]);
    outcome.axes.push_back(axes[k]);
  }
}

// What becomes of a tensor of records before the call.
using Change = std::function<Tensor(const Tensor&, std::int64_t axis)>;
inline Tensor as_it_is(const Tensor& t, std::int64_t) { return t.detach().clone(); }

// One watched call. Throws NotRowWise.
inline Outcome run(const c10::OperatorHandle& handle, const Arguments& arguments,
                   const RecordTensors& batch, const Change& change = as_it_is,
                   std::uint64_t seed = 5, bool turned = false,
                   Kernels kernels = Kernels::libtorch) {
  const bool recording = kernels == Kernels::recording;
  std::vector<NamedParameter> trained;
  const auto ready = [&](const Tensor& t) {
    return recording && t.is_floating_point() ? t.requires_grad_(true) : t;
  };
  const torch::nn::Module nothing;
  PublicTensors known(nothing);
  RecordTensors live;
  c10::Stack stack = copied(arguments, [&](const Tensor& t) {
    for (const auto& b : batch) {
      if (!b.tensor.is_same(t)) continue;
      const Tensor copy = ready(change(t, b.axis).contiguous());
      live.emplace_back(copy, b.axis);
      return copy;
    }
    Tensor copy = t.detach().clone();
    for (std::int64_t d = 0; turned && d < t.dim(); ++d)  // public rows belong to their places
      if (t.size(d) == kRecords) copy = copy.flip(d);
    known.declare(ready(copy));
    if (copy.requires_grad()) trained.push_back({fmt::format("p{}", trained.size()), copy});
    return copy;
  });
  std::optional<Recorder> recorder;
  std::optional<Recorder::Scope> scope;
  if (recording)
    scope.emplace(recorder.emplace(trained, live.front().records(),
                                   NormRoom{.memory = std::size_t{1} << 24}));
  Pass pass(known, live);
  torch::manual_seed(seed);
  {
    const Pass::Watch watch(pass);
    handle.callBoxed(&stack);
  }
  Outcome outcome{tensors_in(stack), {}};
  for (const Tensor& t : outcome.tensors) {
    outcome.axes.push_back(pass.axis(t));
    outcome.by_us |= recording && has_private_layer(t);
  }
  if (recording) add_derivatives(outcome, live);
  for (Tensor& t : outcome.tensors) t = t.detach();
  return outcome;
}

inline bool same(const Tensor& a, const Tensor& b) {
  return torch::equal(a.nan_to_num(), b.nan_to_num());
}

inline bool nearly(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && torch::allclose(a.nan_to_num().to(torch::kDouble),
                                                   b.nan_to_num().to(torch::kDouble), 1e-4, 1e-6);
}

// Whether the result depends on which rows there are: records in the reverse order must give
// results in the reverse order, and without the last record (where the arguments name no sizes) the
// others must keep theirs. Nearly, since a place may round otherwise.
inline std::string audit_places(const c10::OperatorHandle& handle, const Arguments& arguments,
                                const RecordTensors& batch, bool without_sizes, bool public_too,
                                Kernels kernels) {
  const Change flip = [](const Tensor& t, std::int64_t axis) { return t.flip(axis); };
  const Outcome first = run(handle, arguments, batch, as_it_is, 5, false, kernels),
                drawn = run(handle, arguments, batch, as_it_is, 6, false, kernels),
                turned = run(handle, arguments, batch, flip, 5, public_too, kernels);
  Outcome fewer;
  if (without_sizes)
    fewer = run(
        handle, arguments, batch,
        [](const Tensor& t, std::int64_t axis) { return t.narrow(axis, 0, kRecords - 1); }, 5,
        false, kernels);
  for (std::size_t k = 0; k < first.tensors.size(); ++k) {
    const Tensor& a = first.tensors[k];
    const Axis& axis = first.axes[k];
    if (!axis.holds_records() || !same(a, drawn.tensors[k]))
      continue;  // random numbers do not stay
    for (std::int64_t record = 0; record < kRecords; ++record) {
      const auto of = [&](const Tensor& t, std::int64_t which) {
        return t.index_select(axis.dim, places(axis, t.size(axis.dim), which, true));
      };
      if (!nearly(of(a, record), of(turned.tensors[k], kRecords - 1 - record)))
        return fmt::format("result {} of record {} depends on its row", k, record);
    }
    if (without_sizes && axis == Axis{0, 1, 1} &&
        !nearly(a.narrow(0, 0, kRecords - 1), fewer.tensors[k]))
      return fmt::format("result {} depends on the number of rows", k);
  }
  return {};
}

// batch: which tensors among the arguments hold records. without_sizes: no argument names the
// number of records.
inline Audit audit(const c10::OperatorHandle& handle, const Arguments& arguments,
                   const RecordTensors& batch, bool without_sizes = false,
                   Kernels kernels = Kernels::libtorch) {
  Audit result;
  try {
    const Outcome first = run(handle, arguments, batch, as_it_is, 5, false, kernels);
    result.by_us = first.by_us;
    for (const std::int64_t record : {std::int64_t{0}, kRecords - 1}) {
      const Change others = [&](const Tensor& t, std::int64_t axis) {
        return with_others(t, axis, record);
      };
      const Outcome again = run(handle, arguments, batch, others, 5, false, kernels);
      for (std::size_t k = 0; k < first.tensors.size(); ++k) {
        Tensor a = first.tensors[k], b = again.tensors[k];
        if (!same(a, b)) result.moved = true;
        if (const Axis& axis = first.axes[k]; axis.holds_records()) {
          const Tensor own = places(axis, a.size(axis.dim), record, true);
          a = a.index_select(axis.dim, own);
          b = b.index_select(axis.dim, own);
        }
        if (!same(a, b))
          result.said = fmt::format("result {} of record {} moves with the others", k, record);
      }
    }
    // A public operand may have a row for each record: then it is turned with them.
    if (result.said.empty() &&
        !audit_places(handle, arguments, batch, without_sizes, false, kernels).empty())
      result.said = audit_places(handle, arguments, batch, without_sizes, true, kernels);
  } catch (const NotRowWise& e) {
    result.said = std::string("refused: ") + e.what();
  }
  return result;
}

inline c10::OperatorHandle operation(const std::string& full) {
  const std::size_t dot = full.find('.');
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      ("aten::" + full.substr(0, dot)).c_str(),
      dot == std::string::npos ? "" : full.substr(dot + 1).c_str());
}

inline Tensor numbers(at::IntArrayRef shape) { return torch::rand(shape) * 0.9 + 0.05; }
inline Tensor wholes(at::IntArrayRef shape, std::int64_t below = 3) {
  return torch::randint(below, shape, torch::kLong);
}

inline std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

inline bool is_usual(const Family& f) {
  return f.rule == &element_wise || f.rule == &loss || f.rule == &reduction ||
         f.rule == &along_axis;
}

}  // namespace sotto::deep::rows
