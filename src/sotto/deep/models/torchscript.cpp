#include <fmt/format.h>
#include <torch/script.h>

#include <algorithm>
#include <sstream>

#include "sotto/core/error.hpp"
#include "sotto/deep/models/network.hpp"

namespace sotto::deep {
namespace {

// layers.dense1.weight → dense1_weight: attributes of a program have no dots.
std::string attribute(std::string name) {
  constexpr std::string_view kPrefix = "layers.";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string linear(const std::string& layer) {
  return fmt::format("    x = torch.matmul(x, self.{0}_weight.t()) + self.{0}_bias\n", layer);
}

std::string forward_of(const NetworkOptions& options) {
  if (options.kind == NetworkKind::sequence)
    throw Unsupported("a sequence is not written as TorchScript", "leave out `torchscript`");
  const std::string activation = fmt::format("    x = torch.{}(x)\n", name(options.activation));
  std::string text = "def forward(self, x):\n";
  if (options.kind == NetworkKind::cnn) {
    const std::string pool = "    x = torch.max_pool2d(x, [2, 2], [1, 1])\n";
    const auto convolution = [](int number, int padding) {
      return fmt::format(
          "    x = torch.conv2d(x, self.conv{0}_weight, self.conv{0}_bias, [2, 2], [{1}, {1}])\n",
          number, padding);
    };
    text += convolution(1, 3) + activation + pool + convolution(2, 0) + activation + pool;
  }
  text += "    x = torch.flatten(x, 1)\n";
  const std::size_t hidden = options.kind == NetworkKind::softmax ? 0
                             : options.kind == NetworkKind::cnn   ? 1
                                                                  : options.hidden.size();
  for (std::size_t i = 1; i <= hidden; ++i) text += linear(fmt::format("dense{}", i)) + activation;
  return text + linear("output") + "    return x\n";
}

}  // namespace

std::string to_torchscript(const Network& network) {
  try {
    torch::jit::Module program("SottoNetwork");
    for (const auto& p : network->named_parameters())
      program.register_parameter(attribute(p.key()), p.value().detach(), false);
    program.define(forward_of(network->options()));
    std::ostringstream bytes;
    program.save(bytes);
    return bytes.str();
  } catch (const c10::Error& e) {
    invariant_broken(fmt::format("TorchScript: {}", e.what_without_backtrace()));
  }
}

}  // namespace sotto::deep
