#include "bench_dpsgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench_models.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::cli {
namespace {

using namespace deep;

constexpr double kRate = 0.01;

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

std::uint64_t dimension_of(const BenchModel& model) {
  std::uint64_t total = 0;
  for (const auto& p : trainable_parameters(*model.module))
    total += static_cast<std::uint64_t>(p.tensor.numel());
  return total;
}

// The same as the trainer does it by default: the records on random rows of a batch of the public size of add_remove, per-sample clipping,
// noise, update. One physical batch, as for the ordinary step.
class PrivateStep {
 public:
  PrivateStep(const std::string& name, std::int64_t batch, NoiseKind kind)
      : seat_plan_(plan_seats(static_cast<double>(batch), kWhole)),
        model_(make_bench_model(name, seat_plan_.rows)),
        exact_(kind == NoiseKind::exact),
        scale_(1 / static_cast<double>(batch)),
        sum_(*model_.module,
             {.norm = 1, .double_sums = exact_, .sequence_first = model_.sequence_first}),
        optimizer_(sum_.parameters(), {.learning_rate = kRate, .momentum = 0}, 1),
        noise_(kind, 1, Relation::add_remove, dimension_of(model_)) {
    std::vector<std::int64_t> records(static_cast<std::size_t>(batch));
    std::iota(records.begin(), records.end(), std::int64_t{0});
    const Seats seats = Seats::at_random(records, seat_plan_, rng_);
    batch_ = Records(model_.x, model_.y).take(seats.part(0));
    for (const std::int64_t row : seats.part(0)) empty_.push_back(row == Seats::kEmpty);
  }
  void operator()() {
    const auto& [x, y] = batch_;
    sum_.clear();
    sum_.add(
        {x, y}, [&] { return softmax_cross_entropy(model_.forward(x), y); }, empty_);
    const auto start = Clock::now();
    if (exact_)
      optimizer_.step(noise_.add(sum_.flat(), 1, rng_).mul_(scale_), 0);
    else
      optimizer_.step_with_noise(rng_, sum_.flat(), noise_.sigma(1), scale_, 0);
    noise_ms_ = since(start);
  }
  // Of the last step: noise and update.
  double noise_ms() const { return noise_ms_; }
  std::int64_t rows() const { return seat_plan_.rows; }

 private:
  static constexpr std::int64_t kWhole = 1 << 24;
  SeatPlan seat_plan_;
  BenchModel model_;
  bool exact_;
  double scale_;
  ClippedSum sum_;
  Optimizer optimizer_;
  GradientNoise noise_;
  Rng rng_;
  Batch batch_;
  std::vector<bool> empty_;
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
double peak_mib(const std::string& model, std::int64_t batch, std::string_view kind) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format("'{}' peak-memory {} {} {}", self, model, batch, kind);
  std::FILE* pipe = popen(command.c_str(), "r");
  double mib = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &mib) == 1;
  if (pipe == nullptr || pclose(pipe) != 0 || !read)
    throw Error(ErrorCode::internal, "bench dpsgd: the process that measures memory failed");
  return mib;
}

constexpr std::array kKinds = {NoiseKind::exact, NoiseKind::bulk};

struct Medians {
  std::size_t steps = 0;
  std::int64_t rows = 0;  // of a private batch
  double plain = 0;
  std::array<double, kKinds.size()> with_privacy = {}, noise = {};

  double ratio(std::size_t k) const { return with_privacy[k] / plain; }
  double noise_share(std::size_t k) const { return noise[k] / with_privacy[k]; }
};

