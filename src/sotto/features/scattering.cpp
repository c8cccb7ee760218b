#include "sotto/features/scattering.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/vector_clones.hpp"

namespace sotto::features {
namespace {

using Complex = std::complex<double>;
constexpr std::size_t kLanes = 16;  // images side by side
constexpr std::size_t kDirections = 8;
constexpr double kPi = std::numbers::pi;
constexpr double kFourDigits = 3.1415;  // of pi, as Kymatio scales its filters

// A grid of complex numbers for kLanes images: re and im of a place lie side by side.
struct Lanes {
  float re[kLanes], im[kLanes];
};
struct RealLanes {
  float v[kLanes];
};

// A transform of n = a·b numbers: b transforms of a, turns, a transforms of b.
struct Fourier {
  std::size_t n, a, b;
  std::vector<float> first_re, first_im, second_re, second_im, turn_re, turn_im;

  Fourier(std::size_t length, bool inverse) : n(length) {
    a = 1;
    for (std::size_t f = 1; f * f <= n; ++f)
      if (n % f == 0) a = f;
    b = n / a;
    const auto table = [&](std::size_t size, std::vector<float>& re, std::vector<float>& im) {
      for (std::size_t k = 0; k < size; ++k)
        for (std::size_t j = 0; j < size; ++j) {
          const Complex w =
              std::polar(1.0, (inverse ? 2 : -2) * kPi * static_cast<double>(j * k % size) /
                                  static_cast<double>(size));
          re.push_back(static_cast<float>(w.real())), im.push_back(static_cast<float>(w.imag()));
        }
    };
    table(a, first_re, first_im);
    table(b, second_re, second_im);
    for (std::size_t k = 0; k < a; ++k)
      for (std::size_t j = 0; j < b; ++j) {
        const Complex w = std::polar(
            1.0, (inverse ? 2 : -2) * kPi * static_cast<double>(j * k) / static_cast<double>(n));
        turn_re.push_back(static_cast<float>(w.real()));
        turn_im.push_back(static_cast<float>(w.imag()));
      }
  }
};

// One transform in place, `step` places between neighbours.
SOTTO_CLONES
void transform(const Fourier& f, Lanes* data, std::size_t step, Lanes* work) {
  // j = b·j1 + j2, k = k1 + a·k2.
  for (std::size_t j2 = 0; j2 < f.b; ++j2)
    for (std::size_t k1 = 0; k1 < f.a; ++k1) {
      Lanes sum = {};
      for (std::size_t j1 = 0; j1 < f.a; ++j1) {
        const float c = f.first_re[k1 * f.a + j1], s = f.first_im[k1 * f.a + j1];
        const Lanes& x = data[(f.b * j1 + j2) * step];
        for (std::size_t l = 0; l < kLanes; ++l) {
          sum.re[l] += c * x.re[l] - s * x.im[l];
          sum.im[l] += c * x.im[l] + s * x.re[l];
        }
      }
      const float c = f.turn_re[k1 * f.b + j2], s = f.turn_im[k1 * f.b + j2];
      Lanes& out = work[k1 * f.b + j2];
      for (std::size_t l = 0; l < kLanes; ++l) {
        out.re[l] = c * sum.re[l] - s * sum.im[l];
        out.im[l] = c * sum.im[l] + s * sum.re[l];
      }
    }
  for (std::size_t k1 = 0; k1 < f.a; ++k1)
    for (std::size_t k2 = 0; k2 < f.b; ++k2) {
      Lanes sum = {};
      for (std::size_t j2 = 0; j2 < f.b; ++j2) {
        const float c = f.second_re[k2 * f.b + j2], s = f.second_im[k2 * f.b + j2];
        const Lanes& x = work[k1 * f.b + j2];
        for (std::size_t l = 0; l < kLanes; ++l) {
          sum.re[l] += c * x.re[l] - s * x.im[l];
          sum.im[l] += c * x.im[l] + s * x.re[l];
        }
      }
      data[(k1 + f.a * k2) * step] = sum;
    }
}

void transform_grid(const Fourier& f, Lanes* grid, Lanes* work) {
  for (std::size_t r = 0; r < f.n; ++r) transform(f, grid + r * f.n, 1, work);
  for (std::size_t c = 0; c < f.n; ++c) transform(f, grid + c, f.n, work);
}

// The spectrum times a real filter, folded so that the inverse transform is subsampled by `fold`.
SOTTO_CLONES
void filter(const Lanes* spectrum, const float* taps, std::size_t n, std::size_t fold, Lanes* out) {
  const std::size_t m = n / fold;
  const float scale = 1.0F / static_cast<float>(n * n);  // of the inverse transform, once
  for (std::size_t r = 0; r < m; ++r)
    for (std::size_t c = 0; c < m; ++c) {
      Lanes sum = {};
      for (std::size_t i = 0; i < fold; ++i)
        for (std::size_t j = 0; j < fold; ++j) {
          const std::size_t at = (r + i * m) * n + c + j * m;
          const float t = taps[at] * scale;
          for (std::size_t l = 0; l < kLanes; ++l) {
            sum.re[l] += t * spectrum[at].re[l];
            sum.im[l] += t * spectrum[at].im[l];
          }
        }
      out[r * m + c] = sum;
    }
}

SOTTO_CLONES
void modulus(const Lanes* grid, std::size_t size, RealLanes* out) {
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t l = 0; l < kLanes; ++l)
      out[i].v[l] = std::sqrt(grid[i].re[l] * grid[i].re[l] + grid[i].im[l] * grid[i].im[l]);
}

// out = A·grid·Aᵀ: the Gaussian, subsampled, and the padding cut off.
SOTTO_CLONES
void low_pass(const float* a, std::size_t rows, std::size_t n, const RealLanes* grid,
              RealLanes* work, RealLanes* out) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < n; ++c) {
      RealLanes sum = {};
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t l = 0; l < kLanes; ++l) sum.v[l] += a[r * n + i] * grid[i * n + c].v[l];
      work[r * n + c] = sum;
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < rows; ++c) {
      RealLanes sum = {};
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t l = 0; l < kLanes; ++l) sum.v[l] += a[c * n + i] * work[r * n + i].v[l];
      out[r * rows + c] = sum;
    }
}

