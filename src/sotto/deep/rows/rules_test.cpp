// Every rule is audited by machine: the call is repeated with all records but one changed, and the rows of that one must not move.
#include "sotto/deep/rows/detail/rules.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace sotto::deep::rows {
namespace {

using at::Tensor;
using c10::IValue;
using Arguments = std::vector<IValue>;

constexpr std::int64_t kRecords = 4;

// Places on an axis that belong to one record, or to all others.
Tensor places(const Axis& axis, std::int64_t size, std::int64_t record, bool own) {
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < size; ++i)
    if (((i / axis.inner) % kRecords == record) == own) at.push_back(i);
  return torch::tensor(at, torch::kLong);
}

// All records but one become others.
Tensor with_others(const Tensor& t, std::int64_t axis, std::int64_t record) {
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
};

std::vector<Tensor> tensors_in(const c10::Stack& stack) {
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
};

// One watched call. others: all records but this one are changed before; below 0: none. Throws NotRowWise.
Outcome run(const c10::OperatorHandle& handle, const Arguments& arguments,
            const RecordTensors& batch, std::int64_t but) {
  const torch::nn::Module nothing;
  PublicTensors known(nothing);
  RecordTensors live;
  c10::Stack stack = copied(arguments, [&](const Tensor& t) {
    for (const auto& b : batch) {
      if (!b.tensor.is_same(t)) continue;
      const Tensor copy = but < 0 ? t.detach().clone() : with_others(t, b.axis, but);
      live.emplace_back(copy, b.axis);
      return copy;
    }
    const Tensor copy = t.detach().clone();
    known.declare(copy);
    return copy;
  });
  Pass pass(known, live);
  torch::manual_seed(5);
  {
    const Pass::Watch watch(pass);
    handle.callBoxed(&stack);
  }
  Outcome outcome{tensors_in(stack), {}};
  for (const Tensor& t : outcome.tensors) outcome.axes.push_back(pass.axis(t));
  return outcome;
}

bool same(const Tensor& a, const Tensor& b) { return torch::equal(a.nan_to_num(), b.nan_to_num()); }

// batch: which tensors among the arguments hold records.
Audit audit(const c10::OperatorHandle& handle, const Arguments& arguments,
            const RecordTensors& batch) {
  Audit result;
  try {
    const Outcome first = run(handle, arguments, batch, -1);
    for (const std::int64_t record : {std::int64_t{0}, kRecords - 1}) {
      const Outcome again = run(handle, arguments, batch, record);
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
  } catch (const NotRowWise& e) {
    result.said = std::string("refused: ") + e.what();
  }
  return result;
}

c10::OperatorHandle operation(const std::string& full) {
  const std::size_t dot = full.find('.');
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      ("aten::" + full.substr(0, dot)).c_str(),
      dot == std::string::npos ? "" : full.substr(dot + 1).c_str());
}

Tensor numbers(at::IntArrayRef shape) { return torch::rand(shape) * 0.9 + 0.05; }
Tensor wholes(at::IntArrayRef shape, std::int64_t below = 3) {
  return torch::randint(below, shape, torch::kLong);
}

