// Private principal components, from a table in memory to a model, against BLAS' syrk of the same
// rows: what any method has to compute at least.
//
// syrk is OpenBLAS' (Debian: libopenblas0), opened when the program runs: it is only something to
// compare with. Without it our own times are printed. Our own work besides the products: location,
// radius and clipping of rows, exact sums, noise, and the eigenvectors.
#include <dlfcn.h>
#include <fmt/format.h>

#include <random>
#include <vector>

#include "interleaved.hpp"
#include "sotto/data/matrix_table.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/models/pca/pca_family.hpp"

namespace {

using namespace sotto;

constexpr int kRounds = 3;

// cblas_dsyrk(order, which triangle, transposed, n, k, alpha, A, lda, beta, C, ldc).
using Syrk = void (*)(int, int, int, int, int, double, const double*, int, double, double*, int);
constexpr int kRowMajor = 101, kUpper = 121, kTransposed = 112;

Syrk syrk_of_openblas() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Syrk>(dlsym(library, "cblas_dsyrk"));
}

// Rows with a few strong directions, within [−1, 1].
std::vector<double> rows_of(std::size_t rows, std::size_t width) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  std::vector<double> x(rows * width);
  for (std::size_t i = 0; i < rows; ++i) {
    const double common = 0.2 * static_cast<double>(normal(random));
    for (std::size_t j = 0; j < width; ++j)
      x[i * width + j] =
          std::clamp(common * (j % 7 == 0) + 0.1 * static_cast<double>(normal(random)), -1.0, 1.0);
  }
  return x;
}

void compare(bench::Report& report, Syrk syrk, std::size_t rows, std::size_t width) {
  const std::vector<double> x = rows_of(rows, width);
  const Family family = pca_family();
  const TrainingRequest request{
      .kind = "pca",
      .method = "gauss",
      .budget = Budget::approximate(1, 1e-6),
      .options = OptionValues(options_of(family, "pca"), {{"components", {"10"}}})};
  const Facts facts = facts_for(
      family, matrix_schema({.bounds = std::vector<Bounds>(width, Bounds(-1, 1)), .rows = rows}),
      request);
  Table table(*facts.encoder);
  table.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor =
        facts.encoder->encode(std::span(x).subspan(i * width, width), sink.dense, sink.hot, column);
  }
  const auto products = static_cast<double>(rows) * static_cast<double>(width * (width + 1)) / 2;
  std::vector<bench::Alternative> all = {
      {"private components, all of it",
       [&] {
         Rng rng;
         plan_training(family, facts, request)->run(*table_in_memory(table), rng);
       },
       products}};
  std::vector<double> square(width * width);
  if (syrk != nullptr)
    all.push_back({"syrk alone (OpenBLAS)",
                   [&] {
                     syrk(kRowMajor, kUpper, kTransposed, static_cast<int>(width),
                          static_cast<int>(rows), 1, x.data(), static_cast<int>(width), 0,
                          square.data(), static_cast<int>(width));
                   },
                   products});
  report.table(fmt::format("Principal components of {} x {}", rows, width), "Gproducts", 1e9,
               std::move(all), kRounds);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  const Syrk syrk = syrk_of_openblas();
  if (syrk == nullptr) fmt::print("libopenblas0 is not installed: nothing to compare with\n");
  compare(report, syrk, 60'000, 784);
  compare(report, syrk, 100'000, 200);
  return report.finish();
}