// A Gaussian times a wave, periodic with period n, at the places of an n × n grid.
std::vector<Complex> gabor(std::size_t n, double sigma, double angle, double frequency,
                           double slant) {
  const double c = std::cos(angle), s = std::sin(angle), v = 1 / (2 * sigma * sigma);
  const double q = slant * slant;
  const double xx = v * (c * c + q * s * s), xy = v * 2 * (c * s - q * c * s),
               yy = v * (s * s + q * c * c);
  std::vector<Complex> grid(n * n);
  const auto size = static_cast<double>(n);
  for (int ex = -2; ex <= 2; ++ex)
    for (int ey = -2; ey <= 2; ++ey)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          const double x = static_cast<double>(i) + ex * size;
          const double y = static_cast<double>(j) + ey * size;
          grid[i * n + j] += std::exp(
              Complex(-(xx * x * x + xy * x * y + yy * y * y), frequency * (x * c + y * s)));
        }
  for (Complex& g : grid) g *= slant / (2 * kFourDigits * sigma * sigma);
  return grid;
}

std::vector<Complex> morlet(std::size_t n, double sigma, double angle, double frequency,
                            double slant) {
  std::vector<Complex> wave = gabor(n, sigma, angle, frequency, slant);
  const std::vector<Complex> bump = gabor(n, sigma, angle, 0, slant);
  Complex a = 0, b = 0;
  for (std::size_t i = 0; i < wave.size(); ++i) a += wave[i], b += bump[i];
  for (std::size_t i = 0; i < wave.size(); ++i) wave[i] -= a / b * bump[i];
  return wave;
}