// Arguments after the schema: every tensor of one shape, axes the last one, no reduction.
Arguments usual(const c10::FunctionSchema& schema, c10::ScalarType type, RecordTensors& batch) {
  Arguments all;
  for (const auto& a : schema.arguments()) {
    const std::string& name = a.name();
    const auto kind = a.type()->kind();
    const auto base = kind == c10::TypeKind::OptionalType
                          ? a.type()->castRaw<c10::OptionalType>()->getElementType()->kind()
                          : kind;
    const bool bound = name == "min" || name == "max";
    if (name == "value" && kind == c10::TypeKind::TensorType) {
      all.emplace_back(torch::scalar_tensor(0.5));
    } else if (bound && base == c10::TypeKind::NumberType) {
      all.emplace_back(name == "min" ? 0.2 : 0.6);
    } else if (kind == c10::TypeKind::TensorType || (bound && base == c10::TypeKind::TensorType)) {
      Tensor t = name == "mask" || name == "condition" ? numbers({kRecords, 3, 4}).gt(0.5)
                 : type == torch::kFloat               ? numbers({kRecords, 3, 4})
                                                       : wholes({kRecords, 3, 4}).to(type);
      batch.emplace_back(t, 0);
      all.emplace_back(t);
    } else if (name == "dim" && base == c10::TypeKind::IntType) {
      all.emplace_back(std::int64_t{-1});
    } else if (name == "dim" || name == "dims") {
      all.emplace_back(c10::List<std::int64_t>({std::int64_t{1}, std::int64_t{-1}}).copy());
      if (name == "dims") all.back() = IValue(c10::List<std::int64_t>({std::int64_t{-1}}));
    } else if (name == "shifts") {
      all.emplace_back(c10::List<std::int64_t>({std::int64_t{1}}));
    } else if (name == "reduction") {
      all.emplace_back(std::int64_t{0});
    } else if (name == "train" || name == "training" || name == "stable") {
      all.emplace_back(true);
    } else if (base == c10::TypeKind::IntType && (name == "k" || name == "to" || name == "high")) {
      all.emplace_back(std::int64_t{name == "k" ? 2 : 9});
    } else if (base == c10::TypeKind::IntType && (name == "from" || name == "low")) {
      all.emplace_back(std::int64_t{1});
    } else if (a.default_value().has_value()) {
      all.push_back(*a.default_value());
    } else if (kind == c10::TypeKind::NumberType || kind == c10::TypeKind::FloatType) {
      type == torch::kFloat ? all.emplace_back(0.3) : all.emplace_back(std::int64_t{1});
    } else if (kind == c10::TypeKind::IntType) {
      all.emplace_back(std::int64_t{1});
    } else if (kind == c10::TypeKind::BoolType) {
      all.emplace_back(false);
    } else if (name == "rounding_mode") {
      all.emplace_back("floor");
    } else {
      all.emplace_back();
    }
  }
  return all;
}

// The overloads, in place and not, that a word of the table stands for.
std::vector<std::string> overloads(const std::string& word) {
  std::vector<std::string> all;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const std::string base = name.name.substr(6);
    const std::string full = base + (name.overload_name.empty() ? "" : "." + name.overload_name);
    if (full != word && base != word && base != word + "_") continue;
    if (name.overload_name.find("out") != std::string::npos ||
        name.overload_name.find("imname") != std::string::npos ||
        name.overload_name.starts_with("names") || name.overload_name.starts_with("values") ||
        name.overload_name.find("grad_input") != std::string::npos)
      continue;
    all.push_back(full);
  }
  return all;
}

std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

bool is_usual(const Family& f) {
  return f.rule == &element_wise || f.rule == &loss || f.rule == &reduction ||
         f.rule == &along_axis;
}

TEST(RowRules, ArithmeticKeepsRecordsApart) {
  torch::manual_seed(1);
  std::set<std::string> still;
  int calls = 0;
  for (const Family& family : families()) {
    if (!is_usual(family)) continue;
    for (const std::string& word : words(family.names)) {
      const auto all = overloads(word);
      EXPECT_FALSE(all.empty()) << word << ": LibTorch has no such operation";
      bool any = false;
      for (const std::string& full : all) {
        const auto handle = operation(full);
        std::string error;
        for (const auto type : {torch::kFloat, torch::kLong, torch::kBool}) {
          RecordTensors batch;
          const Arguments arguments = usual(handle.schema(), type, batch);
          try {
            const Audit a = audit(handle, arguments, batch);
            EXPECT_EQ(a.said, "") << full;
            if (!a.moved) still.insert(full);
            ++calls;
            any = true;
            error.clear();
            break;
          } catch (const c10::Error& e) {
            error = e.what_without_backtrace();
          }
        }
        EXPECT_EQ(error, "") << full << " could not be called";
      }
      EXPECT_TRUE(any) << word << " was not audited";
    }
  }
  EXPECT_GT(calls, 200);
  for (const char* name : {"exp", "add.Tensor", "bernoulli", "sum.dim_IntList", "sort", "mse_loss"})
    EXPECT_FALSE(still.contains(name)) << name << ": the audit saw nothing move";
}

