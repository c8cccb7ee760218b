#include "sotto/models/kernel/detail/kernel_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/margin_loss.hpp"
#include "sotto/models/kernel/detail/wave_kernels.hpp"

namespace sotto {
namespace {

constexpr std::size_t kTile = 64;  // records whose rows stay close to the processor
constexpr double kSlopeSteps = 1 << kResidualBits, kRowSteps = 0x1p16;
constexpr double kWaveNorm = 32000;  // of parameters of waves, in steps
// From steps of slope × wave to those of the sum.
constexpr int128 kWaveUnits = int128{1} << 7;
static_assert(wave_kernels::kSlopeSteps * wave_kernels::kRowSteps * KernelRows::kUnit * 0x1p7 == 1);

// Σ over records of what add(record, sums) adds to `width` sums, on all threads.
template <class Add>
std::vector<int128> summed(std::size_t records, std::size_t width, const Add& add) {
  std::vector<std::vector<std::int64_t>> partial(thread_count(0));
  constexpr std::size_t kPart = BinnedRows::kPart;
  parallel_blocks((records + kPart - 1) / kPart, 0, [&](std::size_t part, unsigned thread) {
    partial[thread].resize(width);
    for (std::size_t i = part * kPart; i < std::min(records, (part + 1) * kPart); ++i)
      add(i, partial[thread].data());
  });
  std::vector<int128> total(width);
  for (const std::vector<std::int64_t>& sums : partial)
    for (std::size_t j = 0; j < sums.size(); ++j) total[j] += sums[j];
  return total;
}

}  // namespace

FeatureRows::FeatureRows(const BinnedRows& records, const FeatureDesign& design)
    : columns_(design.columns.size()),
      trees_(design.sizes.trees),
      waves_(2 * design.sizes.fourier),
      main_(records.size() * columns_),
      leaves_(records.size() * trees_),
      wave_(records.size() * waves_),
      size_(records.size()) {
  const FeatureReader reader(design);
  records.for_parts([&](std::size_t first, std::size_t end, unsigned) {
    std::vector<BinnedColumns::Cell> cells(columns_);
    FeatureReader::Scratch scratch;
    for (std::size_t i = first; i < end; ++i) {
      records.read(i, cells);
      reader.read(cells, scratch, std::span(main_).subspan(i * columns_, columns_),
                  std::span(leaves_).subspan(i * trees_, trees_),
                  std::span(wave_).subspan(i * waves_, waves_));
    }
  });
}

std::vector<int128> FeatureRows::wave_sums() const {
  return summed(size_, waves_, [&](std::size_t i, std::int64_t* sums) {
    for (std::size_t w = 0; w < waves_; ++w) sums[w] += wave_[i * waves_ + w];
  });
}

std::vector<int128> FeatureRows::leaf_counts() const {
  return summed(size_, trees_ << kTreeDepth, [&](std::size_t i, std::int64_t* counts) {
    for (std::size_t t = 0; t < trees_; ++t) ++counts[(t << kTreeDepth) + leaves_[i * trees_ + t]];
  });
}

KernelRows::KernelRows(FeatureRows rows, const FeatureMap& map, const BinnedRows& records,
                       std::span<const float> before)
    : rows_(std::move(rows)),
      map_(&map),
      records_(&records),
      before_(before),
      main_factors_(rows_.size_),
      leaf_factors_(rows_.size_) {
  records.for_parts([&](std::size_t first, std::size_t end, unsigned) {
    std::vector<float> room(rows_.waves_);
    for (std::size_t i = first; i < end; ++i) {
      map.centre(std::span(rows_.wave_).subspan(i * rows_.waves_, rows_.waves_), room);
      main_factors_[i] = map.main().factor(
          std::span<const std::uint16_t>(rows_.main_).subspan(i * rows_.columns_, rows_.columns_));
      leaf_factors_[i] = map.leaves().factor(
          std::span<const std::uint8_t>(rows_.leaves_).subspan(i * rows_.trees_, rows_.trees_));
    }
  });
}

// What margins need of the parameters, worked out once for all records.
struct KernelRows::Prepared {
  struct Output {
    double intercept;
    OneHotBlock::Products main, leaves;
    std::vector<std::int16_t> waves;  // in steps such that they have norm ≤ kWaveNorm
    double wave_unit;                 // of a product of these steps and those of a row
  };
  std::vector<Output> outputs;

