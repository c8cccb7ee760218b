// Rules of layers and losses.
#include "sotto/deep/rows/detail/rules.hpp"

namespace sotto::deep::rows {
namespace {

constexpr const char* kWeights = "the weights hold records";
constexpr const char* kFirst = "records must be on the first axis";

bool defined(const Call& call, int argument) {
  return !call.arguments[argument].isNone() && call.tensor(argument).defined();
}
bool plain(const Axis& axis, int dim) { return axis == Axis{dim, 1, 1}; }

}  // namespace

void linear_map(Call& call) {  // (input, weight, bias)
  call.only({0}, kWeights);
  if (call.axis(0).dim == call.rank(0) - 1) call.refuse("a product adds up over the batch axis");
  call.results = {call.axis(0)};
}

void convolution(Call& call) {  // (input, weight, bias, …)
  call.only({0}, kWeights);
  if (call.axis(0).dim != 0 || call.rank(0) != call.rank(1))
    call.refuse(kFirst, "give the batch as (records, channels, …)");
  call.results = {call.axis(0)};
}

void lookup(Call& call) {  // (table, indices, padding_idx, scale_grad_by_freq, sparse)
  call.only({1}, "the table holds records");
  if (call.arguments[3].toBool())
    call.refuse("scale_grad_by_freq makes one record's gradient depend on others",
                "leave the option off");
  call.results = {call.axis(1)};
}

void layer_normalization(Call& call) {  // (input, normalized_shape, weight, bias, …)
  call.only({0}, kWeights);
  const auto last = static_cast<std::int64_t>(call.arguments[1].toIntVector().size());
  if (call.axis(0).dim >= call.rank(0) - last) call.refuse("normalizes over the batch axis");
  call.results = {call.axis(0)};
}

void group_normalization(Call& call) {
  call.only({0}, kWeights);
  if (call.axis(0).dim != 0 || call.rank(0) < 2) call.refuse(kFirst);
  call.results = {call.axis(0)};
}

void instance_normalization(Call& call) {  // (input, weight, bias, mean, variance, use_input, …)
  if (call.arguments[5].toBool() && defined(call, 3))
    call.refuse("running statistics average over records, without noise",
                "make the layer with track_running_stats(false)");
  group_normalization(call);
}

void batch_normalization(Call& call) {  // (input, weight, bias, mean, variance, training, …)
  call.only({0}, kWeights);
  if (call.arguments[5].toBool() || !defined(call, 3) || !defined(call, 4))
    call.refuse("the output for one record depends on the others in its batch",
                "use GroupNorm or LayerNorm instead, or freeze the layer: eval mode, and "
                "requires_grad_(false) for its weights");
  if (call.axis(0).dim == 1) call.refuse("the batch axis is taken for the channels");
  call.results = {call.axis(0)};
}

void recurrent_layer(Call& call) {  // (input, states, weights, biases, layers, …, batch_first)
  const int axis = call.arguments[8].toBool() ? 0 : 1;
  for (const Operand& o : call.operands) {
    if (!o.axis.holds_records()) continue;
    if (o.argument == 2) call.refuse(kWeights);
    if (o.argument == 1 && (!plain(o.axis, 1) || o.tensor->dim() != 3))
      call.refuse("the records of the states must be on the second axis");
    if (o.argument == 0 && (!plain(o.axis, axis) || o.tensor->dim() != 3))
      call.refuse("the records are not on the batch axis of the layer",
                  "set batch_first as the batch lies");
  }
  call.results = {Axis{axis, 1, 1}, Axis{1, 1, 1}};
}

// The last axes are space, what stands before is apart.
template <int kSpace>
void space(Call& call) {
  call.only({0}, "another operand holds records");
  if (call.axis(0).dim >= call.rank(0) - kSpace)
    call.refuse("goes along the batch axis", "give the batch as (records, channels, …)");
  call.results = {call.axis(0)};
}
template void space<1>(Call&);
template void space<2>(Call&);
template void space<3>(Call&);

void class_loss(Call& call) {  // (scores (N, C, …), classes (N, …), weight, reduction, …)
  if (call.whole(call.operation.reduction) != 0)
    call.refuse("a loss averaged or added up over the batch",
                "use reduction none, or the losses of sotto/deep/losses.hpp");
  call.only({0, 1}, "the weights of the classes hold records");
  if (call.rank(0) < 2) call.refuse("the scores have no axis of records");
  const Axis scores = call.axis(0), classes = call.axis(1);
  for (const Axis& a : {scores, classes})
    if (a.holds_records() && a.dim != 0) call.refuse(kFirst);
  if (scores.holds_records() && classes.holds_records() && scores != classes)
    call.refuse("the records of scores and targets lie otherwise");
  call.results = {scores.holds_records() ? scores : classes};
}

}  // namespace sotto::deep::rows