struct Sample {
  const char* name;
  Arguments arguments;
  RecordTensors batch;
};

c10::List<std::int64_t> list(std::vector<std::int64_t> values) {
  return c10::List<std::int64_t>(values);
}
IValue tensors(const std::vector<Tensor>& all) { return IValue(c10::List<Tensor>(all)); }

std::vector<Sample> samples() {
  const IValue none;
  constexpr std::int64_t B = kRecords;
  std::vector<Sample> all;
  const auto add = [&](const char* name, Arguments arguments, RecordTensors batch) {
    all.push_back({name, std::move(arguments), std::move(batch)});
  };
  const Tensor x = numbers({B, 3}), w = numbers({3, 5}), s = numbers({B, 2, 3}),
               s2 = numbers({B, 3, 5}), bias = numbers({5});
  // Products: records on rows, on columns, as batches; beside vectors; second in the order.
  const Tensor columns = numbers({3, B}), two = numbers({2, 3}), v = numbers({3});
  for (const char* name : {"matmul", "mm"}) {
    add(name, {x, w}, {x});
    add(name, {two, columns}, {{columns, 1}});
  }
  add("matmul", {s, w}, {s});
  add("matmul", {s, s2}, {s, s2});
  add("matmul", {x, v}, {x});
  add("matmul", {v, s2}, {s2});
  add("matmul", {v, columns}, {{columns, 1}});
  const Tensor sequence_first = numbers({2, B, 3}), heads = numbers({7, B, 2, 3}),
               heads2 = numbers({7, B, 3, 5});
  add("matmul", {sequence_first, w}, {{sequence_first, 1}});
  add("matmul", {heads, heads2}, {{heads, 1}, {heads2, 1}});
  add("bmm", {s, s2}, {s, s2});
  add("mv", {x, v}, {x});
  add("addmm", {bias, x, w, 1.0, 2.0}, {x});
  const Tensor sum = numbers({B, 5}), batches = numbers({B, 2, 5}), rows = numbers({B});
  add("addmm", {sum, x, w, 1.0, 2.0}, {x, sum});
  add("addmm", {sum, numbers({B, 3}), w, 1.0, 2.0}, {sum});
  add("baddbmm", {batches, s, s2, 1.0, 1.0}, {batches, s, s2});
  add("addmv", {rows, x, v, 1.0, 1.0}, {rows, x});
  // Layers.
  const Tensor weight = numbers({5, 3});
  add("linear", {x, weight, bias}, {x});
  add("linear", {sequence_first, weight, none}, {{sequence_first, 1}});
  const Tensor c1 = numbers({B, 2, 9}), c2 = numbers({B, 2, 6, 6}), c3 = numbers({B, 2, 5, 5, 5});
  const Tensor k1 = numbers({4, 2, 3}), k2 = numbers({4, 2, 3, 3}), k3 = numbers({4, 2, 3, 3, 3}),
               b4 = numbers({4});
  add("convolution", {c2, k2, b4, list({1, 1}), list({0, 0}), list({1, 1}), false, list({0, 0}), 1},
      {c2});
  add("conv1d", {c1, k1, b4, list({1}), list({0}), list({1}), 1}, {c1});
  add("conv2d", {c2, k2, b4, list({1, 1}), list({1, 1}), list({1, 1}), 1}, {c2});
  add("conv3d", {c3, k3, b4, list({1, 1, 1}), list({0, 0, 0}), list({1, 1, 1}), 1}, {c3});
  add("conv1d.padding", {c1, k1, b4, list({1}), "same", list({1}), 1}, {c1});
  add("conv2d.padding", {c2, k2, b4, list({1, 1}), "same", list({1, 1}), 1}, {c2});
  add("conv3d.padding", {c3, k3, b4, list({1, 1, 1}), "same", list({1, 1, 1}), 1}, {c3});
  const Tensor tokens = wholes({B, 4}, 7), table = numbers({7, 3});
  add("embedding", {table, tokens, -1, false, false}, {tokens});
  add("layer_norm", {s, list({3}), v, v, 1e-5, false}, {s});
  add("layer_norm", {sequence_first, list({3}), none, none, 1e-5, false}, {{sequence_first, 1}});
  add("native_layer_norm", {s, list({2, 3}), none, none, 1e-5}, {s});
  const Tensor g4 = numbers({B, 4, 6});
  add("group_norm", {g4, 2, b4, b4, 1e-5, false}, {g4});
  add("instance_norm", {g4, b4, b4, none, none, true, 0.1, 1e-5, false}, {g4});
  add("batch_norm", {g4, b4, b4, b4, b4, false, 0.1, 1e-5, false}, {g4});
  add("batch_norm", {numbers({6, 4, B}), b4, b4, b4, b4, false, 0.1, 1e-5, false}, {});
  // Space.
  add("max_pool1d", {c1, list({2}), list({2}), list({0}), list({1}), false}, {c1});
  add("max_pool1d_with_indices", {c1, list({2}), list({2}), list({0}), list({1}), false}, {c1});
  add("avg_pool1d", {c1, list({2}), list({2}), list({0}), false, true}, {c1});
  add("adaptive_avg_pool1d", {c1, list({3})}, {c1});
  add("adaptive_max_pool1d", {c1, list({3})}, {c1});
  add("upsample_nearest1d", {c1, list({12}), none}, {c1});
  add("upsample_linear1d", {c1, list({12}), false, none}, {c1});
  add("max_pool2d", {c2, list({2, 2}), list({2, 2}), list({0, 0}), list({1, 1}), false}, {c2});
  add("max_pool2d_with_indices",
      {c2, list({2, 2}), list({2, 2}), list({0, 0}), list({1, 1}), false}, {c2});
  add("avg_pool2d", {c2, list({2, 2}), list({2, 2}), list({0, 0}), false, true, none}, {c2});
  add("adaptive_avg_pool2d", {c2, list({3, 3})}, {c2});
  add("_adaptive_avg_pool2d", {c2, list({3, 3})}, {c2});
  add("adaptive_max_pool2d", {c2, list({3, 3})}, {c2});
  add("upsample_nearest2d", {c2, list({8, 8}), none, none}, {c2});
  add("upsample_bilinear2d", {c2, list({8, 8}), false, none, none}, {c2});
  add("upsample_bicubic2d", {c2, list({8, 8}), false, none, none}, {c2});
  const auto l3 = [](std::int64_t n) { return list({n, n, n}); };
  add("max_pool3d", {c3, l3(2), l3(2), l3(0), l3(1), false}, {c3});
  add("max_pool3d_with_indices", {c3, l3(2), l3(2), l3(0), l3(1), false}, {c3});
  add("avg_pool3d", {c3, l3(2), l3(2), l3(0), false, true, none}, {c3});
  add("adaptive_avg_pool3d", {c3, l3(2)}, {c3});
  add("_adaptive_avg_pool3d", {c3, l3(2)}, {c3});
  add("adaptive_max_pool3d", {c3, l3(2)}, {c3});
  add("upsample_nearest3d", {c3, l3(7), none, none, none}, {c3});
  add("upsample_trilinear3d", {c3, l3(7), false, none, none, none}, {c3});
  // Recurrent layers, both orders; states public and of records.
  for (const auto& [name, gates] :
       {std::pair{"lstm.input", 4}, {"gru.input", 3}, {"rnn_tanh.input", 1}, {"rnn_relu.input", 1}})
    for (const bool batch_first : {true, false}) {
      const Tensor in = batch_first ? numbers({B, 5, 3}) : numbers({5, B, 3});
      const Tensor h = numbers({1, B, 2}), c = numbers({1, B, 2});
      const bool lstm = gates == 4;
      const IValue weights = tensors({numbers({2 * gates, 3}), numbers({2 * gates, 2}),
                                      numbers({2 * gates}), numbers({2 * gates})});
      RecordTensors batch{{in, batch_first ? 0 : 1}};
      if (batch_first) batch.emplace_back(h, 1);
      add(name,
          {in, lstm ? tensors({h, c}) : IValue(h), weights, true, 1, 0.0, true, false, batch_first},
          batch);
    }
  // Places.
  const Tensor y = numbers({B, 2});
  add("cat", {tensors({x, y, numbers({B, 1})}), 1}, {x, y});
  add("stack", {tensors({x, numbers({B, 3})}), 0}, {x});
  add("stack", {tensors({x, x}), -1}, {x});
  add("index_select", {s, 1, wholes({3}, 2)}, {s});
  const Tensor pick = wholes({B}, 7);
  add("index_select", {table, 0, pick}, {pick});
  const Tensor at3 = wholes({B, 2}, 3);
  add("gather", {x, 1, at3, false}, {x, at3});
  add("gather", {numbers({B, 3}), 0, at3, false}, {at3});
  add("scatter.src", {x, 1, at3, y}, {x, at3, y});
  add("scatter.value", {numbers({B, 3}), 1, at3, 2.0}, {at3});
  add("scatter_add", {x, 1, at3, y}, {x, at3, y});
  const auto indices = [](std::vector<c10::optional<Tensor>> items) {
    c10::List<c10::optional<Tensor>> l;
    for (const auto& i : items) l.push_back(i);
    return IValue(l);
  };
  const Tensor order = wholes({4}, 2), tokens2 = wholes({B, 2}, 7), three = numbers({2, B, 3});
  add("index.Tensor", {s, indices({c10::nullopt, order})}, {s});
  add("index.Tensor", {three, indices({wholes({3, 2}, 2)})}, {{three, 1}});
  add("index.Tensor", {table, indices({tokens2})}, {tokens2});
  add("index.Tensor", {numbers({3, 7}), indices({c10::nullopt, tokens2})}, {tokens2});
  // Losses.
  const Tensor scores = numbers({B, 3}), classes = wholes({B}, 3), maps = numbers({B, 3, 2, 2}),
               map_classes = wholes({B, 2, 2}, 3), shares = numbers({B, 3});
  for (const char* name : {"nll_loss", "nll_loss_nd"})
    add(name, {scores, classes, v, 0, -100}, {scores, classes});
  add("nll_loss2d", {maps, map_classes, none, 0, -100}, {maps, map_classes});
  add("cross_entropy_loss", {scores, classes, v, 0, -100, 0.1}, {scores, classes});
  add("cross_entropy_loss", {scores, shares, none, 0, -100, 0.0}, {scores, shares});
  // Shapes.
  add("constant_pad_nd", {s, list({1, 0, 2, 1}), 0.5}, {s});
  add("constant_pad_nd", {s, list({1, 0, 0, 0, 0, 0}), 0.5}, {s});
  add("reflection_pad1d", {c1, list({1, 1})}, {c1});
  add("reflection_pad2d", {c2, list({1, 1, 1, 1})}, {c2});
  add("reflection_pad3d", {c3, list({1, 1, 1, 1, 1, 1})}, {c3});
  add("replication_pad1d", {c1, list({1, 1})}, {c1});
  add("replication_pad2d", {c2, list({1, 1, 1, 1})}, {c2});
  add("replication_pad3d", {c3, list({1, 1, 1, 1, 1, 1})}, {c3});
  add("repeat", {x, list({2, 3, 2})}, {x});
  add("repeat", {x, list({2, 1})}, {x});
  add("one_hot", {classes, 5}, {classes});
  add("new_zeros", {x, list({2, 2}), none, none, none, none}, {x});
  add("new_ones", {x, list({2, 2}), none, none, none, none}, {x});
  add("new_empty", {x, list({2, 2}), none, none, none, none}, {x});
  add("new_full", {x, list({2, 2}), 1.5, none, none, none, none}, {x});
  add("tril", {s, 0}, {s});
  add("triu", {s, 0}, {s});
  add("_unsafe_view", {s, list({2 * B, 3})}, {s});
  add("_reshape_alias", {s, list({2 * B, 3}), list({3, 1})}, {s});
  add("unsafe_split.Tensor", {s, 2, 2}, {s});
  add("unsafe_split_with_sizes", {s, list({1, 2}), 2}, {s});
  add("detach_", {x}, {x});
  const Tensor thin = numbers({B, 1, 3});
  add("squeeze_", {thin}, {thin});
  add("squeeze_.dim", {thin, 1}, {thin});
  add("unsqueeze_", {x, 1}, {x});
  add("transpose_", {s, 1, 2}, {s});
  add("t_", {x}, {x});
  return all;
}

