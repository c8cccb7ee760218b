// Roundabout ways for records to meet: batches taken for sequences, images or channels, values in
// the place of indices, memory seen as another type, derivatives inside of a model.
#include "sotto/deep/rows/dishonest_case_test.hpp"

namespace sotto::deep::rows::roundabout_models_test {

using RoundaboutModels = DishonestModels;

TEST_F(RoundaboutModels, TakeTheBatchForSomethingElse) {
  nn::LSTM lstm(nn::LSTMOptions(6, 6));
  model.register_module("lstm", lstm);
  refused("", [&](auto& a, auto& b) {  // as time
    return entropy(l(std::get<0>(lstm(a.unsqueeze(1))).squeeze(1)), b);
  });
  refused("", [&](auto& a, auto& b) {  // as the length of a signal
    const auto kernel = torch::full({6, 6, 3}, 1e-6);
    return entropy(l(a + torch::conv1d(a.t().unsqueeze(0), kernel, {}, 1, 1)[0].t()), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::avg_pool1d(a.t().unsqueeze(0), {3}, {1}, {1})[0].t()), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::max_pool1d(a.t().unsqueeze(0), 3, 1, 1)[0].t()), b);
  });
  refused("", [&](auto& a, auto& b) {  // as the rows of an image
    return entropy(
        l(F::interpolate(a.unsqueeze(0).unsqueeze(0), F::InterpolateFuncOptions()
                                                          .size(std::vector<std::int64_t>{B, 6})
                                                          .mode(torch::kBilinear))
              .squeeze(0)
              .squeeze(0)),
        b);
  });
  refused("", [&](auto& a, auto& b) {  // as channels
    return entropy(l(torch::group_norm(a.unsqueeze(0), 2)[0]), b);
  });
  refused("", [&](auto& a, auto& b) {  // as the features of a layer norm
    return entropy(l(torch::layer_norm(a.t(), {B}).t()), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(F::pad(a.t(), F::PadFuncOptions({1, 0})).t().narrow(0, 0, B)), b);
  });
  refused("", [&](auto& a, auto& b) { return entropy(l(torch::fft_fft(a, {}, 0).abs()), b); });
  refused("", [&](auto& a, auto& b) { return entropy(l(a.unfold(0, 2, 1).sum(2)), b); });
}

TEST_F(RoundaboutModels, LetRecordsChooseAmongRecords) {
  refused("", [&](auto& a, auto& b) {  // consumes its source in the order of the rows
    return entropy(l(torch::zeros_like(a).masked_scatter(a > 0, a)), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(a.take((a.abs() * 3).to(torch::kLong).clamp(0, B * 6 - 1))), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::zeros_like(a).index_add(0, b.clamp(0, 2), a)), b);
  });
  refused("", [&](auto& a, auto& b) {
    auto copy = a.clone();
    copy.index_put_({b}, a);
    return entropy(l(copy), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::bucketize(a, std::get<0>(a.select(1, 0).sort())).to(torch::kFloat)), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(a.repeat_interleave(b.clamp_min(1), 0).narrow(0, 0, B)), b);
  });
  refused("", [&](auto& a, auto& b) { return entropy(l(a.index_fill(0, b, 0)), b); });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::embedding(a, b)), b);  // rows of the batch as a table
  });
}

TEST_F(RoundaboutModels, MultiplyRecordsWithRecords) {
  for (const char* formula : {"bi,ci->bc", "bi,cj->bj", "bi,bj->ij"})
    refused("", [&](auto& a, auto& b) {
      return entropy(l(a + 1e-9 * torch::einsum(formula, {a, a}).sum()), b);
    });
  refused("", [&](auto& a, auto& b) { return entropy(l(torch::cdist(a, a)), b); });
  refused("", [&](auto& a, auto& b) { return entropy(l(torch::corrcoef(a)), b); });
  refused("", [&](auto& a, auto& b) { return entropy(l(std::get<0>(torch::linalg_svd(a))), b); });
  refused("",
          [&](auto& a, auto& b) { return entropy(l(a + torch::tensordot(a, a, {0}, {0})), b); });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(torch::kron(a, a).narrow(0, 0, B).narrow(1, 0, 6)), b);
  });
}

TEST_F(RoundaboutModels, SeeMemoryAsAnotherTypeOrShape) {
  refused("", [&](auto& a, auto& b) {  // two records in one number
    const auto pairs = a.select(1, 0).contiguous().view(torch::kDouble);
    return entropy(l(a + 1e-9 * pairs.to(torch::kFloat).repeat({2}).unsqueeze(1)), b);
  });
  refused("", [&](auto& a, auto& b) {
    const auto pairs = torch::view_as_complex(a.view({B / 2, 6, 2}));
    return entropy(l(torch::view_as_real(pairs.conj().resolve_conj()).reshape({B, 6})), b);
  });
  refused("", [&](auto& a, auto& b) {
    return entropy(l(a.as_strided({B, 6}, {6, 1}, 0) + a.as_strided({B, 6}, {0, 1}, 6)), b);
  });
  refused("", [&](auto& a, auto& b) {
    auto copy = a.clone();
    copy.slice(0, 0, 3).copy_(a.slice(0, 3, 6));
    return entropy(l(copy), b);
  });
  refused("", [&](auto& a, auto& b) { return entropy(l(a.to_sparse().to_dense().flip(0)), b); });
}

// A derivative inside of a model adds up over the batch where its own weight is shared by the
// records.
TEST_F(RoundaboutModels, DifferentiateOnTheWay) {
  refused("", [&](auto& a, auto& b) {
    const auto w = torch::ones({6}, torch::requires_grad());
    const auto h = a * w;
    const auto g = torch::autograd::grad({h}, {w}, {torch::ones_like(h)})[0];
    return entropy(l(a + 1e-9 * g), b);
  });
  refused("", [&](auto& a, auto& b) {
    const auto w = torch::ones({6, 6}, torch::requires_grad());
    const auto h = a.mm(w);
    const auto g = torch::autograd::grad({h}, {w}, {torch::ones_like(h)})[0];
    return entropy(l(a.mm(g)), b);
  });
}

}  // namespace sotto::deep::rows::roundabout_models_test
