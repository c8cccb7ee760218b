// Which models make something of the number of rows, or of the number of a row.
#include "sotto/deep/rows/detail/transcript.hpp"

#include <gtest/gtest.h>

#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/rows/pass_test.hpp"

namespace sotto::deep::rows::transcript_test {

struct NetImpl : nn::Module {
  NetImpl() : fc(4, 4), lstm(nn::LSTMOptions(4, 4).batch_first(true)) {
    register_module("fc", fc);
    register_module("lstm", lstm);
    table = register_buffer("table", torch::randn({64, 4}));
    start = register_buffer("start", torch::randn({1, 4}));
  }
  nn::Linear fc;
  nn::LSTM lstm;
  Tensor table, start;
};
TORCH_MODULE(Net);

bool same(const std::function<Tensor(Net&, const Tensor&)>& forward) {
  torch::manual_seed(1);
  Net net;
  std::vector<RecordTensors> batches;
  for (const std::int64_t n : {2, 3, 11})
    batches.push_back({torch::randn({n, 4}), torch::randn({n, 4})});
  ClippedSum sum(*net, {});
  return sum.same_for_any_size(batches, [&](const std::vector<Tensor>& b) {
    return squared_loss(forward(net, b[0]), b[1]);
  });
}

TEST(NumberOfRows, HonestModelsMakeNothingOfIt) {
  EXPECT_TRUE(same([](Net& n, auto& x) { return n->fc(torch::tanh(x)); }));
  EXPECT_TRUE(same([](Net& n, auto& x) { return torch::dropout(n->fc(x), 0.5, true); }));
  EXPECT_TRUE(same([](Net& n, auto& x) { return n->fc(x + torch::ones({x.size(0), 4})); }));
  EXPECT_TRUE(same([](Net& n, auto& x) { return n->fc(x + n->start.expand({x.size(0), 4})); }));
  EXPECT_TRUE(same([](Net& n, auto& x) {
    return n->fc(x.view({x.size(0) * 2, 2}).view({-1, 4}));
  }));
  EXPECT_TRUE(same([](Net& n, auto& x) {
    const auto h = n->fc(torch::cat({x, x.new_zeros({x.size(0), 2})}, 1).narrow(1, 1, 4));
    return std::get<0>(n->lstm(h.unsqueeze(1))).select(1, 0);
  }));
  EXPECT_TRUE(same([](Net& n, auto& x) {
    const auto state = torch::zeros({1, x.size(0), 4});
    return std::get<0>(n->lstm(x.unsqueeze(1), std::make_tuple(state, state))).select(1, 0);
  }));
  EXPECT_TRUE(same([](Net& n, auto& x) {
    auto out = torch::zeros({x.size(0), 2, 4});
    out.select(1, 1).copy_(n->fc(x));
    return out.sum(1);
  }));
  EXPECT_TRUE(same([](Net& n, auto& x) { return n->fc(x.t().contiguous().t()); }));
}

TEST(NumberOfRows, NumbersThatFollowItAreFound) {
  const auto rows = [](const Tensor& x) { return static_cast<double>(x.size(0)); };
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x / rows(x)); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x).clamp_max(rows(x)); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x).add(x, 1e-9 * rows(x)); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return torch::dropout(n->fc(x), 1 / rows(x), true); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x) * torch::tensor(rows(x)); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x + torch::full_like(x, rows(x))); }));
  EXPECT_FALSE(same([&](Net& n, auto& x) {
    return n->fc(x) * torch::ones({x.size(0)}).sum();  // a public sum over as many ones
  }));
  EXPECT_FALSE(same([&](Net& n, auto& x) {
    auto scale = torch::zeros({1});
    scale.data_ptr<float>()[0] = static_cast<float>(x.size(0));
    return n->fc(x) * scale;
  }));
  EXPECT_FALSE(same([&](Net& n, auto& x) { return n->fc(x + n->table[x.size(0)]); }));
}

TEST(NumberOfRows, TheProgramMayNotChooseByIt) {
  EXPECT_FALSE(same([](Net& n, auto& x) { return x.size(0) > 5 ? n->fc(x) : n->fc(x).tanh(); }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    const auto a = n->fc(x), b = n->fc(-x);  // of one shape, which is which
    return x.size(0) % 2 == 0 ? a * 2 : b * 2;
  }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    const auto h = torch::cat({x, x.square()}, 1);  // other columns of the same memory
    return n->fc(h.narrow(1, x.size(0) == 2 ? 0 : 1, 4));
  }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    auto h = n->fc(x);
    for (std::int64_t i = 0; i < x.size(0); ++i) h = torch::tanh(h);
    return h;
  }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    const auto h = torch::cat({x, torch::zeros({x.size(0), x.size(0)})}, 1);
    return n->fc(h.narrow(1, 0, 4));
  }));
}

TEST(NumberOfRows, RowsMayNotKnowTheirPlace) {
  EXPECT_FALSE(
      same([](Net& n, auto& x) { return n->fc(x) * torch::arange(x.size(0)).unsqueeze(1); }));
  EXPECT_FALSE(same([](Net& n, auto& x) { return n->fc(x + n->table.narrow(0, 0, x.size(0))); }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    // Row b takes its number from row b of a table that is longer than any of the batches.
    return n->fc(x) + n->table.gather(1, (x > 0).to(torch::kLong));
  }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    return n->fc(x) + n->fc(torch::eye(x.size(0), 4));  // a private layer with a public input
  }));
  EXPECT_FALSE(same([](Net& n, auto& x) {
    auto out = torch::zeros({x.size(0), 4});
    out[0].fill_(1);
    return n->fc(x) + out;
  }));
}

}  // namespace sotto::deep::rows::transcript_test
