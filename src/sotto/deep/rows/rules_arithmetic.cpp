// Rules of arithmetic: element by element, along an axis, products.
#include "sotto/deep/rows/detail/rules.hpp"

namespace sotto::deep::rows {
namespace {

constexpr const char* kAnotherOperand = "another operand holds records";

// The axis on which all operands have their records, counted in the shape of the result.
Axis aligned(const Call& call, std::int64_t rank) {
  Axis all;
  for (const Operand& o : call.operands) {
    if (!o.axis.holds_records()) continue;
    const Axis here{static_cast<int>(rank - o.tensor->dim()) + o.axis.dim, o.axis.outer,
                    o.axis.inner};
    if (all.holds_records() && all != here)
      call.refuse("the records of two operands lie on different axes, so that rows would meet",
                  "bring the batch axes to the same place with unsqueeze or transpose");
    all = here;
  }
  return all;
}

// Records meet nowhere in a @ b; counted from the right, 0 is the last axis.
Axis product_axis(const Call& call, const at::Tensor& a, const Axis& in_a, const at::Tensor& b,
                  const Axis& in_b) {
  constexpr const char* kSums = "a product adds up over the batch axis";
  constexpr const char* kMeet = "a product of records with records";
  const std::int64_t rank_a = a.dim(), rank_b = b.dim();
  std::int64_t from_right = -1;
  Axis axis;
  if (in_a.holds_records()) {
    from_right = rank_a - 1 - in_a.dim;
    if (from_right == 0) call.refuse(kSums);
    if (from_right == 1 && in_b.holds_records()) call.refuse(kMeet);
    axis = in_a;
  }
  if (in_b.holds_records()) {
    const std::int64_t here = rank_b - 1 - in_b.dim;
    if (rank_b == 1 || here == 1) call.refuse(kSums);
    if (in_a.holds_records() &&
        (here == 0 || here != from_right || in_a.outer != in_b.outer || in_a.inner != in_b.inner))
      call.refuse(kMeet);
    from_right = here;
    axis = in_b;
  }
  // A vector operand leaves no axis behind.
  std::int64_t rank = std::max<std::int64_t>({rank_a, rank_b, 2});
  if (rank_b == 1) --rank, --from_right;
  if (rank_a == 1) --rank, from_right -= from_right > 0;
  axis.dim = static_cast<int>(rank - 1 - from_right);
  return axis;
}

}  // namespace

void element_wise(Call& call) {
  std::int64_t rank = 0;
  for (const Operand& o : call.operands) rank = std::max(rank, o.tensor->dim());
  call.results = {aligned(call, rank)};
}

void loss(Call& call) {
  if (call.operation.reduction < 0 || call.whole(call.operation.reduction) != 0)
    call.refuse("a loss averaged or added up over the batch",
                "use reduction none, or the losses of sotto/deep/losses.hpp");
  element_wise(call);
}

namespace {

void over_axes(Call& call, bool keep) {
  call.only({0}, kAnotherOperand);
  const Axis x = call.axis(0);
  const c10::IValue none,
      &dims = call.operation.dim < 0 ? none : call.arguments[call.operation.dim];
  Axis out = x;
  const auto goes_along = [&](std::int64_t d) {
    const auto rank = std::max<std::int64_t>(call.rank(0), 1);
    d = d < 0 ? d + rank : d;
    if (d == x.dim) call.refuse("goes along the batch axis", "use it on other axes only");
    if (!keep && d < x.dim) --out.dim;
  };
  bool any = false;
  if (dims.isInt()) {
    goes_along(dims.toInt());
    any = true;
  } else if (dims.isIntList()) {
    for (const std::int64_t d : dims.toIntVector()) {
      goes_along(d);
      any = true;
    }
  }
  if (!any)
    call.refuse("goes over all axes, the batch axis too", "name the axes: all but the batch");
  call.results = {out};
}

}  // namespace

void reduction(Call& call) {
  const int keep = call.operation.keepdim;
  over_axes(call, keep >= 0 && call.arguments[keep].toBool());
}

void along_axis(Call& call) { over_axes(call, true); }

void product(Call& call) {
  call.results = {product_axis(call, call.tensor(0), call.axis(0), call.tensor(1), call.axis(1))};
}

void sum_and_product(Call& call) {  // β·s + α·(a @ b)
  Axis of_product;
  if (call.axis(1).holds_records() || call.axis(2).holds_records())
    of_product = product_axis(call, call.tensor(1), call.axis(1), call.tensor(2), call.axis(2));
  Axis of_sum = call.axis(0);
  if (of_sum.holds_records()) {
    const std::int64_t rank = call.rank(1) - (call.rank(2) == 1 ? 1 : 0);
    of_sum.dim += static_cast<int>(rank - call.rank(0));
    if (of_product.holds_records() && of_product != of_sum)
      call.refuse("the records of two operands lie on different axes, so that rows would meet");
    call.results = {of_sum};
  } else {
    call.results = {of_product};
  }
}

}  // namespace sotto::deep::rows