// In turns, so that whatever else the machine does happens to all alike.
Medians measure(const std::string& model, std::int64_t batch, double seconds) {
  PlainStep plain(make_bench_model(model, batch));
  std::array<PrivateStep, kKinds.size()> steps = {PrivateStep(model, batch, kKinds[0]),
                                                  PrivateStep(model, batch, kKinds[1])};
  std::vector<double> plain_ms;
  std::array<std::vector<double>, kKinds.size()> private_ms, noise_ms;
  for (int i = 0; i < 3; ++i) {  // warm up
    plain();
    for (auto& step : steps) step();
  }
  const auto start = Clock::now();
  while (plain_ms.size() < 7 || (since(start) < 1000 * seconds && plain_ms.size() < 400)) {
    plain_ms.push_back(milliseconds(plain));
    for (std::size_t k = 0; k < steps.size(); ++k) {
      private_ms[k].push_back(milliseconds(steps[k]));
      noise_ms[k].push_back(steps[k].noise_ms());
    }
  }
  Medians m{.steps = plain_ms.size(), .rows = steps[0].rows(), .plain = median(plain_ms)};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    m.with_privacy[k] = median(private_ms[k]);
    m.noise[k] = median(noise_ms[k]);
  }
  return m;
}

}  // namespace

int print_peak_memory(const std::string& model, const std::string& batch, const std::string& kind) {
  torch::manual_seed(1);
  const auto few = [](auto&& step) {
    for (int i = 0; i < 4; ++i) step();
  };
  if (kind == "plain")
    few(PlainStep(make_bench_model(model, std::stoll(batch))));
  else
    few(PrivateStep(model, std::stoll(batch), parse_noise_kind(kind)));
  fmt::print("{}\n", own_peak_mib());
  return 0;
}

void bench_dpsgd(const Arguments& arguments, Context& context) {
  const std::string model = arguments.text("model");
  const std::int64_t batch = arguments.given("batch")
                                 ? static_cast<std::int64_t>(arguments.whole("batch"))
                                 : usual_batch(model);
  torch::manual_seed(1);
  if (arguments.given("threads")) at::set_num_threads(static_cast<int>(arguments.whole("threads")));
  const std::uint64_t parameters = dimension_of(make_bench_model(model, 1));
  const NoiseKind usual = default_noise({.dimension = parameters});
  const NoiseKind kind =
      arguments.given("noise") ? parse_noise_kind(arguments.text("noise")) : usual;
  const std::size_t chosen = kind == kKinds[0] ? 0 : 1;
  const Medians m = measure(model, batch, arguments.number("seconds"));
  const nlohmann::ordered_json result = {{"schema", 1},
                                         {"model", model},
                                         {"batch", batch},
                                         {"rows", m.rows},
                                         {"threads", at::get_num_threads()},
                                         {"steps", m.steps},
                                         {"parameters", parameters},
                                         {"default_noise", name(usual)},
                                         {"noise", name(kind)},
                                         {"plain_ms", m.plain},
                                         {"private_ms", m.with_privacy[chosen]},
                                         {"noise_ms", m.noise[chosen]},
                                         {"noise_share", m.noise_share(chosen)},
                                         {"ratio", m.ratio(chosen)},
                                         {"ratio_exact", m.ratio(0)},
                                         {"ratio_bulk", m.ratio(1)},
                                         {"plain_peak_mib", peak_mib(model, batch, "plain")},
                                         {"private_peak_mib", peak_mib(model, batch, name(kind))}};
  if (arguments.flag("json")) return context.out.print("{}\n", result.dump());
  context.out.print(
      "{} with batches of {} on {} rows, {} noise: plain {:.2f} ms, private {:.2f} ms, ratio "
      "{:.3f} (exact {:.3f}, bulk {:.3f}; the default is {}); noise and update {:.2f} ms, {:.1f} % "
      "of the step; peak memory {:.0f} and {:.0f} MiB\n",
      model, batch, m.rows, name(kind), m.plain, m.with_privacy[chosen], m.ratio(chosen),
      m.ratio(0), m.ratio(1), name(usual), m.noise[chosen], 100 * m.noise_share(chosen),
      result["plain_peak_mib"].get<double>(), result["private_peak_mib"].get<double>());
}

}  // namespace sotto::cli
