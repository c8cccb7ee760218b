// Rules of what moves values to other places: joining, picking, padding, repeating.
#include "sotto/deep/rows/detail/rules.hpp"

namespace sotto::deep::rows {
namespace {

constexpr const char* kDifferent = "records lie on different axes";
constexpr const char* kPicks = "picks along the batch axis";
constexpr const char* kChoose = "records choose among records";

// The axis that all operands with records share as they are, without broadcasting.
Axis common(const Call& call) {
  Axis all;
  for (const Operand& o : call.operands) {
    if (!o.axis.holds_records()) continue;
    if (all.holds_records() && all != o.axis) call.refuse(kDifferent);
    all = o.axis;
  }
  return all;
}

}  // namespace

void joined(Call& call) {  // cat(tensors, dim)
  const Axis all = common(call);
  std::int64_t rank = 0;
  for (const Operand& o : call.operands) rank = std::max(rank, o.tensor->dim());
  if (call.dim(1, rank) == all.dim) call.refuse("joins along the batch axis");
  call.results = {all};
}

void stacked(Call& call) {  // stack(tensors, dim)
  Axis all = common(call);
  if (call.dim(1, call.operands.front().tensor->dim() + 1) <= all.dim) ++all.dim;
  call.results = {all};
}

void selected(Call& call) {  // index_select(self, dim, index)
  const Axis self = call.axis(0), index = call.axis(2);
  const int dim = call.dim(1, call.rank(0));
  if (self.holds_records() && index.holds_records()) call.refuse(kChoose);
  if (self.holds_records() && dim == self.dim) call.refuse(kPicks);
  call.results = {self.holds_records() ? self : Axis{dim, index.outer, index.inner}};
}

void gathered(Call& call) {  // gather(self, dim, index): shaped as the index
  const Axis all = common(call), self = call.axis(0);
  const int dim = call.dim(1, call.rank(0));
  if (self.holds_records() && dim == self.dim) call.refuse(kPicks);
  // Where self is public, place i of the index takes place i of self: a prefix that the records do
  // not choose.
  if (self.holds_records() && call.tensor(2).size(all.dim) != call.tensor(0).size(all.dim))
    call.refuse("takes a part of the records only");
  call.results = {all};
}

void scattered(Call& call) {  // scatter(self, dim, index, src or value): shaped as self
  const Axis all = common(call);
  if (call.dim(1, call.rank(0)) == all.dim) call.refuse("writes along the batch axis");
  for (const Operand& o : call.operands)
    if (o.tensor->dim() != call.rank(0) || o.tensor->size(all.dim) != call.tensor(0).size(all.dim))
      call.refuse("operands differ in length along the batch axis");
  call.results = {all};
}

void indexed(Call& call) {  // self[indices], with one tensor among the indices
  const Operand* index = nullptr;
  for (const Operand& o : call.operands) {
    if (o.argument != 1) continue;
    if (index != nullptr) call.refuse("several index tensors", "use gather or index_select");
    index = &o;
  }
  if (index == nullptr) call.refuse("no index tensor");
  const auto type = index->tensor->scalar_type();
  if (type == at::kBool || type == at::kByte)
    call.refuse("a mask decides the shape of the result", "use where or masked_fill");
  Axis self = call.axis(0);
  if (self.holds_records() && index->axis.holds_records()) call.refuse(kChoose, "use gather");
  if (self.holds_records()) {
    if (self.dim == index->item) call.refuse(kPicks);
    if (index->item < self.dim) self.dim += static_cast<int>(index->tensor->dim()) - 1;
    call.results = {self};
  } else {
    call.results = {Axis{index->item + index->axis.dim, index->axis.outer, index->axis.inner}};
  }
}

void padded(Call& call) {  // (self, pad, …): pairs, from the last axis on
  const auto pad = call.arguments[1].toIntVector();
  const auto at = static_cast<std::size_t>(2 * (call.rank(0) - 1 - call.axis(0).dim));
  if (at + 1 < pad.size()) {
    const bool fills = call.operation.base == "constant_pad_nd";
    if (!fills || pad[at] != 0 || pad[at + 1] != 0) call.refuse("pads the batch axis");
  }
  call.results = {call.axis(0)};
}

void repeated(
    Call& call) {  // repeat(self, times): the batch again and again is one more outer factor
  const auto times = call.arguments[1].toIntVector();
  Axis axis = call.axis(0);
  axis.dim += static_cast<int>(times.size()) - static_cast<int>(call.rank(0));
  axis.outer *= times[static_cast<std::size_t>(axis.dim)];
  call.results = {axis};
}

void one_hot_classes(Call& call) {  // (self, classes)
  if (call.whole(1) < 0)
    call.refuse("the number of classes is read from the records", "give the number of classes");
  call.results = {call.axis(0)};
}

void shape_only(Call& call) { call.results = {kPublic}; }  // new_zeros, …: the type of its argument

void triangle(Call& call) {
  if (call.axis(0).dim >= call.rank(0) - 2) call.refuse("picks by the place on the batch axis");
  call.results = {call.axis(0)};
}

void same_memory(Call&) {}  // geometry decides, as for a view

}  // namespace sotto::deep::rows