  Prepared(const FeatureMap& map, const std::vector<std::vector<double>>& parameters) {
    for (const std::vector<double>& theta : parameters) {
      Output& o = outputs.emplace_back(Output{theta[0] * FeatureMap::intercept(),
                                              map.main_products(theta),
                                              map.leaf_products(theta),
                                              {},
                                              0});
      const auto waves = std::span(theta).subspan(1 + map.main().size(), map.fourier());
      double square = 0;
      for (const double x : waves) square += x * x;
      const double steps = square > 0 ? kWaveNorm / std::sqrt(square) : 0;
      // Rounding adds at most ½ each, √(number)/2 to the norm: kWaveNorm leaves room for it.
      for (const double x : waves)
        o.waves.push_back(static_cast<std::int16_t>(std::nearbyint(x * steps)));
      o.wave_unit = steps > 0 ? 1 / (steps * wave_kernels::kRowSteps) : 0;
    }
  }
};

void KernelRows::margins(const Prepared& prepared, std::size_t first, std::span<double> out) const {
  const std::size_t outputs = prepared.outputs.size(), count = out.size() / outputs;
  std::int32_t waves[kTile] = {};
  for (std::size_t k = 0; k < outputs; ++k) {
    const Prepared::Output& o = prepared.outputs[k];
    if (rows_.waves_ > 0)
      wave_kernels::products(rows_.wave_.data() + first * rows_.waves_, count, rows_.waves_,
                             o.waves.data(), waves);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = first + i;
      double sum = o.intercept + waves[i] * o.wave_unit +
                   map_->main().product(o.main,
                                        std::span<const std::uint16_t>(rows_.main_)
                                            .subspan(row * rows_.columns_, rows_.columns_),
                                        main_factors_[row]);
      if (rows_.trees_ > 0)
        sum += map_->leaves().product(
            o.leaves,
            std::span<const std::uint8_t>(rows_.leaves_).subspan(row * rows_.trees_, rows_.trees_),
            leaf_factors_[row]);
      if (!before_.empty()) sum += static_cast<double>(before_[row * outputs + k]);
      out[i * outputs + k] = sum;
    }
  }
}

