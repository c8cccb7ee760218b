// The rules of layers, products and places, by examples.
#include <set>

#include "sotto/deep/rows/rule_audit_test.hpp"

namespace sotto::deep::rows::layer_rules_test {

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

// With the defaults of what was left out.
Arguments completed(const c10::OperatorHandle& handle, Arguments arguments) {
  for (std::size_t i = arguments.size(); i < handle.schema().arguments().size(); ++i)
    arguments.push_back(handle.schema().arguments()[i].default_value().value_or(IValue()));
  return arguments;
}

// What a private pass calls in the place of LibTorch's kernels keeps to the same rules.
TEST(RowRules, TheKernelsOfPrivatePassesKeepRecordsApart) {
  torch::manual_seed(3);
  const std::set<std::string> wanted = {
      "linear",         "conv1d",         "conv2d",         "conv3d",
      "conv1d.padding", "conv2d.padding", "conv3d.padding", "max_pool2d",
      "embedding",      "layer_norm",     "group_norm",     "instance_norm",
      "lstm.input",     "gru.input",      "rnn_tanh.input", "rnn_relu.input"};
  std::set<std::string> ours;
  for (const Sample& sample : samples()) {
    if (sample.batch.empty() || !wanted.contains(sample.name)) continue;
    const auto handle = operation(sample.name);
    const Audit a =
        audit(handle, completed(handle, sample.arguments), sample.batch, false, Kernels::recording);
    EXPECT_EQ(a.said, "") << sample.name;
    EXPECT_TRUE(a.moved) << sample.name << ": the audit saw nothing move";
    if (a.by_us) ours.insert(sample.name);
  }
  EXPECT_EQ(ours, wanted);
}

TEST(RowRules, LayersProductsAndPlacesKeepRecordsApart) {
  torch::manual_seed(2);
  std::set<std::string> audited;
  for (const Sample& sample : samples()) {
    audited.insert(sample.name);
    if (sample.batch.empty()) continue;
    const auto handle = operation(sample.name);
    const Audit a = audit(handle, completed(handle, sample.arguments), sample.batch);
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

}  // namespace sotto::deep::rows::layer_rules_test
