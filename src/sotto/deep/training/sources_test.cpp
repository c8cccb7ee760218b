// What a trainer can be given: several inputs, records on disk, sources of somebody's own, models
// that take one record at a time.
#include <filesystem>
#include <fstream>

#include "sotto/core/error.hpp"
#include "sotto/deep/rows/not_row_wise.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::sources_test {

namespace nn = torch::nn;

constexpr std::int64_t kTokens = 5, kWidth = 8;

// Tokens with a mask of padding (true: leave out), as torch's attention wants them: sequences
// first.
struct ReaderImpl : nn::Module {
  ReaderImpl()
      : table(11, kWidth),
        encoder(nn::TransformerEncoderOptions(
            nn::TransformerEncoderLayerOptions(kWidth, 2).dim_feedforward(12).dropout(0), 2)),
        attention(nn::MultiheadAttentionOptions(kWidth, 2)),
        fc(kWidth, 2) {
    register_module("table", table);
    register_module("encoder", encoder);
    register_module("attention", attention);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& tokens, const Tensor& padding) {
    const auto h = encoder(table(tokens).transpose(0, 1), Tensor(), padding);
    const auto mixed = std::get<0>(attention(h, h, h, padding));
    return fc(mixed.mean(0));
  }
  nn::Embedding table;
  nn::TransformerEncoder encoder;
  nn::MultiheadAttention attention;
  nn::Linear fc;
};
TORCH_MODULE(Reader);

Records texts(std::int64_t n) {
  torch::manual_seed(5);
  const auto lengths = torch::randint(1, kTokens + 1, {n, 1});
  return {torch::randint(11, {n, kTokens}, torch::kLong),
          torch::randint(2, {n}, torch::kLong),
          {torch::arange(kTokens).unsqueeze(0).ge(lengths)}};
}

Tensor read_by_trainer(const Records& records, NoiseKind noise, bool micro_batches) {
  torch::manual_seed(1);
  Reader reader;
  const DpSgdPlan plan({.records = 60,
                        .batch = 20,
                        .steps = 4,
                        .clip = 0.5,
                        .noise_multiplier = 1e-6,
                        .delta = 1e-5,
                        .noise = noise},
                       *reader);
  Trainer trainer(
      *reader, plan,
      [&](const Batch& b) {
        return softmax_cross_entropy(reader->forward(b.inputs, b.more[0]), b.targets);
      },
      {.optimizer = {.learning_rate = 0.5}, .micro_batches = micro_batches, .insecure_seed = 3});
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(records, rng);
  EXPECT_EQ(trainer.row_by_row().find("proved") == std::string::npos, micro_batches);
  return flatten(trainable_parameters(*reader));
}

TEST(Sources, TokensAndAMaskTrainTorchsEncoderAndAttention) {
  const Records records = texts(60);
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    const Tensor fast = read_by_trainer(records, noise, false);
    EXPECT_TRUE(fast.isfinite().all().item<bool>());
    torch::manual_seed(1);
    EXPECT_GT((fast - flatten(trainable_parameters(*Reader()))).norm().item<double>(), 0.01);
    EXPECT_LT((fast - read_by_trainer(records, noise, true)).norm().item<double>(),
              1e-3 * fast.norm().item<double>())
        << name(noise) << ": one record at a time gives the same";
  }
}

TEST(Sources, FurtherInputsAreTakenWithTheirRecords) {
  const Records records = texts(9);
  const std::vector<std::int64_t> which = {7, -1, 0};
  const Batch b = records.take(which);
  ASSERT_EQ(b.more.size(), 1u);
  EXPECT_EQ(b.more[0].scalar_type(), torch::kBool);
  const Batch all = records.range(0, 9);
  EXPECT_TRUE(torch::equal(b.more[0][0], all.more[0][7]));
  EXPECT_TRUE(torch::equal(b.inputs[2], all.inputs[0]));
  EXPECT_FALSE(b.more[0][1].any().item<bool>());
  EXPECT_EQ(b.tensors().size(), 3u);
  EXPECT_THROW(Records(torch::zeros({3, 2}), torch::zeros({3}), {torch::zeros({4})}),
               InvalidArgument);
}

