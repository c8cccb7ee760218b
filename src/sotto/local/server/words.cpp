#include "sotto/local/server/words.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/local/client/hash_family.hpp"
#include "sotto/local/client/sketch.hpp"
#include "sotto/local/server/detail/hadamard_transform.hpp"
#include "sotto/local/server/detail/sketch_estimates.hpp"

namespace sotto::local {
namespace detail {

Frequencies debiased(const std::vector<double>& content, double n, const SketchShape& shape,
                     double report_variance) {
  const auto m = static_cast<double>(shape.width), rows = static_cast<double>(shape.rows);
  const double grow = m / (m - 1);
  Frequencies f;
  double squares = 0;
  for (const double t : content) {
    f.share.push_back(grow * (t / n - 1 / m));
    squares += f.share.back() * f.share.back() - grow * grow * report_variance / n;
  }
  // Words that are not among the candidates meet, too: at most all of the rest in one.
  double known = 0;
  for (const double s : f.share) known += std::clamp(s, 0.0, 1.0);
  const double rest = std::max(0.0, 1 - known);
  const double common =
      std::clamp(std::max(0.0, squares) + rest * rest, 0.0, 1.0) / ((m - 1) * rows);
  f.variance.assign(content.size(), grow * grow * (report_variance + (1 - 1 / m) / m) / n + common);
  return f;
}

std::vector<std::uint64_t> keys_of(const std::vector<std::string>& words) {
  std::vector<std::uint64_t> keys;
  for (const std::string& w : words) keys.push_back(key_of_word(w));
  return keys;
}

std::vector<double> hadamard_contents(std::span<const std::int64_t> cells,
                                      const HadamardSketch& sketch,
                                      const std::vector<std::uint64_t>& keys) {
  const SketchShape& shape = sketch.shape();
  std::vector<double> content(keys.size(), 0.0), row(shape.width);
  for (std::uint64_t j = 0; j < shape.rows; ++j) {
    for (std::uint64_t i = 0; i < shape.width; ++i)
      row[i] = static_cast<double>(cells[j * shape.width + i]);
    hadamard_transform(row);
    for (std::size_t i = 0; i < keys.size(); ++i)
      content[i] += sketch.scale() * row[sketch_cell(j, keys[i], shape.width)];
  }
  return content;
}

}  // namespace detail

namespace {

using detail::debiased;
using detail::keys_of;

// Cells of a row: how many reports, then the bits.
class CountSketchCells final : public WordAggregator {
 public:
  explicit CountSketchCells(const CountSketch& s)
      : WordAggregator(s.shape().rows * (s.shape().width + 1)), sketch_(s) {}
  bool accepts(Bytes report) const override {
    const std::uint64_t width = sketch_.shape().width;
    return report.size() == sketch_.report_bytes() && row(report) < sketch_.shape().rows &&
           (width % 8 == 0 || report.back() >> (width % 8) == 0);
  }
  Frequencies shares(const std::vector<std::string>& candidates) override {
    const SketchShape& shape = sketch_.shape();
    const double p = sketch_.p(), q = sketch_.q();
    const std::vector<std::uint64_t> keys = keys_of(candidates);
    std::vector<double> content(keys.size(), 0.0);
    for (std::uint64_t j = 0; j < shape.rows; ++j) {
      const std::int64_t* cells = cells_.data() + j * (shape.width + 1);
      for (std::size_t i = 0; i < keys.size(); ++i)
        content[i] += (static_cast<double>(cells[1 + sketch_cell(j, keys[i], shape.width)]) -
                       q * static_cast<double>(cells[0])) /
                      (p - q);
    }
    return debiased(content, static_cast<double>(reports_), shape,
                    q * (1 - q) / ((p - q) * (p - q)));
  }

 private:
  std::uint64_t row(Bytes report) const {
    return read_whole(report.first(bytes_for(sketch_.shape().rows)));
  }
  void count(Bytes report) override {
    const std::uint64_t width = sketch_.shape().width;
    std::int64_t* cells = cells_.data() + row(report) * (width + 1);
    ++cells[0];
    const Bytes bits = report.subspan(bytes_for(sketch_.shape().rows));
    for (std::uint64_t i = 0; i < width; ++i) cells[1 + i] += bit_of(bits, i) ? 1 : 0;
  }
  CountSketch sketch_;
};

class HadamardSketchCells final : public WordAggregator {
 public:
  explicit HadamardSketchCells(const HadamardSketch& s)
      : WordAggregator(s.shape().rows * s.shape().width), sketch_(s) {}
  bool accepts(Bytes report) const override { return sketch_.readable(report); }
  Frequencies shares(const std::vector<std::string>& candidates) override {
    const double c = sketch_.scale();
    return debiased(detail::hadamard_contents(cells_, sketch_, keys_of(candidates)),
                    static_cast<double>(reports_), sketch_.shape(), c * c);
  }

 private:
  void count(Bytes report) override {
    const auto [cell, sign] = sketch_.told(report);
    cells_[cell] += sign;
  }
  std::int64_t most_down() const override { return 1; }
  HadamardSketch sketch_;
};

}  // namespace

std::unique_ptr<WordAggregator> make_word_aggregator(const Declaration& d) {
  if (d.protocol != "cms" && d.protocol != "hcms") return nullptr;
  const SketchShape shape{d.whole("rows"), d.whole("width")};
  if (d.protocol == "cms") return std::make_unique<CountSketchCells>(CountSketch(d.epsilon, shape));
  return std::make_unique<HadamardSketchCells>(HadamardSketch(d.epsilon, shape));
}

}  // namespace sotto::local