TEST(RowRules, LayersProductsAndPlacesKeepRecordsApart) {
  torch::manual_seed(2);
  std::set<std::string> audited;
  for (const Sample& sample : samples()) {
    audited.insert(sample.name);
    if (sample.batch.empty()) continue;
    const auto handle = operation(sample.name);
    Arguments arguments = sample.arguments;
    for (std::size_t i = arguments.size(); i < handle.schema().arguments().size(); ++i)
      arguments.push_back(handle.schema().arguments()[i].default_value().value_or(IValue()));
    const Audit a = audit(handle, arguments, sample.batch);
    EXPECT_EQ(a.said, "") << sample.name;
    const bool constant = std::string(sample.name).starts_with("new_");
    EXPECT_TRUE(a.moved || constant) << sample.name << ": the audit saw nothing move";
  }
  for (const Family& family : families()) {
    if (is_usual(family)) continue;
    for (const std::string& word : words(family.names))
      EXPECT_TRUE(audited.contains(word)) << word << " has a rule but no audit";
  }
}

// What LibTorch makes of other operations must come by in parts and keep rows, whatever its kernel does.
TEST(RowRules, CompositesKeepRecordsApart) {
  torch::manual_seed(3);
  using Function = std::function<Tensor(const Tensor&)>;
  const Tensor w = numbers({6, 8}), w2 = numbers({8, 2}), b = numbers({8}), other = numbers({4, 6});
  const Tensor one = numbers({6}), h = numbers({4, 2});
  const std::map<std::string, Function> all = {
      {"_pad_enum",
       [](auto& x) {
         return at::_pad_enum(x, {1, 2}, 3, 0.5);
       }},
      {"absolute", [](auto& x) { return x.absolute(); }},
      {"arccos", [](auto& x) { return x.arccos(); }},
      {"arcsin", [](auto& x) { return x.arcsin(); }},
      {"arctan", [](auto& x) { return x.arctan(); }},
      {"atleast_1d", [](auto& x) { return at::atleast_1d(x); }},
      {"atleast_2d", [](auto& x) { return at::atleast_2d(x); }},
      {"broadcast_tensors",
       [](auto& x) {
         return at::broadcast_tensors({x, at::ones({1, 6})})[0];
       }},
      {"broadcast_to",
       [](auto& x) {
         return x.broadcast_to({2, 4, 6});
       }},
      {"chunk", [](auto& x) { return x.chunk(2, 1)[1]; }},
      {"clip", [](auto& x) { return x.clip(0.2, 0.6); }},
      {"column_stack",
       [](auto& x) {
         return at::column_stack({x, x});
       }},
      {"concat",
       [](auto& x) {
         return at::concat({x, x}, 1);
       }},
      {"concatenate",
       [](auto& x) {
         return at::concatenate({x, x}, 1);
       }},
      {"contiguous", [](auto& x) { return x.t().contiguous(); }},
      {"conv_transpose1d",
       [&](auto& x) {
         return at::conv_transpose1d(x.view({4, 2, 3}), w.view({2, 8, 3}));
       }},
      {"conv_transpose2d",
       [&](auto& x) {
         return at::conv_transpose2d(x.view({4, 1, 2, 3}), w.view({1, 6, 2, 4}));
       }},
      {"conv_transpose3d",
       [&](auto& x) {
         return at::conv_transpose3d(x.view({4, 1, 1, 2, 3}), w.view({1, 6, 1, 2, 4}));
       }},
      {"cosine_similarity", [&](auto& x) { return at::cosine_similarity(x, other, 1); }},
      {"diff", [](auto& x) { return x.diff(1, 1); }},
      {"divide", [&](auto& x) { return x.divide(other); }},
      {"einsum",
       [&](auto& x) {
         return at::einsum("bf,gf->bg", {x, other});
       }},
      {"expand_as",
       [&](auto& x) {
         return x.unsqueeze(0).expand_as(at::zeros({3, 4, 6}));
       }},
      {"flatten",
       [](auto& x) {
         return x.view({4, 2, 3}).flatten(1);
       }},
      {"fliplr", [](auto& x) { return x.fliplr(); }},
      {"float_power", [](auto& x) { return x.float_power(2); }},
      {"greater", [&](auto& x) { return x.greater(other); }},
      {"greater_equal", [&](auto& x) { return x.greater_equal(other); }},
      {"gru_cell",
       [&](auto& x) { return at::gru_cell(x, h, w.t().slice(0, 0, 6), w2.slice(0, 0, 6)); }},
      {"hstack",
       [](auto& x) {
         return at::hstack({x, x});
       }},
      {"less", [&](auto& x) { return x.less(other); }},
      {"less_equal", [&](auto& x) { return x.less_equal(other); }},
      {"lstm_cell",
       [&](auto& x) {
         return std::get<1>(at::lstm_cell(x, {h, h}, w.t(), w2, b, b));
       }},
      {"moveaxis", [](auto& x) { return x.moveaxis(0, 1); }},
      {"movedim", [](auto& x) { return x.movedim(0, 1); }},
      {"mT", [](auto& x) { return x.mT(); }},
      {"multiply", [&](auto& x) { return x.multiply(other); }},
      {"narrow", [](auto& x) { return x.narrow(1, 1, 3); }},
      {"negative", [](auto& x) { return x.negative(); }},
      {"not_equal", [&](auto& x) { return x.round().not_equal(other.round()); }},
      {"numpy_T", [](auto& x) { return x.numpy_T(); }},
      {"pad",
       [](auto& x) {
         return at::pad(x, {1, 2}, "constant", 0.5);
       }},
      {"pairwise_distance", [&](auto& x) { return at::pairwise_distance(x, other); }},
      {"ravel", [](auto& x) { return x.ravel(); }},
      {"repeat_interleave", [](auto& x) { return x.repeat_interleave(2, 1); }},
      {"reshape",
       [](auto& x) {
         return x.t().reshape({2, 12});
       }},
      {"reshape_as",
       [](auto& x) {
         return x.reshape_as(at::zeros({4, 3, 2}));
       }},
      {"rnn_relu_cell",
       [&](auto& x) { return at::rnn_relu_cell(x, h, w.t().slice(0, 0, 2), w2.slice(0, 0, 2)); }},
      {"rnn_tanh_cell",
       [&](auto& x) { return at::rnn_tanh_cell(x, h, w.t().slice(0, 0, 2), w2.slice(0, 0, 2)); }},
      {"subtract", [&](auto& x) { return x.subtract(other); }},
      {"swapaxes", [](auto& x) { return x.swapaxes(0, 1); }},
      {"swapdims", [](auto& x) { return x.swapdims(0, 1); }},
      {"tensor_split.indices",
       [](auto& x) {
         return x.tensor_split({2, 4}, 1)[1];
       }},
      {"tensor_split.sections", [](auto& x) { return x.tensor_split(2, 1)[0]; }},
      {"tensordot", [&](auto& x) { return at::tensordot(x, w, {1}, {0}); }},
      {"tile",
       [](auto& x) {
         return x.tile({2, 2});
       }},
      {"to", [](auto& x) { return x.to(torch::kDouble); }},
      {"true_divide", [&](auto& x) { return x.true_divide(other); }},
      {"type_as", [](auto& x) { return x.type_as(at::zeros({1}, torch::kDouble)); }},
      {"unflatten",
       [](auto& x) {
         return x.unflatten(1, {2, 3});
       }},
      {"unsafe_chunk", [](auto& x) { return x.unsafe_chunk(2, 1)[0]; }},
      {"view_as",
       [](auto& x) {
         return x.view_as(at::zeros({4, 3, 2}));
       }},
  };
  torch::nn::Module nothing;
  PublicTensors known(nothing);
  for (const Tensor& t : {w, w2, b, other, h}) known.declare(t);
  const Tensor x = numbers({kRecords, 6});
  for (const std::string& name : composites()) {
    ASSERT_TRUE(all.contains(name)) << name;
    Tensor out;
    Axis axis;
    try {
      Pass pass(known, {x});
      const Pass::Watch watch(pass);
      out = all.at(name)(x);
      axis = pass.axis(out);
    } catch (const NotRowWise& e) {
      ADD_FAILURE() << name << ": " << e.what();
      continue;
    }
    ASSERT_TRUE(axis.holds_records()) << name;
    for (const std::int64_t record : {std::int64_t{0}, kRecords - 1}) {
      const Tensor again = all.at(name)(with_others(x, 0, record));
      const Tensor own = places(axis, out.size(axis.dim), record, true);
      EXPECT_TRUE(torch::equal(out.index_select(axis.dim, own), again.index_select(axis.dim, own)))
          << name;
      EXPECT_FALSE(torch::equal(out, again)) << name << ": the audit saw nothing move";
    }
  }
}