// numpy.save of 32-bit floats.
void save_floats(const std::string& path, const Tensor& t) {
  std::string shape;
  for (const auto size : t.sizes()) shape += std::to_string(size) + ", ";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  const auto length = static_cast<std::uint16_t>(header.size());
  out << "\x93NUMPY" << '\x01' << '\0';
  out.write(reinterpret_cast<const char*>(&length), 2);
  out << header;
  out.write(static_cast<const char*>(t.data_ptr()), static_cast<std::streamsize>(t.nbytes()));
}

TEST(Sources, ArraysOnDiskTrainLikeThoseInMemory) {
  const std::string path = testing::TempDir() + "/mapped.npy";
  const Records memory = clouds(60);
  save_floats(path, memory.inputs());
  const auto trained = [](const Records& records) {
    Network network = small_network();
    PlanOptions options = small_plan(network, 60);
    options.noise = NoiseKind::exact;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network), {.insecure_seed = 2});
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(records, rng);
    return flatten(trainable_parameters(*network));
  };
  EXPECT_TRUE(torch::equal(trained(memory), trained({map_npy(path), memory.targets()})));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THROW(map_npy(path), DataError);
  std::filesystem::remove(path);
  EXPECT_THROW(map_npy(path), Error);
}

// Somebody's own store; counts what is asked of it.
struct Store : RecordSource {
  explicit Store(Records r) : records(std::move(r)) {}
  std::int64_t size() const override { return records.size(); }
  Batch take(std::span<const std::int64_t> indices) const override {
    ++asked;
    return records.take(indices);
  }
  Batch zeros(std::int64_t count) const override { return records.zeros(count); }
  Records records;
  mutable int asked = 0;
};

TEST(Sources, ASourceOfSomebodysOwnIsAskedForBatchesOnly) {
  const Store store(clouds(60));
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(small_plan(network, 60)), objective_of(network));
  Rng rng = Rng::insecure_seed(1);
  trainer.prepare(store);
  EXPECT_EQ(store.asked, 0) << "made-up records touch nothing";
  trainer.fit(store, rng);
  EXPECT_EQ(store.asked, 6);
}

struct SlopeImpl : nn::Module {
  SlopeImpl() : fc(4, 2), slope(nn::PReLUOptions().num_parameters(1)) {
    register_module("fc", fc);
    register_module("slope", slope);
  }
  Tensor forward(const Tensor& x) { return slope(fc(x)); }
  nn::Linear fc;
  nn::PReLU slope;
};
TORCH_MODULE(Slope);

TEST(MicroBatches, TrainLayersWithoutPerSampleGradients) {
  const Records records = clouds(60);
  for (const bool one_by_one : {false, true}) {
    torch::manual_seed(1);
    Slope model;
    Trainer trainer(*model,
                    DpSgdPlan({.records = 60,
                               .batch = 20,
                               .steps = 3,
                               .noise_multiplier = 1.0,
                               .delta = 1e-5,
                               .noise = NoiseKind::exact},
                              *model),
                    [&](const Tensor& x, const Tensor& y) {
                      return softmax_cross_entropy(model->forward(x), y);
                    },
                    {.micro_batches = one_by_one});
    Rng rng = Rng::insecure_seed(1);
    if (!one_by_one) {
      EXPECT_THROW(trainer.prepare(records), Unsupported);
      continue;
    }
    trainer.fit(records, rng);
    EXPECT_EQ(trainer.done(), 3u);
    EXPECT_TRUE(trainer.rounding_is_proved());
  }
}

TEST(MicroBatches, AModelThatRemembersTheRecordBeforeIsRefused) {
  torch::manual_seed(1);
  nn::Linear fc(4, 2);
  Tensor last;
  Trainer trainer(
      *fc,
      DpSgdPlan({.records = 60, .batch = 20, .steps = 3, .noise_multiplier = 1.0, .delta = 1e-5}),
      [&](const Tensor& x, const Tensor& y) {
        const auto seen = last.defined() ? x + 1e-3 * last : x;
        last = x.detach().clone();
        return softmax_cross_entropy(fc(seen), y);
      },
      {.micro_batches = true});
  EXPECT_THROW(trainer.prepare(clouds(60)), NotRowWise);
}

}  // namespace sotto::deep::sources_test
