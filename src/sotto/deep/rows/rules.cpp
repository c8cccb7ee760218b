#include "sotto/deep/rows/detail/rules.hpp"

#include <array>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace sotto::deep::rows {
namespace {

// Draws are in their own family: how many numbers are drawn must not depend on values, or a record
// would shift those of others. (rrelu, poisson, multinomial and binomial do, and are not here.)
constexpr Family kFamilies[] = {
    {"element by element",
     "abs neg exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal square tanh sigmoid logit "
     "relu "
     "relu6 leaky_relu elu selu celu gelu silu mish hardtanh hardswish hardsigmoid softplus "
     "softshrink "
     "hardshrink threshold log_sigmoid log_sigmoid_forward sin cos tan asin acos atan sinh cosh "
     "asinh "
     "acosh atanh erf erfc erfinv floor ceil round trunc frac sign sgn isnan isinf isfinite "
     "logical_not bitwise_not nan_to_num add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor "
     "mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode rsub "
     "floor_divide remainder fmod pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar atan2 maximum "
     "minimum fmax fmin clamp clamp_min clamp_max eq ne lt le gt ge logical_and logical_or "
     "logical_xor "
     "bitwise_and bitwise_or bitwise_xor where.self where.ScalarSelf where.ScalarOther "
     "where.Scalar "
     "masked_fill lerp addcmul addcdiv hypot copysign xlogy copy_ clone _to_copy zero_ fill_ "
     "empty_like "
     "zeros_like ones_like full_like positive sinc heaviside",
     element_wise},
    {"a random number for each element",
     "dropout feature_dropout alpha_dropout feature_alpha_dropout native_dropout bernoulli "
     "bernoulli.p bernoulli_.Tensor bernoulli_.float uniform_ normal_ random_ random_.from "
     "random_.to "
     "exponential_ rand_like randn_like randint_like randint_like.low_dtype",
     element_wise},
    {"losses without reduction",
     "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
     "binary_cross_entropy_with_logits soft_margin_loss kl_div",
     loss},
    {"reductions of other axes",
     "sum.dim_IntList mean.dim amax amin max.dim min.dim argmax argmin logsumexp "
     "norm.ScalarOpt_dim "
     "linalg_vector_norm std.correction std.dim var.correction var.dim var_mean.correction "
     "var_mean.dim std_mean.correction std_mean.dim prod.dim_int any.dim all.dim median.dim "
     "nanmedian.dim kthvalue mode nansum count_nonzero.dim_IntList",
     reduction},
    {"along another axis",
     "_softmax _log_softmax softmax.int log_softmax.int cumsum cumprod cummax cummin logcumsumexp "
     "sort sort.stable argsort argsort.stable topk flip roll glu",
     along_axis},
    {"products", "matmul mm bmm mv", product},
    {"sums and products", "addmm baddbmm addmv", sum_and_product},
    {"linear maps", "linear", linear_map},
    {"convolutions",
     "convolution conv1d conv2d conv3d conv1d.padding conv2d.padding conv3d.padding", convolution},
    {"lookups in a table", "embedding", lookup},
    {"layer norm", "layer_norm native_layer_norm", layer_normalization},
    {"group norm", "group_norm", group_normalization},
    {"instance norm", "instance_norm", instance_normalization},
    {"batch norm with frozen statistics", "batch_norm", batch_normalization},
    {"pools and resampling in one dimension",
     "max_pool1d avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d max_pool1d_with_indices "
     "upsample_nearest1d upsample_linear1d",
     space<1>},
    {"pools and resampling in two dimensions",
     "max_pool2d avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool2d adaptive_max_pool2d "
     "max_pool2d_with_indices upsample_nearest2d upsample_bilinear2d upsample_bicubic2d",
     space<2>},
    {"pools and resampling in three dimensions",
     "max_pool3d avg_pool3d adaptive_avg_pool3d _adaptive_avg_pool3d adaptive_max_pool3d "
     "max_pool3d_with_indices upsample_nearest3d upsample_trilinear3d",
     space<3>},
    {"recurrent layers", "lstm.input gru.input rnn_tanh.input rnn_relu.input", recurrent_layer},
    {"joined along another axis", "cat", joined},
    {"stacked", "stack", stacked},
    {"picked along another axis", "index_select", selected},
    {"gathered along another axis", "gather", gathered},
    {"scattered along another axis", "scatter.src scatter.value scatter_add", scattered},
    {"indexed on another axis", "index.Tensor", indexed},
    {"losses of classes", "nll_loss nll_loss_nd nll_loss2d cross_entropy_loss", class_loss},
    {"padded on other axes",
     "constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
     "replication_pad2d replication_pad3d",
     padded},
    {"repeated", "repeat", repeated},
    {"one-hot", "one_hot", one_hot_classes},
    {"made after a type", "new_zeros new_ones new_empty new_full", shape_only},
    {"triangles of other axes", "tril triu", triangle},
    {"the same memory",
     "_unsafe_view _reshape_alias unsafe_split.Tensor unsafe_split_with_sizes detach_ squeeze_ "
     "squeeze_.dim unsqueeze_ transpose_ t_",
     same_memory},
};

constexpr const char* kComposites =
    "_pad_enum absolute arccos arcsin arctan atleast_1d atleast_2d broadcast_tensors broadcast_to "
    "chunk clip "
    "column_stack concat concatenate contiguous conv_transpose1d conv_transpose2d conv_transpose3d "
    "cosine_similarity diff divide einsum "
    "expand_as flatten fliplr float_power greater greater_equal gru_cell hstack less "
    "less_equal lstm_cell moveaxis movedim mT multiply narrow negative not_equal numpy_T "
    "pad pairwise_distance ravel repeat_interleave reshape reshape_as rnn_relu_cell "
    "rnn_tanh_cell subtract swapaxes swapdims tensor_split.indices tensor_split.sections "
    "tensordot tile to true_divide type_as unflatten unsafe_chunk view_as";

struct Without {
  const char* names;
  Reason reason;
};
constexpr Without kWithout[] = {
    {"_local_scalar_dense is_nonzero item",
     {"reads a value of a record into the program",
      "replace the branch by where, clamp or masked_fill"}},
    {"sum mean max min prod any all std var norm median argmax argmin logsumexp nansum aminmax",
     {"goes over all axes, the batch axis too", "name the axes: all but the batch"}},
    {"nonzero masked_select unique _unique _unique2 unique_consecutive bincount histc",
     {"its result has a shape or counts that depend on all records",
      "use where, masked_fill or one_hot"}},
    {"_pack_padded_sequence _pad_packed_sequence lstm gru rnn_tanh rnn_relu",
     {"packed sequences order and count records",
      "pass padded sequences, and mask what is padding"}},
    {"embedding_renorm_",
     {"max_norm changes the table by which tokens a batch holds, without noise",
      "leave max_norm off"}},
    {"rrelu rrelu_with_noise poisson multinomial binomial",
     {"how many random numbers it draws depends on the records", "use dropout or leaky_relu"}},
    {"resize_ resize_as_ _resize_output_",
     {"memory that grows may hold what others left in it", "make a new tensor instead"}},
    {"set_ from_file",
     {"memory that was not seen to be made, and may have another name",
      "make tensors by operations, and give records by the batch"}},
    {"_make_dual _unpack_dual _fw_primal",
     {"forward-mode derivatives carry values beside those that are followed",
      "leave derivatives to the backward pass"}},
};
// Refused with public operands too: these bring memory, or values, that no operand shows.
constexpr const char* kNever =
    "resize_ resize_as_ _resize_output_ set_ from_file _make_dual _unpack_dual _fw_primal";

std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

const std::unordered_set<std::string>* set_of(const char* text) {
  const auto list = words(text);
  return new std::unordered_set<std::string>(list.begin(), list.end());
}

std::string without_underscore(const std::string& base) {
  return base.size() > 1 && base.back() == '_' && base[base.size() - 2] != '_'
             ? base.substr(0, base.size() - 1)
             : base;
}

constexpr const char* kMetadata =
    "size.int size stride.int stride dim numel is_floating_point is_complex is_signed is_same_size "
    "result_type.Tensor result_type.Scalar can_cast is_conj is_neg is_inference _version is_leaf "
    "output_nr requires_grad_ retains_grad is_contiguous _has_compatible_shallow_copy_type";

}  // namespace