// An audit that cannot fail is none: what goes along the batch is caught when it is said to keep rows.
TEST(RowRules, TheAuditCatchesWhatMixesRows) {
  torch::manual_seed(4);
  const Tensor x = numbers({kRecords, 3});
  for (const auto& mixes : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& t) { return t.cumsum(0); }, [](const Tensor& t) { return t.flip(0); },
           [](const Tensor& t) { return t.softmax(0); },
           [](const Tensor& t) { return at::rrelu(t - 0.5, 0.1, 0.3, true); }}) {
    bool caught = false;
    for (std::int64_t record = 0; record < kRecords; ++record) {
      const Tensor own = places({0, 1, 1}, kRecords, record, true);
      torch::manual_seed(5);
      const Tensor a = mixes(x);
      torch::manual_seed(5);
      const Tensor b = mixes(with_others(x, 0, record));
      caught |= !torch::equal(a.index_select(0, own), b.index_select(0, own));
    }
    EXPECT_TRUE(caught);
  }
}

TEST(RecordAxis, IsFoundFromGeometry) {
  const auto find = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       std::int64_t offset = 0, std::int64_t item = 1) {
    return find_axis({sizes, strides, offset, item}, {.run = 6}, 4);
  };
  EXPECT_EQ(find({4, 6}, {6, 1}), (Axis{0, 1, 1}));
  EXPECT_EQ(find({6, 4}, {1, 6}), (Axis{1, 1, 1})) << "transposed";
  EXPECT_EQ(find({8, 3}, {3, 1}), (Axis{0, 1, 2})) << "B·T";
  EXPECT_EQ(find({8, 6}, {6, 1}), (Axis{0, 2, 1})) << "T·B";
  EXPECT_EQ(find({24}, {1}), (Axis{0, 1, 6}));
  EXPECT_EQ(find({4, 2}, {6, 2}, 1), (Axis{0, 1, 1})) << "columns";
  EXPECT_EQ(find({4, 2}, {6, 1}, 4), (Axis{0, 1, 1}));
  EXPECT_EQ(find({4, 3}, {6, 2}, 0, 1), (Axis{0, 1, 1}));
  EXPECT_EQ(find({4, 3}, {3, 1}, 0, 2), (Axis{0, 1, 1})) << "another type";
  EXPECT_EQ(find({5, 4, 6}, {0, 6, 1}), (Axis{1, 1, 1})) << "expanded";
  EXPECT_EQ(find({0, 6}, {6, 1}), kPublic) << "nothing in it";
  EXPECT_FALSE(find({3, 6}, {6, 1})) << "cut";
  EXPECT_FALSE(find({6}, {1})) << "one record";
  EXPECT_FALSE(find({4, 6}, {6, 1}, 6)) << "shifted by a row";
  EXPECT_FALSE(find({4, 6}, {6, 1}, 3)) << "shifted by half a row";
  EXPECT_FALSE(find({6, 4}, {4, 1})) << "mixed";
  EXPECT_FALSE(find({2, 12}, {12, 1})) << "two records in one row";
  EXPECT_FALSE(find({4, 6}, {0, 1})) << "one record for all";
  EXPECT_FALSE(find({4, 6}, {5, 1})) << "overlapping";
  EXPECT_FALSE(find({2, 6}, {12, 1})) << "every second record";
}

}  // namespace
}  // namespace sotto::deep::rows
