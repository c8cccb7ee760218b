#include "sotto/models/kernel/detail/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/exact_kernels.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBlockRows = 4096;
constexpr double kSlopeSteps = 0x1p20, kRowSteps = 0x1p16;

// Scales a record's slopes down to norm 1 and truncates them to the grid, as whole numbers.
void to_grid(std::span<double> slopes) {
  double square = 0;
  for (double& s : slopes) {
    if (!std::isfinite(s)) s = 0;
    square += s * s;
  }
  const double factor = square > 1 ? kSlopeSteps / std::sqrt(square) * (1 - 0x1p-40) : kSlopeSteps;
  for (double& s : slopes) s = std::trunc(s * factor);
}

template <class T>
void join(std::vector<T>& a, std::vector<T>&& b) {
  a.insert(a.end(), b.begin(), b.end());
}

}  // namespace

void KernelRows::add(std::span<const BinnedColumns::Cell> cells, float target) {
  map_->read(cells, scratch_);
  main_.insert(main_.end(), scratch_.main.begin(), scratch_.main.end());
  leaves_.insert(leaves_.end(), scratch_.leaves.begin(), scratch_.leaves.end());
  fourier_.insert(fourier_.end(), scratch_.fourier.begin(), scratch_.fourier.end());
  main_factors_.push_back(scratch_.main_factor);
  leaf_factors_.push_back(scratch_.leaf_factor);
  targets_.push_back(target);
}

void KernelRows::append(KernelRows&& other) {
  join(main_, std::move(other.main_));
  join(leaves_, std::move(other.leaves_));
  join(fourier_, std::move(other.fourier_));
  join(main_factors_, std::move(other.main_factors_));
  join(leaf_factors_, std::move(other.leaf_factors_));
  join(targets_, std::move(other.targets_));
}

void KernelRows::reserve(std::size_t rows) {
  main_.reserve(rows * map_->main().groups());
  leaves_.reserve(rows * map_->leaves().groups());
  fourier_.reserve(rows * map_->fourier());
  main_factors_.reserve(rows);
  leaf_factors_.reserve(rows);
  targets_.reserve(rows);
}

// What margins need of the parameters, worked out once for all records.
struct KernelRows::Prepared {
  struct Output {
    double intercept;
    OneHotBlock::Products main, leaves;
    std::span<const double> waves;
  };
  std::vector<Output> outputs;

  Prepared(const FeatureMap& map, const std::vector<std::vector<double>>& parameters) {
    for (const std::vector<double>& theta : parameters) {
      outputs.push_back({theta[0] * FeatureMap::intercept(), map.main_products(theta),
                         map.leaf_products(theta),
                         std::span(theta).subspan(1 + map.main().size(), map.fourier())});
    }
  }
};

void KernelRows::margins(const Prepared& prepared, std::size_t row, std::span<double> out) const {
  const std::size_t groups = map_->main().groups(), trees = map_->leaves().groups(),
                    waves = map_->fourier();
  const std::span<const std::uint16_t> main(main_.data() + row * groups, groups),
      leaves(leaves_.data() + row * trees, trees);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Prepared::Output& o = prepared.outputs[k];
    double sum = o.intercept + map_->main().product(o.main, main, main_factors_[row]);
    if (trees > 0) sum += map_->leaves().product(o.leaves, leaves, leaf_factors_[row]);
    double wave = 0;
    if (waves > 0)
      detail::row_products(fourier_.data() + row * waves, 1, waves, o.waves.data(), &wave);
    out[k] = sum + wave;
  }
}