std::vector<double> spectrum(const std::vector<Complex>& grid, std::size_t n) {
  std::vector<Complex> rows(n * n);
  std::vector<double> result(n * n);
  const auto turn = [&](std::size_t a, std::size_t b) {
    return std::polar(1.0, -2 * kPi * static_cast<double>(a * b % n) / static_cast<double>(n));
  };
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t c = 0; c < n; ++c) rows[r * n + k] += grid[r * n + c] * turn(c, k);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t m = 0; m < n; ++m) {
      Complex sum = 0;
      for (std::size_t r = 0; r < n; ++r) sum += rows[r * n + k] * turn(r, m);
      result[m * n + k] = sum.real();
    }
  return result;
}

// The spectrum on a grid of half the size: high frequencies are dropped, then folded.
std::vector<double> halved(std::vector<double> full, std::size_t n) {
  const std::size_t m = n / 2, first = n / 4, end = first + m;
  if (m == 0) invariant_broken("a spectrum of one point has no half");
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < n; ++c)
      if ((r >= first && r < end) || (c >= first && c < end)) full[r * n + c] = 0;
  std::vector<double> half(m * m);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < n; ++c) half[r % m * m + c % m] += full[r * n + c];
  return half;
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// rows × n: the inverse transform of a separable spectrum in one direction, every `step` places,
// without the first and last of what comes out.
std::vector<float> smoother(const std::vector<double>& spectrum2, std::size_t n, std::size_t step) {
  const std::size_t rows = n / step - 2;
  std::vector<float> a(rows * n);
  // The spectrum is the square of its first row up to its value at 0.
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const auto shift = static_cast<double>((r + 1) * step) - static_cast<double>(i);
        sum += spectrum2[k] / std::sqrt(spectrum2[0]) *
               std::cos(2 * kPi * static_cast<double>(k) * shift / static_cast<double>(n));
      }
      a[r * n + i] = static_cast<float>(sum / static_cast<double>(n));
    }
  return a;
}

}  // namespace

struct Scattering::Bank {
  std::size_t side, n, out;  // pixels, padded, of the result
  Fourier forward, inverse, inverse_half;
  std::array<std::vector<float>, kDirections> fine, coarse;
  std::vector<float> smooth, smooth_half;

  explicit Bank(std::size_t pixels)
      : side(pixels),
        n(((pixels + 4) / 4 + 1) * 4),
        out(pixels / 4),
        forward(n, false),
        inverse(n, true),
        inverse_half(n / 2, true) {
    const double slant = 4.0 / kDirections;
    for (std::size_t t = 0; t < kDirections; ++t) {
      const double angle = (3 - static_cast<double>(t)) * kPi / kDirections;
      fine[t] = floats(spectrum(morlet(n, .8, angle, .75 * kPi, slant), n));
      coarse[t] = floats(spectrum(morlet(n, 1.6, angle, .375 * kPi, slant), n));
    }
    const std::vector<double> low = spectrum(gabor(n, 1.6, 0, 0, 1), n);
    smooth = smoother(low, n, 4);
    smooth_half = smoother(halved(low, n), n / 2, 2);
  }

  struct Work {
    std::vector<Lanes> image, grid, line;
    std::vector<RealLanes> real, half, strip, result;
  };
  void run(const std::uint8_t* pixels, std::size_t images, Points& to, std::size_t first,
           Work& w) const;
};

namespace {

// Reflection without repeating the edge.
std::size_t mirrored(std::ptrdiff_t i, std::size_t size) {
  const auto last = static_cast<std::ptrdiff_t>(size) - 1;
  if (i < 0) i = -i;
  if (i > last) i = 2 * last - i;
  return static_cast<std::size_t>(i);
}

}  // namespace

