// What LibTorch makes of other operations.
#include <map>

#include "sotto/deep/rows/rule_audit_test.hpp"

namespace sotto::deep::rows::composite_rules_test {

// What LibTorch makes of other operations must come by in parts and keep rows, whatever its kernel
// does.
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

}  // namespace sotto::deep::rows::composite_rules_test
