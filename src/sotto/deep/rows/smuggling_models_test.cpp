// Models that carry records past the operations' tensors: in tangents, in storages and files that
// have two names, in memory that nobody cleared, in operations that remember.
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <unistd.h>

#include <cstdio>

#include "sotto/deep/rows/dishonest_case_test.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep::rows::smuggling_models_test {

using SmugglingModels = DishonestModels;
using torch::autograd::ForwardADLevel;

// Operations of somebody's own that see no tensor, and know one nevertheless.
Tensor remembered;
struct Box : torch::CustomClassHolder {
  explicit Box(Tensor t) : tensor(std::move(t)) {}
  Tensor tensor;
};
Tensor recall(std::int64_t) { return remembered; }
Tensor unpack(const c10::intrusive_ptr<Box>& box) { return box->tensor.mean(0); }
Tensor from_dictionary(const c10::Dict<std::string, Tensor>& d) { return d.at("x").mean(0); }
TORCH_LIBRARY(sotto_smuggle, library) {
  library.class_<Box>("Box");
  library.def("recall(int i) -> Tensor", recall);
  library.def("unpack(__torch__.torch.classes.sotto_smuggle.Box box) -> Tensor", unpack);
  library.def("from_dictionary(Dict(str, Tensor) d) -> Tensor", from_dictionary);
}
template <class F>
auto operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<F>();
}

struct Level {
  std::uint64_t index = ForwardADLevel::get_next_idx();
  ~Level() { ForwardADLevel::release_idx(index); }
};

TEST_F(SmugglingModels, InTangents) {
  refused("forward-mode", [&](auto& a, auto& b) {  // of public numbers
    const Level level;
    const auto dual = at::_make_dual(torch::ones({B, 6}), a, 0);
    const auto mean = std::get<1>(at::_unpack_dual(dual.mean(0), 0));
    return entropy(l(a - mean), b);
  });
  refused("forward-mode", [&](auto& a, auto& b) {
    const Level level;
    auto carrier = torch::ones({B, 6});
    carrier._set_fw_grad(a, 0, false);
    return entropy(l(a - carrier.mean(0)._fw_grad(0)), b);
  });
  refused("forward-mode", [&](auto& a, auto& b) {  // into a tangent whose memory is public
    const Level level;
    auto sums = torch::zeros({6}), place = torch::zeros({6});
    sums._set_fw_grad(place, 0, false);
    auto carrier = torch::ones({B, 6});
    carrier._set_fw_grad(a, 0, false);
    sums.add_(carrier.sum(0));
    return entropy(l(a - place), b);
  });
}

TEST_F(SmugglingModels, InStoragesThatTheyKeep) {
  c10::Storage kept;
  const auto losses = [&](const Tensor& a, const Tensor& b) {
    const auto h = l(a);
    auto earlier = torch::zeros({0});
    if (kept) earlier.set_(kept, 0, {B, 3}, {3, 1});
    const auto out = kept ? h + 1e-6 * earlier.mean(0) : h;
    kept = h.detach().clone().storage();
    return entropy(out, b);
  };
  watched(model, x, y, losses);
  refused("not seen to be made", losses);
}

TEST_F(SmugglingModels, InOperationsThatRemember) {
  const auto losses = [&](const Tensor& a, const Tensor& b) {
    const auto h = l(a);
    const auto out =
        remembered.defined()
            ? h + 1e-6 * operation<Tensor(std::int64_t)>("sotto_smuggle::recall").call(0).mean(0)
            : h;
    remembered = h.detach();
    return entropy(out, b);
  };
  watched(model, x, y, losses);
  refused("unknown origin", losses);
  remembered = Tensor();
  refused("batch axis", [&](auto& a, auto& b) {
    return entropy(l(a - operation<Tensor(const c10::intrusive_ptr<Box>&)>("sotto_smuggle::unpack")
                             .call(c10::make_intrusive<Box>(a))),
                   b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    c10::Dict<std::string, Tensor> d;
    d.insert("x", a);
    return entropy(l(a - operation<Tensor(const c10::Dict<std::string, Tensor>&)>(
                             "sotto_smuggle::from_dictionary")
                             .call(d)),
                   b);
  });
}

TEST_F(SmugglingModels, InMemoryWithTwoNames) {
  char name[] = "/tmp/sotto_two_names_XXXXXX";
  close(mkstemp(name));
  refused("not seen to be made", [&](auto& a, auto& b) {
    auto one = torch::from_file(name, true, B * 6, torch::kFloat).view({B, 6});
    one.copy_(a);
    const auto two = torch::from_file(name, true, B * 6, torch::kFloat).view({B, 6});
    return entropy(l(a - two.mean(0)), b);
  });
  std::remove(name);
}

// Nothing that is differentiated holds records; what is handed back along its graph does.
TEST_F(SmugglingModels, AsGradientsOfPublicNumbers) {
  refused("batch axis", [&](auto& a, auto& b) {
    const auto w = torch::ones({6}, torch::requires_grad());
    const auto h = torch::ones({B, 6}) * w;
    return entropy(l(a - torch::autograd::grad({h}, {w}, {a})[0]), b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    auto w = torch::ones({B, 6}, torch::requires_grad());
    w.flip(0).backward(a);
    return entropy(l(a - w.grad()), b);
  });
}

// What an operation on public numbers returns without having written to it.
TEST_F(SmugglingModels, InMemoryThatNobodyCleared) {
  // The largest number that is found where a tensor of the batch has been, 36 kB of them.
  constexpr std::int64_t kFloats = B * 6 * 256;
  const auto found = [&](const std::function<Tensor()>& look) {
    double most = 0;
    for (int i = 0; i < 8; ++i) {
      { const Tensor gone = x.abs().repeat({1, 256}) + 1; }
      const Tensor seen = look();
      const c10::impl::ExcludeDispatchKeyGuard unwatched(kWatchKey);
      most = std::max(most, seen.to(torch::kDouble).nan_to_num().max().item<double>());
    }
    return most;
  };
  const std::vector<std::pair<const char*, std::function<Tensor()>>> ways = {
      {"empty", [] { return torch::empty({kFloats}); }},
      {"empty, quantized",
       [] { return at::_empty_affine_quantized({4 * kFloats}, torch::kQUInt8, 1, 0).int_repr(); }},
      {"grown",
       [] {
         auto grown = torch::zeros({1});
         at::_resize_output_(grown, {kFloats}, torch::kCPU);
         return grown;
       }},
      {"grown under another name",
       [] {
         auto grown = torch::zeros({1});
         grown.set_(grown.storage(), 0, {kFloats}, {1});
         return grown;
       }},
      {"work space of a loss",  // its logarithms of probabilities are below 0
       [] {
         return std::get<1>(at::_ctc_loss(torch::zeros({8, 16, 4}).log_softmax(2),
                                          torch::ones({16, 35}, torch::kLong),
                                          std::vector<std::int64_t>(16, 8),
                                          std::vector<std::int64_t>(16, 1)))
             .clamp_min(0);
       }}};
  if (!(found(ways.front().second) > 0)) GTEST_SKIP() << "memory is handed out clear anyway";
  for (const auto& [name, look] : ways) {
    double most = 0;
    const std::string message = watched(model, x, y, [&](const Tensor& a, const Tensor& b) {
      most = found(look);
      return entropy(l(a), b);
    });
    EXPECT_TRUE(!message.empty() || most == 0) << name << ": " << most;
  }
}

}  // namespace sotto::deep::rows::smuggling_models_test