void Scattering::Bank::run(const std::uint8_t* pixels, std::size_t images, Points& to,
                           std::size_t first, Work& w) const {
  const std::size_t m = n / 2, pad = (n - side) / 2, cells = out * out;
  w.image.assign(n * n, {}), w.grid.resize(n * n), w.line.resize(n);
  w.real.assign(n * n, {}), w.half.resize(m * m), w.strip.resize(out * n), w.result.resize(cells);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t y =
          mirrored(static_cast<std::ptrdiff_t>(r) - static_cast<std::ptrdiff_t>(pad), side);
      const std::size_t x =
          mirrored(static_cast<std::ptrdiff_t>(c) - static_cast<std::ptrdiff_t>(pad), side);
      for (std::size_t l = 0; l < images; ++l) {
        const float v = static_cast<float>(pixels[l * side * side + y * side + x]) / 255.0F;
        w.image[r * n + c].re[l] = w.real[r * n + c].v[l] = v;
      }
    }
  std::size_t channel = 0;
  const auto put = [&](std::size_t number) {
    for (std::size_t l = 0; l < images; ++l)
      for (std::size_t i = 0; i < cells; ++i)
        to.row(first + l)[number * cells + i] = w.result[i].v[l];
  };
  low_pass(smooth.data(), out, n, w.real.data(), w.strip.data(), w.result.data());
  put(channel++);
  transform_grid(forward, w.image.data(), w.line.data());
  std::vector<Lanes> second(n * n);
  for (std::size_t t = 0; t < kDirections; ++t) {
    filter(w.image.data(), fine[t].data(), n, 1, w.grid.data());
    transform_grid(inverse, w.grid.data(), w.line.data());
    modulus(w.grid.data(), n * n, w.real.data());
    low_pass(smooth.data(), out, n, w.real.data(), w.strip.data(), w.result.data());
    put(1 + t);
    for (std::size_t i = 0; i < n * n; ++i) {
      std::copy(std::begin(w.real[i].v), std::end(w.real[i].v), std::begin(second[i].re));
      std::fill(std::begin(second[i].im), std::end(second[i].im), 0.0F);
    }
    transform_grid(forward, second.data(), w.line.data());
    for (std::size_t u = 0; u < kDirections; ++u) {
      filter(second.data(), coarse[u].data(), n, 2, w.grid.data());
      transform_grid(inverse_half, w.grid.data(), w.line.data());
      modulus(w.grid.data(), m * m, w.half.data());
      low_pass(smooth_half.data(), out, m, w.half.data(), w.strip.data(), w.result.data());
      put(1 + 2 * kDirections + t * kDirections + u);
    }
  }
  for (std::size_t t = 0; t < kDirections; ++t) {
    filter(w.image.data(), coarse[t].data(), n, 2, w.grid.data());
    transform_grid(inverse_half, w.grid.data(), w.line.data());
    modulus(w.grid.data(), m * m, w.half.data());
    low_pass(smooth_half.data(), out, m, w.half.data(), w.strip.data(), w.result.data());
    put(1 + kDirections + t);
  }
}

Scattering::Scattering(std::size_t side) {
  if (side < 8 || side > 64 || side % 4 != 0)
    throw InvalidArgument(
        "scattering needs square images of 8 to 64 pixels a side, a multiple of 4");
  bank_ = std::make_unique<Bank>(side);
}
Scattering::~Scattering() = default;
Scattering::Scattering(Scattering&&) noexcept = default;
Scattering& Scattering::operator=(Scattering&&) noexcept = default;

std::size_t Scattering::side() const { return bank_->side; }
std::size_t Scattering::channel() const { return bank_->out * bank_->out; }

Points Scattering::apply(std::span<const std::uint8_t> pixels, unsigned threads) const {
  const std::size_t size = bank_->side * bank_->side;
  if (pixels.size() % size != 0) throw InvalidArgument("the pixels are no whole number of images");
  const std::size_t images = pixels.size() / size;
  Points result{.width = width(), .values = {}};
  result.values.resize(images * width());
  std::vector<Bank::Work> work(thread_count(threads));
  parallel_blocks((images + kLanes - 1) / kLanes, threads, [&](std::size_t b, unsigned thread) {
    const std::size_t first = b * kLanes;
    bank_->run(pixels.data() + first * size, std::min(kLanes, images - first), result, first,
               work[thread]);
  });
  return result;
}

}  // namespace sotto::features