std::vector<int128> KernelRows::weighted_sum(const std::vector<std::vector<double>>& parameters,
                                             const Slopes& slopes, unsigned threads) const {
  const std::size_t outputs = parameters.size(), dimension = map_->dimension();
  const OneHotBlock &main = map_->main(), &leaves = map_->leaves();
  const std::size_t waves = map_->fourier();
  const Prepared prepared(*map_, parameters);
  // For each output: Σ a in each level and over all, of both one-hot parts; Σ s.
  struct Partial {
    std::vector<std::int64_t> main, leaves;
    std::int64_t main_all = 0, leaf_all = 0, slopes = 0;
    std::vector<int128> waves;
  };
  std::vector<Partial> total(
      outputs, {std::vector<std::int64_t>(main.size()), std::vector<std::int64_t>(leaves.size()), 0,
                0, 0, std::vector<int128>(waves)});
  std::mutex mutex;
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  parallel_blocks(blocks, threads, [&](std::size_t b, unsigned) {
    const std::size_t first = b * kBlockRows, rows = std::min(kBlockRows, size() - first);
    std::vector<double> all(outputs * rows), m(outputs), s(outputs), sums(waves);
    for (std::size_t i = 0; i < rows; ++i) {
      margins(prepared, first + i, m);
      slopes(m, targets_[first + i], s);
      to_grid(s);
      for (std::size_t k = 0; k < outputs; ++k) all[k * rows + i] = s[k];
    }
    for (std::size_t k = 0; k < outputs; ++k) {
      Partial part{std::vector<std::int64_t>(main.size()),
                   std::vector<std::int64_t>(leaves.size()),
                   0,
                   0,
                   0,
                   {}};
      double* const slope = all.data() + k * rows;
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t row = first + i;
        part.slopes += static_cast<std::int64_t>(slope[i]);
        const auto a =
            static_cast<std::int64_t>(slope[i] * static_cast<double>(main_factors_[row]));
        part.main_all += a;
        for (std::size_t g = 0; g < main.groups(); ++g)
          part.main[main.at(g, main_[row * main.groups() + g])] += a;
        if (leaves.groups() == 0) continue;
        const auto l =
            static_cast<std::int64_t>(slope[i] * static_cast<double>(leaf_factors_[row]));
        part.leaf_all += l;
        for (std::size_t t = 0; t < leaves.groups(); ++t)
          part.leaves[leaves.at(t, leaves_[row * leaves.groups() + t])] += l;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      if (waves > 0)
        detail::add_weighted_rows(fourier_.data() + first * waves, rows, waves, slope, sums.data());
      const std::lock_guard lock(mutex);
      Partial& to = total[k];
      to.slopes += part.slopes;
      to.main_all += part.main_all;
      to.leaf_all += part.leaf_all;
      for (std::size_t l = 0; l < main.size(); ++l) to.main[l] += part.main[l];
      for (std::size_t l = 0; l < leaves.size(); ++l) to.leaves[l] += part.leaves[l];
      for (std::size_t w = 0; w < waves; ++w)
        to.waves[w] += static_cast<std::int64_t>(sums[w] * kRowSteps);
    }
  });

  std::vector<int128> result(outputs * dimension);
  const auto intercept = static_cast<std::int64_t>(FeatureMap::intercept() * kRowSteps);
  for (std::size_t k = 0; k < outputs; ++k) {
    const std::span<int128> of_output(result.data() + k * dimension, dimension);
    of_output[0] = static_cast<int128>(total[k].slopes) * intercept;
    main.expand(total[k].main, total[k].main_all, of_output.subspan(1, main.size()));
    for (std::size_t w = 0; w < waves; ++w) of_output[1 + main.size() + w] = total[k].waves[w];
    leaves.expand(total[k].leaves, total[k].leaf_all,
                  of_output.subspan(1 + main.size() + waves, leaves.size()));
  }
  return result;
}

int128 KernelRows::sum_of(const std::vector<std::vector<double>>& parameters, const Figure& figure,
                          unsigned threads) const {
  const Prepared prepared(*map_, parameters);
  std::mutex mutex;
  int128 total = 0;
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  parallel_blocks(blocks, threads, [&](std::size_t b, unsigned) {
    const std::size_t first = b * kBlockRows, rows = std::min(kBlockRows, size() - first);
    std::vector<double> m(parameters.size());
    std::int64_t part = 0;
    for (std::size_t i = first; i < first + rows; ++i) {
      margins(prepared, i, m);
      const double f = figure(m, targets_[i]);
      if (f > 0) part += static_cast<std::int64_t>(std::min(f, 1.0) * kSlopeSteps);
    }
    const std::lock_guard lock(mutex);
    total += part;
  });
  return total;
}

}  // namespace sotto
