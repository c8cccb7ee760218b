#include "bench_dpsgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench_models.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/noisy_descent.hpp"

namespace sotto::cli {
namespace {

using namespace deep;

constexpr float kRate = 0.01f;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {  // milliseconds
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Forward, backward and step with ordinary LibTorch. Gradients are dropped, as a loop does that wants to be fast, not filled with zeros.
class PlainStep {
 public:
  explicit PlainStep(BenchModel model)
      : model_(std::move(model)),
        optimiser_(model_.module->parameters(), torch::optim::SGDOptions(kRate)) {}
  void operator()() {
    for (auto& p : optimiser_.param_groups()[0].params()) p.mutable_grad() = torch::Tensor();
    torch::nn::functional::cross_entropy(model_.forward(model_.x), model_.y).backward();
    optimiser_.step();
  }

 private:
  BenchModel model_;
  torch::optim::SGD optimiser_;
};

// The same with per-sample clipping, Gaussian noise and the update in one pass over the parameters.
class PrivateStep {
 public:
  explicit PrivateStep(BenchModel model)
      : model_(std::move(model)),
        sum_(*model_.module, {.norm = 1, .sequence_first = model_.sequence_first}),
        descent_(sum_.parameters()) {}
  void operator()() {
    sum_.clear();
    sum_.add({model_.x, model_.y},
             [&] { return softmax_cross_entropy(model_.forward(model_.x), model_.y); });
    const auto start = Clock::now();
    descent_.step(rng_, sum_.flat(),
                  {.sigma = 1, .scale = 1 / static_cast<float>(model_.batch), .rate = kRate});
    noise_ms_ = since(start);
  }
  // Of the last step: noise and update.
  double noise_ms() const { return noise_ms_; }

 private:
  BenchModel model_;
  ClippedSum sum_;
  NoisyDescent descent_;
  Rng rng_;
  double noise_ms_ = 0;
};

template <class Step>
double milliseconds(Step& step) {
  const auto start = Clock::now();
  step();
  return since(start);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The peak of this process alone. (ru_maxrss would remember the parent it was forked from.)
double own_peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  throw Error(ErrorCode::internal, "bench dpsgd: /proc/self/status does not tell the peak memory");
}

// Peak resident memory of a process that does nothing but such steps.
double peak_mib(const std::string& model, std::int64_t batch, const char* kind) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format("'{}' peak-memory {} {} {}", self, model, batch, kind);
  std::FILE* pipe = popen(command.c_str(), "r");
  double mib = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &mib) == 1;
  if (pipe == nullptr || pclose(pipe) != 0 || !read)
    throw Error(ErrorCode::internal, "bench dpsgd: the process that measures memory failed");
  return mib;
}

}  // namespace

int print_peak_memory(const std::string& model, const std::string& batch, const std::string& kind) {
  torch::manual_seed(1);
  const auto few = [](auto step) {
    for (int i = 0; i < 4; ++i) step();
  };
  if (kind == "plain")
    few(PlainStep(deep::make_bench_model(model, std::stoll(batch))));
  else
    few(PrivateStep(deep::make_bench_model(model, std::stoll(batch))));
  fmt::print("{}\n", own_peak_mib());
  return 0;
}

void bench_dpsgd(const Arguments& arguments, Context& context) {
  const std::string model = arguments.text("model");
  const std::int64_t batch = arguments.given("batch")
                                 ? static_cast<std::int64_t>(arguments.whole("batch"))
                                 : deep::usual_batch(model);
  const double seconds = arguments.number("seconds");
  torch::manual_seed(1);
  if (arguments.given("threads")) at::set_num_threads(static_cast<int>(arguments.whole("threads")));
  PlainStep plain(deep::make_bench_model(model, batch));
  PrivateStep with_privacy(deep::make_bench_model(model, batch));
  std::vector<double> plain_ms, private_ms, noise_ms;
  for (int i = 0; i < 3; ++i) {  // warm up
    plain();
    with_privacy();
  }
  const auto start = Clock::now();
  while (plain_ms.size() < 7 || (since(start) < 1000 * seconds && plain_ms.size() < 400)) {
    plain_ms.push_back(milliseconds(plain));
    private_ms.push_back(milliseconds(with_privacy));
    noise_ms.push_back(with_privacy.noise_ms());
  }
  const double a = median(plain_ms), b = median(private_ms), c = median(noise_ms);
  const nlohmann::ordered_json result = {{"schema", 1},
                                         {"model", model},
                                         {"batch", batch},
                                         {"threads", at::get_num_threads()},
                                         {"steps", plain_ms.size()},
                                         {"plain_ms", a},
                                         {"private_ms", b},
                                         {"noise_ms", c},
                                         {"ratio", b / a},
                                         {"plain_peak_mib", peak_mib(model, batch, "plain")},
                                         {"private_peak_mib", peak_mib(model, batch, "private")}};
  if (arguments.flag("json")) {
    context.out.print("{}\n", result.dump());
  } else {
    context.out.print(
        "{} with batches of {}: plain {:.2f} ms, private {:.2f} ms (noise and update {:.2f} ms), "
        "ratio {:.3f}; peak memory {:.0f} and {:.0f} MiB\n",
        model, batch, a, b, c, b / a, result["plain_peak_mib"].get<double>(),
        result["private_peak_mib"].get<double>());
  }
}

}  // namespace sotto::cli
