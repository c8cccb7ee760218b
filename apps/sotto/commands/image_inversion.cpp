#include "commands/image_inversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto::cli {
namespace {

constexpr int kSteps[] = {128, 64, 64, 32, 32, 16};  // of a pixel, pass by pass
constexpr std::uint8_t kGrey = 128;

// Mean of the class less mean of all, pixel by pixel.
std::vector<std::vector<double>> leanings(const Images& truth, std::size_t classes) {
  const std::size_t size = truth.height * truth.width;
  std::vector<std::vector<double>> means(classes + 1, std::vector<double>(size));
  std::vector<double> counts(classes + 1);
  for (std::size_t i = 0; i < truth.labels.size(); ++i) {
    for (const std::size_t c : {static_cast<std::size_t>(truth.labels[i]), classes}) {
      counts[c] += 1;
      for (std::size_t p = 0; p < size; ++p) means[c][p] += truth.pixels[i * size + p];
    }
  }
  for (std::size_t c = 0; c <= classes; ++c)
    for (double& m : means[c]) m /= std::max(1.0, counts[c]);
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t p = 0; p < size; ++p) means[c][p] -= means[classes][p];
  means.pop_back();
  return means;
}

double correlation(const std::vector<std::uint8_t>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i] / n, mean_b += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    ab += x * y, aa += x * x, bb += y * y;
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::uint8_t moved(std::uint8_t pixel, int by) {
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(pixel) + by, 0, 255));
}

// Where each pixel has to go, found by moving one at a time: what a model says of images is all
// that is asked.
std::vector<std::uint8_t> surest(const Model& model, const Images& like, std::uint32_t label) {
  const std::size_t size = like.height * like.width;
  std::vector<std::uint8_t> now(size, kGrey);
  for (const int step : kSteps) {
    Images tried{like.height, like.width, {}, std::vector<std::uint32_t>(2 * size, label)};
    tried.pixels.reserve(2 * size * size);
    for (std::size_t p = 0; p < size; ++p) {
      for (const int sign : {1, -1}) {
        tried.pixels.insert(tried.pixels.end(), now.begin(), now.end());
        std::uint8_t& pixel = tried.pixels[tried.pixels.size() - size + p];
        pixel = moved(pixel, sign * step);
      }
    }
    const std::vector<audit::Sight> sights = sights_of(model, tried);
    for (std::size_t p = 0; p < size; ++p) {
      const double up = sights[2 * p].confidence, down = sights[2 * p + 1].confidence;
      if (up != down) now[p] = moved(now[p], up > down ? step : -step);
    }
  }
  return now;
}

}  // namespace

std::vector<ImagePortrait> image_portraits(const Model& model, const Images& truth,
                                           std::size_t classes) {
  const std::vector<std::vector<double>> lean = leanings(truth, classes);
  std::vector<ImagePortrait> portraits;
  for (std::size_t c = 0; c < classes; ++c) {
    ImagePortrait p{.pixels = surest(model, truth, static_cast<std::uint32_t>(c))};
    const Images alone{truth.height, truth.width, p.pixels, {static_cast<std::uint32_t>(c)}};
    p.likelihood = sights_of(model, alone).front().likelihood;
    p.likeness = correlation(p.pixels, lean[c]);
    p.recognised = true;
    for (std::size_t other = 0; other < classes; ++other)
      if (other != c && correlation(p.pixels, lean[other]) >= p.likeness) p.recognised = false;
    portraits.push_back(std::move(p));
  }
  return portraits;
}

std::string portraits_pgm(const std::vector<std::vector<ImagePortrait>>& rows, std::size_t height,
                          std::size_t width) {
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  std::string text = fmt::format("P5\n{} {}\n255\n", columns * width, rows.size() * height);
  for (const std::vector<ImagePortrait>& row : rows)
    for (std::size_t y = 0; y < height; ++y)
      for (const ImagePortrait& p : row)
        text.append(reinterpret_cast<const char*>(p.pixels.data()) + y * width, width);
  return text;
}

}  // namespace sotto::cli