std::span<const Family> families() { return kFamilies; }
std::vector<std::string> composites() { return words(kComposites); }

Rule rule_for(const std::string& full, const std::string& base) {
  static const auto* const table = [] {
    auto* t = new std::unordered_map<std::string, Rule>;
    for (const Family& f : kFamilies)
      for (const std::string& name : words(f.names)) t->emplace(name, f.rule);
    return t;
  }();
  // "add_.Tensor" is "add.Tensor" written into its first operand; a name without overload stands
  // for all of them.
  const std::string overload = full.substr(base.size());
  for (const std::string& key :
       {full, without_underscore(base) + overload, base, without_underscore(base)})
    if (const auto found = table->find(key); found != table->end()) return found->second;
  return nullptr;
}

Reason reason_without_rule(const std::string& base) {
  for (const auto& [names, reason] : kWithout)
    for (const std::string& name : words(names))
      if (name == base) return reason;
  return {"has no rule, so it is not known to keep records apart", ""};
}

const Operation& operation_of(const c10::OperatorHandle& handle) {
  thread_local std::unordered_map<const void*, Operation> known;
  const auto& schema = handle.schema();
  const auto [it, fresh] = known.try_emplace(&schema);
  Operation& o = it->second;
  if (!fresh) return o;
  static const auto* const metadata = set_of(kMetadata);
  static const auto* const made_of_others = set_of(kComposites);
  static const auto* const never = set_of(kNever);
  o.name = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
  o.arguments = schema.arguments().size();
  o.libtorch = schema.name().starts_with("aten::");
  o.intercepted = handle.hasKernelForDispatchKey(kInterceptKey);
  const bool aten = o.libtorch;
  o.base = aten ? schema.name().substr(6) : schema.name();
  bool named = false;
  for (std::size_t i = 0; i < o.arguments; ++i) {
    const auto& a = schema.arguments()[i];
    const auto place = static_cast<int>(i);
    if (a.alias_info() != nullptr && a.alias_info()->isWrite()) {
      o.written.push_back(place);
      if (a.is_out()) o.outputs.push_back(place);
    }
    if (a.name() == "dim" || a.name() == "dims") o.dim = place;
    if (a.name() == "keepdim") o.keepdim = place;
    if (a.name() == "reduction") o.reduction = place;
  }
  if (!aten) return o;  // an operation of somebody's own
  const std::string full = o.name.substr(6), overload = schema.overload_name();
  named = overload.find("imname") != std::string::npos || overload.find("names") == 0;
  o.never = never->contains(o.base);
  o.uninitialized = o.base.starts_with("empty") || o.base.starts_with("new_empty");
  bool view = !schema.returns().empty() && o.written.empty();
  for (const auto& r : schema.returns())
    view &= r.alias_info() != nullptr && !r.alias_info()->isWrite();
  const auto has = [&](c10::DispatchKey key) { return handle.hasKernelForDispatchKey(key); };
  const bool composite = has(c10::DispatchKey::CompositeImplicitAutograd) &&
                         !has(c10::DispatchKey::CPU) && !has(c10::DispatchKey::Autograd) &&
                         !has(c10::DispatchKey::AutogradCPU);
  if (named) return o;
  if (full == "equal") {
    o.kind = Operation::Kind::equal;
  } else if (metadata->contains(full)) {
    o.kind = Operation::Kind::metadata;
  } else if ((o.rule = rule_for(full, o.base)) != nullptr) {
    o.kind = Operation::Kind::ruled;
  } else if (composite) {
    if (made_of_others->contains(full) || made_of_others->contains(o.base) ||
        made_of_others->contains(without_underscore(o.base)))
      o.kind = Operation::Kind::composite;
  } else if (view) {
    o.kind = Operation::Kind::view;
  }
  return o;
}

}  // namespace sotto::deep::rows
