// Noise alone: for looking at the distributions, for tests from outside, for other programs.
#include <algorithm>
#include <bit>
#include <charconv>
#include <span>

#include "commands.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kBatch = 4096;

using Fill = std::function<void(Rng&, std::span<std::int64_t>)>;

// Exact integers of this scale. Real-valued noise is the same on the safe grid, where its scale is
// about 2^40 steps.
Fill sampler(bool gaussian, double scale) {
  if (gaussian) return [d = DiscreteGaussian(scale)](Rng& rng, auto out) { d.fill(rng, out); };
  return [d = DiscreteLaplace(scale)](Rng& rng, auto out) { d.fill(rng, out); };
}

// At least 32 bytes of room for any double or 64-bit integer in shortest form, and the line end.
template <class T>
void append_line(std::string& text, T value) {
  char buffer[40];
  char* end = std::to_chars(buffer, buffer + sizeof buffer - 1, value).ptr;
  *end++ = '\n';
  text.append(buffer, end);
}

void append_little_endian(std::string& bytes, double value) {
  auto word = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, word >>= 8) bytes += static_cast<char>(word & 0xFF);
}

void run_noise(const Arguments& arguments, Context& context) {
  const std::string distribution = arguments.text("distribution");
  const double scale = arguments.number("scale");
  const std::uint64_t count = arguments.whole("count");
  const bool binary = arguments.flag("binary");
  const bool on_grid = !distribution.starts_with("discrete_");
  const double step = on_grid ? granularity_for(scale) : 1;
  const Fill fill = sampler(distribution.ends_with("gaussian"), scale / step);

  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  Progress progress(context.progress("drawing", count));
  std::vector<std::int64_t> batch(kBatch);
  std::string text;
  for (std::uint64_t done = 0; done < count;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, count - done));
    const std::span<std::int64_t> draws(batch.data(), n);
    fill(rng, draws);
    text.clear();
    for (const std::int64_t z : draws) {
      // |z| < 2^53 on the grid, so the product with a power of two is exact.
      if (binary) {
        append_little_endian(text, static_cast<double>(z) * step);
      } else if (on_grid) {
        append_line(text, static_cast<double>(z) * step);
      } else {
        append_line(text, z);
      }
    }
    context.out.write(text);
    done += n;
    progress.advance(done);
  }
  progress.finish();
}

}  // namespace

Command noise_command() {
  return {
      .name = "noise",
      .summary = "draw exact noise from a cryptographic generator",
      .description =
          "Discrete distributions give whole numbers: P(z) ∝ exp(-z²/(2S²)) or exp(-|z|/S). The "
          "other two are "
          "the same on a grid of spacing about S/2^40, a power of two, so that the low bits of a "
          "noised value "
          "tell nothing. All are sampled with integer arithmetic only.",
      .examples =
          {{"Five whole numbers of standard deviation 10",
            "sotto noise --distribution discrete_gaussian --scale 10 --count 5"},
           {"A thousand Laplace draws of scale 2 as little-endian doubles",
            "sotto noise --distribution laplace --scale 2 --count 1000 --binary > noise.bin"}},
      .options = {{.name = "distribution",
                   .type = Type::choice,
                   .value = "NAME",
                   .help = "which noise",
                   .choices = {"discrete_gaussian", "discrete_laplace", "gaussian", "laplace"},
                   .required = true},
                  {.name = "scale",
                   .type = Type::number,
                   .value = "S",
                   .help = "standard deviation of the Gaussians, scale b of the Laplaces",
                   .range = Range::above(0),
                   .required = true},
                  {.name = "count",
                   .type = Type::whole,
                   .value = "N",
                   .help = "how many values",
                   .range = Range::between(0, 0x1p53),
                   .required = true},
                  {.name = "binary",
                   .type = Type::flag,
                   .help = "write 8-byte little-endian doubles instead of lines"},
                  output_option(),
                  insecure_seed_option()},
      .run = run_noise,
  };
}

}  // namespace sotto::cli