std::vector<int128> KernelRows::weighted_sum(const std::vector<std::vector<double>>& parameters,
                                             const Slopes& slopes) const {
  const std::size_t outputs = parameters.size(), dimension = map_->dimension();
  const OneHotBlock &main = map_->main(), &leaves = map_->leaves();
  const Prepared prepared(*map_, parameters);
  // Of each thread, for each output: Σ a in each level and over all, of both one-hot parts; Σ s;
  // Σ s·wave.
  struct Partial {
    std::vector<std::int64_t> main, leaves, waves;
    std::int64_t main_all = 0, leaf_all = 0, slopes = 0;
  };
  std::vector<std::vector<Partial>> partial(thread_count(0));
  records_->for_parts([&](std::size_t begin, std::size_t end, unsigned thread) {
    std::vector<Partial>& own = partial[thread];
    if (own.empty())
      own.assign(outputs, {std::vector<std::int64_t>(main.levels()),
                           std::vector<std::int64_t>(leaves.levels()),
                           std::vector<std::int64_t>(rows_.waves_)});
    std::vector<double> m(kTile * outputs), slope(kTile * outputs);
    std::vector<std::int16_t> wave_slopes(kTile * outputs);
    for (std::size_t first = begin; first < end; first += kTile) {
      const std::size_t count = std::min(kTile, end - first);
      const std::span<double> all = std::span(slope).first(count * outputs);
      margins(prepared, first, std::span(m).first(count * outputs));
      slopes(std::span(m).first(count * outputs), records_->targets(first, count), all);
      to_residual_steps(all, outputs);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = first + i;
        const double* const s = slope.data() + i * outputs;
        const auto levels = std::span<const std::uint16_t>(rows_.main_)
                                .subspan(row * rows_.columns_, rows_.columns_);
        const auto leaf =
            std::span<const std::uint8_t>(rows_.leaves_).subspan(row * rows_.trees_, rows_.trees_);
        for (std::size_t k = 0; k < outputs; ++k) {
          Partial& to = own[k];
          to.slopes += static_cast<std::int64_t>(s[k]);
          const auto a = static_cast<std::int64_t>(s[k] * static_cast<double>(main_factors_[row])),
                     l = static_cast<std::int64_t>(s[k] * static_cast<double>(leaf_factors_[row]));
          to.main_all += a;
          main.add(levels, a, to.main);
          to.leaf_all += l;
          leaves.add(leaf, l, to.leaves);
          wave_slopes[k * kTile + i] =
              static_cast<std::int16_t>(s[k] * (wave_kernels::kSlopeSteps / kSlopeSteps));
        }
      }
      for (std::size_t k = 0; k < outputs && rows_.waves_ > 0; ++k)
        wave_kernels::add_weighted(rows_.wave_.data() + first * rows_.waves_, count, rows_.waves_,
                                   wave_slopes.data() + k * kTile, own[k].waves.data());
    }
  });

  std::vector<int128> result(outputs * dimension);
  const auto intercept = static_cast<std::int64_t>(FeatureMap::intercept() * kRowSteps);
  for (const std::vector<Partial>& part : partial) {
    for (std::size_t k = 0; k < part.size(); ++k) {
      const std::span<int128> to(result.data() + k * dimension, dimension);
      to[0] += static_cast<int128>(part[k].slopes) * intercept;
      main.expand(part[k].main, part[k].main_all, to.subspan(1, main.size()));
      for (std::size_t w = 0; w < rows_.waves_; ++w)
        to[1 + main.size() + w] += part[k].waves[w] * kWaveUnits;
      leaves.expand(part[k].leaves, part[k].leaf_all,
                    to.subspan(1 + main.size() + rows_.waves_, leaves.size()));
    }
  }
  return result;
}

int128 KernelRows::sum_of(const std::vector<std::vector<double>>& parameters,
                          const Figure& figure) const {
  const Prepared prepared(*map_, parameters);
  const std::size_t outputs = parameters.size();
  std::vector<int128> partial(thread_count(0));
  records_->for_parts([&](std::size_t begin, std::size_t end, unsigned thread) {
    std::vector<double> m(kTile * outputs);
    for (std::size_t first = begin; first < end; first += kTile) {
      const std::size_t count = std::min(kTile, end - first);
      margins(prepared, first, std::span(m).first(count * outputs));
      for (std::size_t i = 0; i < count; ++i) {
        const double f =
            figure(std::span(m).subspan(i * outputs, outputs), records_->target(first + i));
        if (f > 0) partial[thread] += static_cast<std::int64_t>(std::min(f, 1.0) * kSlopeSteps);
      }
    }
  });
  int128 total = 0;
  for (const int128 part : partial) total += part;
  return total;
}

std::vector<float> KernelRows::margins(const std::vector<std::vector<double>>& parameters) const {
  const Prepared prepared(*map_, parameters);
  const std::size_t outputs = parameters.size();
  std::vector<float> all(size() * outputs);
  records_->for_parts([&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<double> m(kTile * outputs);
    for (std::size_t first = begin; first < end; first += kTile) {
      const std::size_t count = std::min(kTile, end - first);
      margins(prepared, first, std::span(m).first(count * outputs));
      for (std::size_t i = 0; i < count * outputs; ++i)
        all[first * outputs + i] = static_cast<float>(m[i]);
    }
  });
  return all;
}

}  // namespace sotto
