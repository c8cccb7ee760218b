#include "bench_models.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

nn::Conv2d conv3(std::int64_t in, std::int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
}
nn::MaxPool2d halve() { return nn::MaxPool2d(nn::MaxPool2dOptions(2)); }
nn::MaxPool2d pool21() { return nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(1)); }

struct EmbeddingNet : nn::Module {
  EmbeddingNet() : table(10000, 64), fc(64, 2) {
    register_module("table", table);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& tokens) { return fc(table(tokens).mean(1)); }
  nn::Embedding table;
  nn::Linear fc;
};

struct LstmNet : nn::Module {
  LstmNet() : lstm(nn::LSTMOptions(64, 128).batch_first(true)), fc(128, 2) {
    register_module("lstm", lstm);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) { return fc(std::get<0>(lstm(x)).select(1, -1)); }
  nn::LSTM lstm;
  nn::Linear fc;
};

struct TransformerNet : nn::Module {
  TransformerNet()
      : encoder(nn::TransformerEncoderOptions(
            nn::TransformerEncoderLayerOptions(128, 4).dim_feedforward(512).dropout(0), 2)),
        fc(128, 2) {
    register_module("encoder", encoder);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) { return fc(encoder(x.transpose(0, 1)).mean(0)); }
  nn::TransformerEncoder encoder;
  nn::Linear fc;
};

template <class Net>
BenchModel with(std::shared_ptr<Net> net, Tensor x, std::int64_t classes) {
  BenchModel model;
  model.module = net;
  model.forward = [net](const Tensor& input) -> Tensor { return net->forward(input); };
  model.batch = x.size(0);
  model.y = torch::randint(classes, {x.size(0)}, torch::kLong);
  model.x = std::move(x);
  return model;
}

}  // namespace

std::int64_t usual_batch(const std::string& model) {
  if (model == "softmax") return 2048;
  if (model == "cifar_cnn") return 128;
  if (model == "lstm" || model == "transformer") return 64;
  return 256;
}

BenchModel make_bench_model(const std::string& name, std::int64_t batch) {
  if (name == "softmax")
    return with(nn::Sequential(nn::Linear(3969, 10)).ptr(), torch::randn({batch, 3969}), 10);
  if (name == "mlp")
    return with(nn::Sequential(nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 512), nn::ReLU(),
                               nn::Linear(512, 10))
                    .ptr(),
                torch::randn({batch, 784}), 10);
  if (name == "cnn")
    return with(
        nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 8).stride(2).padding(3)), nn::Tanh(),
                       pool21(), nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2)), nn::Tanh(),
                       pool21(), nn::Flatten(), nn::Linear(512, 32), nn::Tanh(), nn::Linear(32, 10))
            .ptr(),
        torch::randn({batch, 1, 28, 28}), 10);
  if (name == "cifar_cnn")
    return with(
        nn::Sequential(conv3(3, 32), nn::Tanh(), conv3(32, 32), nn::Tanh(), halve(), conv3(32, 64),
                       nn::Tanh(), conv3(64, 64), nn::Tanh(), halve(), conv3(64, 128), nn::Tanh(),
                       conv3(128, 128), nn::Tanh(), halve(), nn::Flatten(), nn::Linear(2048, 128),
                       nn::Tanh(), nn::Linear(128, 10))
            .ptr(),
        torch::randn({batch, 3, 32, 32}), 10);
  if (name == "embedding")
    return with(std::make_shared<EmbeddingNet>(), torch::randint(10000, {batch, 100}, torch::kLong),
                2);
  if (name == "lstm") return with(std::make_shared<LstmNet>(), torch::randn({batch, 50, 64}), 2);
  if (name == "transformer")
    return with(std::make_shared<TransformerNet>(), torch::randn({batch, 64, 128}), 2);
  throw InvalidArgument(fmt::format("there is no benchmark model {}", name),
                        "choose softmax, mlp, cnn, cifar_cnn, embedding, lstm or transformer");
}

}  // namespace sotto::deep
