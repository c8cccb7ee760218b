#include "bench_dpsgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench_models.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/rows/own_time.hpp"
#include "sotto/deep/training/alike_sizes.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::cli {
namespace {

using namespace deep;

constexpr double kRate = 0.01;

// Milliseconds: of the clock on the wall, or of this process' threads together.
bool processor_time = false;
double now() {
  timespec t{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}
double since(double start) { return now() - start; }

// Forward, backward and step with ordinary LibTorch. Gradients are dropped, as a loop does that
// wants to be fast, not filled with zeros.
class PlainStep {
 public:
  explicit PlainStep(BenchModel model)
      : model_(std::move(model)),
        optimiser_(model_.module->parameters(), torch::optim::SGDOptions(kRate)) {}
  void operator()() { (*this)(model_.x, model_.y); }
  void operator()(const torch::Tensor& x, const torch::Tensor& y) {
    for (auto& p : optimiser_.param_groups()[0].params()) p.mutable_grad() = torch::Tensor();
    torch::nn::functional::cross_entropy(model_.forward(x), y).backward();
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

// The same as the trainer does it by default, under add_remove: samples of four sizes around the
// expected one, each seated as it seats them, per-sample clipping, noise, update. One physical
// batch, as for the ordinary step.
class PrivateStep {
 public:
  PrivateStep(const std::string& name, std::int64_t batch, NoiseKind kind)
      : model_(make_bench_model(name, 2 * seats_for(static_cast<double>(batch)))),
        exact_(kind == NoiseKind::exact),
        scale_(1 / static_cast<double>(batch)),
        sum_(*model_.module, {.norm = 1, .double_sums = exact_}),
        optimizer_(sum_.parameters(), {.learning_rate = kRate, .momentum = 0}, 1),
        noise_(kind, 1, Relation::add_remove, dimension_of(model_)) {
    const auto expected = static_cast<double>(batch);
    const SeatPlan plan = plan_seats(expected, kWhole);
    const Records records(model_.x, model_.y);
    std::vector<std::int64_t> sizes;
    if (exact_)
      sizes = alike_sizes(
          *model_.module, {model_.x, model_.y},
          [&](const std::vector<torch::Tensor>& b) {
            return softmax_cross_entropy(model_.forward(b[0]), b[1]);
          },
          sum_.clipper().options(), size_candidates(expected, kWhole));
    sum_.set_rows(sizes.empty() ? plan.rows : sizes.back());
    for (const double away : {-1.15, 0.32, -0.32, 1.15}) {
      std::vector<std::int64_t> sample(
          static_cast<std::size_t>(std::lround(expected + away * std::sqrt(expected))));
      std::iota(sample.begin(), sample.end(), std::int64_t{0});
      const Seats seats = exact_ && sizes.empty() ? Seats::at_random(sample, plan, rng_)
                                                  : Seats::dealt(sample, plan, sizes, rng_);
      Part part{records.take(seats.part(0)), {}};
      for (const std::int64_t row : seats.part(0)) part.empty.push_back(row == Seats::kEmpty);
      rows_ += static_cast<double>(part.empty.size()) / 4;
      parts_.push_back(std::move(part));
    }
  }
  void operator()() {
    const Part& part = parts_[turn_++ % parts_.size()];
    const auto &x = part.batch.inputs, &y = part.batch.targets;
    tracker_ms_ = 0;
    rows::OwnTime::add_to(&tracker_ms_);
    sum_.clear();
    sum_.add(
        {x, y}, [&] { return softmax_cross_entropy(model_.forward(x), y); }, part.empty);
    rows::OwnTime::add_to(nullptr);
    const auto start = now();
    optimizer_.step_with_noise(noise_, sum_.flat(), 1, scale_, rng_, 0);
    noise_ms_ = since(start);
  }
  // Of the last step: noise and update; following the records.
  double noise_ms() const { return noise_ms_; }
  double tracker_ms() const { return tracker_ms_; }
  double rows() const { return rows_; }  // on average

 private:
  static constexpr std::int64_t kWhole = 1 << 24;
  struct Part {
    Batch batch;
    std::vector<bool> empty;
  };
  BenchModel model_;
  bool exact_;
  double scale_;
  ClippedSum sum_;
  Optimizer optimizer_;
  GradientNoise noise_;
  Rng rng_;
  std::vector<Part> parts_;
  std::size_t turn_ = 0;
  double rows_ = 0, noise_ms_ = 0, tracker_ms_ = 0;
};

template <class Step>
double milliseconds(Step& step) {
  const auto start = now();
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
  double plain = 0;
  // By kKinds. rows: of a private batch, on average.
  std::array<double, kKinds.size()> rows = {}, with_privacy = {}, noise = {}, tracker = {};

  double ratio(std::size_t k) const { return with_privacy[k] / plain; }
};

// Repeats until there is enough to take a median of.
template <class Turn>
std::size_t repeat_for(double seconds, Turn&& turn) {
  const auto start = now();
  std::size_t count = 0;
  for (; count < 7 || (since(start) < 1000 * seconds && count < 400); ++count) turn();
  return count;
}

// In turns, so that whatever else the machine does happens to all alike.
Medians measure_steps(const std::string& model, std::int64_t batch, double seconds) {
  PlainStep plain(make_bench_model(model, batch));
  std::array<PrivateStep, kKinds.size()> steps = {PrivateStep(model, batch, kKinds[0]),
                                                  PrivateStep(model, batch, kKinds[1])};
  std::vector<double> plain_ms;
  std::array<std::vector<double>, kKinds.size()> private_ms, noise_ms, tracker_ms;
  for (int i = 0; i < 4; ++i) {  // warm up
    plain();
    for (auto& step : steps) step();
  }
  Medians m{.steps = repeat_for(seconds, [&] {
              plain_ms.push_back(milliseconds(plain));
              for (std::size_t k = 0; k < steps.size(); ++k) {
                private_ms[k].push_back(milliseconds(steps[k]));
                noise_ms[k].push_back(steps[k].noise_ms());
                tracker_ms[k].push_back(steps[k].tracker_ms());
              }
            })};
  m.plain = median(plain_ms);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    m.rows[k] = steps[k].rows();
    m.with_privacy[k] = median(private_ms[k]);
    m.noise[k] = median(noise_ms[k]);
    m.tracker[k] = median(tracker_ms[k]);
  }
  return m;
}

// Training as a program runs it: the trainer against an ordinary loop over batches of drawn
// records, gathered in the same way. Step by step in turns; the medians count.
Medians measure_epoch(const std::string& name, std::int64_t batch, double seconds) {
  const BenchModel shape = make_bench_model(name, std::max<std::int64_t>(2 * batch, 4096));
  const Records records(shape.x, shape.y);
  PlainStep plain(make_bench_model(name, batch));
  std::array<BenchModel, kKinds.size()> models = {make_bench_model(name, batch),
                                                  make_bench_model(name, batch)};
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (std::size_t k = 0; k < models.size(); ++k) {
    const BenchModel& model = models[k];
    const DpSgdPlan plan({.records = static_cast<std::uint64_t>(records.size()),
                          .batch = static_cast<double>(batch),
                          .steps = 100000,
                          .noise_multiplier = 1.0,
                          .delta = 1e-6,
                          .noise = kKinds[k]},
                         *model.module);
    trainers.push_back(std::make_unique<Trainer>(
        *model.module, plan,
        [&model](const torch::Tensor& x, const torch::Tensor& y) {
          return softmax_cross_entropy(model.forward(x), y);
        },
        TrainerOptions{.optimizer = {.learning_rate = kRate, .momentum = 0}}));
    trainers.back()->prepare(records);
  }
  Rng rng;
  const auto draw = [&] {
    const auto picked = torch::randint(records.size(), {batch}, torch::kLong);
    return records.take({picked.data_ptr<std::int64_t>(), static_cast<std::size_t>(batch)});
  };
  const auto plain_step = [&] {
    const Batch b = draw();
    plain(b.inputs, b.targets);
  };
  std::vector<double> plain_ms;
  std::array<std::vector<double>, kKinds.size()> private_ms;
  const auto turn = [&] {
    plain_ms.push_back(milliseconds(plain_step));
    for (std::size_t k = 0; k < trainers.size(); ++k) {
      const auto start = now();
      trainers[k]->step(records, rng);
      private_ms[k].push_back(since(start));
    }
  };
  for (int i = 0; i < 3; ++i) turn();  // warm up
  plain_ms.clear();
  for (auto& ms : private_ms) ms.clear();
  Medians m{.steps = repeat_for(seconds, turn)};
  m.plain = median(plain_ms);
  for (std::size_t k = 0; k < trainers.size(); ++k) m.with_privacy[k] = median(private_ms[k]);
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
  const bool epoch = arguments.flag("epoch");
  processor_time = arguments.flag("processor-time");
  const double seconds = arguments.number("seconds");
  const Medians m =
      epoch ? measure_epoch(model, batch, seconds) : measure_steps(model, batch, seconds);
  nlohmann::ordered_json result = {{"schema", 1},
                                   {"model", model},
                                   {"batch", batch},
                                   {"threads", at::get_num_threads()},
                                   {"measured", epoch ? "epoch" : "step"},
                                   {"clock", processor_time ? "processor" : "wall"},
                                   {"steps", m.steps},
                                   {"parameters", parameters},
                                   {"default_noise", name(usual)},
                                   {"noise", name(kind)},
                                   {"plain_ms", m.plain},
                                   {"private_ms", m.with_privacy[chosen]},
                                   {"ratio", m.ratio(chosen)},
                                   {"ratio_exact", m.ratio(0)},
                                   {"ratio_bulk", m.ratio(1)}};
  const auto share = [&](const auto& ms) { return ms[chosen] / m.with_privacy[chosen]; };
  if (!epoch) {
    result["rows"] = m.rows[chosen];
    result["noise_ms"] = m.noise[chosen];
    result["noise_share"] = share(m.noise);
    result["tracker_ms"] = m.tracker[chosen];
    result["tracker_share"] = share(m.tracker);
    result["plain_peak_mib"] = peak_mib(model, batch, "plain");
    result["private_peak_mib"] = peak_mib(model, batch, name(kind));
  }
  if (arguments.flag("json")) return context.out.print("{}\n", result.dump());
  context.out.print(
      "{} with batches of {}, {} noise{}: plain {:.2f} ms, private {:.2f} ms, ratio {:.3f} (exact "
      "{:.3f}, bulk {:.3f}; the default is {})",
      model, batch, name(kind), epoch ? ", whole training" : "", m.plain, m.with_privacy[chosen],
      m.ratio(chosen), m.ratio(0), m.ratio(1), name(usual));
  if (!epoch)
    context.out.print(
        "; {:.0f} rows on average; noise and update {:.2f} ms, {:.1f} % of the step; following the "
        "records {:.3f} ms, {:.2f} %; peak memory {:.0f} and {:.0f} MiB",
        m.rows[chosen], m.noise[chosen], 100 * share(m.noise), m.tracker[chosen],
        100 * share(m.tracker), result["plain_peak_mib"].get<double>(),
        result["private_peak_mib"].get<double>());
  context.out.print("\n");
}

}  // namespace sotto::cli
