#include "bench_dpsgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench_models.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/noise_pieces.hpp"

namespace sotto::deep {
namespace {

constexpr float kRate = 0.01f;

struct Options {
  std::string model = "mlp";
  std::int64_t batch = 0;
  double seconds = 6;
  bool json = false;
  std::string only;  // "plain" or "private": a few steps of one kind, for its peak memory
};

template <class Number>
Number number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw InvalidArgument("not a number: " + text);
  return value;
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--json") {
      options.json = true;
      continue;
    }
    if (i + 1 == words.size())
      throw InvalidArgument("bench dpsgd: " + word + " needs a value, or is unknown");
    const std::string& value = words[++i];
    if (word == "--model") {
      options.model = value;
    } else if (word == "--batch") {
      options.batch = number<std::int64_t>(value);
    } else if (word == "--seconds") {
      options.seconds = number<double>(value);
    } else if (word == "--only") {
      options.only = value;
    } else {
      throw InvalidArgument("bench dpsgd: unknown option " + word);
    }
  }
  if (options.batch == 0) options.batch = usual_batch(options.model);
  return options;
}

// Forward, backward and step with ordinary LibTorch.
class PlainStep {
 public:
  explicit PlainStep(BenchModel model)
      : model_(std::move(model)),
        optimiser_(model_.module->parameters(), torch::optim::SGDOptions(kRate)) {}
  void operator()() {
    optimiser_.zero_grad();
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
        sum_(*model_.module, {.norm = 1, .sequence_first = model_.sequence_first}) {
    for (const auto& p : sum_.parameters()) {
      targets_.push_back({total_, p.tensor.data_ptr<float>()});
      total_ += p.tensor.numel();
    }
  }
  void operator()() {
    sum_.clear();
    sum_.add(model_.batch,
             [&] { return softmax_cross_entropy(model_.forward(model_.x), model_.y); });
    const float* gradient = sum_.flat().data_ptr<float>();
    const auto scale = kRate / static_cast<float>(model_.batch);
    for_noise_pieces(rng_, total_, 1.0f, [&](std::int64_t first, std::span<const float> noise) {
      const std::int64_t last = first + static_cast<std::int64_t>(noise.size());
      auto target =
          std::upper_bound(targets_.begin(), targets_.end(), first,
                           [](std::int64_t at, const Target& t) { return at < t.first; }) -
          1;
      for (std::int64_t at = first; at < last; ++target) {
        const std::int64_t end =
            std::min(last, target + 1 == targets_.end() ? total_ : (target + 1)->first);
        descend(target->data + (at - target->first), gradient + at, noise.data() + (at - first),
                scale, end - at);
        at = end;
      }
    });
  }

 private:
  struct Target {
    std::int64_t first;  // in the flat gradient
    float* data;
  };
  static void descend(float* __restrict parameter, const float* __restrict gradient,
                      const float* __restrict noise, float scale, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) parameter[k] -= scale * (gradient[k] + noise[k]);
  }

  BenchModel model_;
  ClippedSum sum_;
  Rng rng_;
  std::vector<Target> targets_;
  std::int64_t total_ = 0;
};

template <class Step>
double milliseconds(Step& step) {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
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
double peak_mib(const Options& options, const char* kind) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format("'{}' bench dpsgd --model {} --batch {} --only {}", self,
                                          options.model, options.batch, kind);
  std::FILE* pipe = popen(command.c_str(), "r");
  double mib = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &mib) == 1;
  if (pipe == nullptr || pclose(pipe) != 0 || !read)
    throw Error(ErrorCode::internal, "bench dpsgd: the process that measures memory failed");
  return mib;
}

}  // namespace

int bench_dpsgd(const std::vector<std::string>& words) {
  const Options options = parse(words);
  torch::manual_seed(1);
  // LibTorch's own choice counts two threads of one core as one.
  at::set_num_threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  if (!options.only.empty()) {
    if (options.only == "plain") {
      PlainStep step(make_bench_model(options.model, options.batch));
      for (int i = 0; i < 4; ++i) step();
    } else {
      PrivateStep step(make_bench_model(options.model, options.batch));
      for (int i = 0; i < 4; ++i) step();
    }
    fmt::print("{}\n", own_peak_mib());
    return 0;
  }
  PlainStep plain(make_bench_model(options.model, options.batch));
  PrivateStep with_privacy(make_bench_model(options.model, options.batch));
  std::vector<double> plain_ms, private_ms;
  for (int i = 0; i < 3; ++i) {  // warm up
    plain();
    with_privacy();
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (plain_ms.size() < 7 || (elapsed() < options.seconds && plain_ms.size() < 400)) {
    plain_ms.push_back(milliseconds(plain));
    private_ms.push_back(milliseconds(with_privacy));
  }
  const double a = median(plain_ms), b = median(private_ms);
  const nlohmann::ordered_json result = {{"schema", 1},
                                         {"model", options.model},
                                         {"batch", options.batch},
                                         {"threads", at::get_num_threads()},
                                         {"steps", plain_ms.size()},
                                         {"plain_ms", a},
                                         {"private_ms", b},
                                         {"ratio", b / a},
                                         {"plain_peak_mib", peak_mib(options, "plain")},
                                         {"private_peak_mib", peak_mib(options, "private")}};
  if (options.json) {
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print(
        "{} with batches of {}: plain {:.2f} ms, private {:.2f} ms, ratio {:.3f}; peak memory "
        "{:.0f} and {:.0f} MiB\n",
        options.model, options.batch, a, b, b / a, result["plain_peak_mib"].get<double>(),
        result["private_peak_mib"].get<double>());
  }
  return 0;
}

}  // namespace sotto::deep
