// Row-wise operations have row-wise derivatives as long as the derivative is the operation's own.
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <typeindex>
#include <unordered_map>
#include <unordered_set>

#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep::rows {
namespace {

using torch::autograd::Node;

// The object file that the type of a node was compiled into.
const void* home(const Node& node) {
  Dl_info info{};
  return dladdr(typeid(node).name(), &info) != 0 ? info.dli_fbase : nullptr;
}

const void* libtorch() {
  static const void* const base = [] {
    const c10::impl::ExcludeDispatchKeyGuard plain(kWatchKey);
    const torch::AutoGradMode grad(true);
    return home(*torch::ones({1}, torch::requires_grad()).mul(2).grad_fn());
  }();
  return base;
}

enum class NodeKind { foreign, own, leaf };

NodeKind kind_of(const Node& node) {
  thread_local std::unordered_map<std::type_index, NodeKind> known;
  const auto [kind, fresh] = known.try_emplace(typeid(node), NodeKind::foreign);
  if (fresh) {
    const bool ours =
        is_private_layer(node) || (libtorch() != nullptr && home(node) == libtorch() &&
                                   node.name().find("CppNode") == std::string::npos);
    const bool leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(&node) != nullptr;
    kind->second = !ours ? NodeKind::foreign : leaf ? NodeKind::leaf : NodeKind::own;
  }
  return kind->second;
}

// A leaf keeps the hooks of its tensor with the tensor.
bool has_hooks(const Node& node, NodeKind kind) {
  if (!node.pre_hooks().empty() || !node.post_hooks().empty()) return true;
  return kind == NodeKind::leaf &&
         !torch::autograd::impl::hooks(
              static_cast<const torch::autograd::AccumulateGrad&>(node).variable)
              .empty();
}

[[noreturn]] void refuse(const Node& node, const char* why, const char* hint) {
  throw NotRowWise(fmt::format("{}: {}", node.name(), why), hint);
}

}  // namespace

void require_own_derivatives(const torch::Tensor& losses) {
  std::vector<Node*> open{losses.grad_fn().get()};
  std::unordered_set<Node*> met;
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (node == nullptr || !met.insert(node).second) continue;
    const NodeKind kind = kind_of(*node);
    if (has_hooks(*node, kind))
      refuse(*node, "a hook may change or keep gradients of records on the way back",
             "take hooks and retain_grad() off");
    if (kind == NodeKind::foreign)
      refuse(*node, "a derivative of its own, which may let records meet",
             "write the function with LibTorch's operations and leave its derivative to LibTorch");
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
}

}  // namespace sotto::deep::rows
