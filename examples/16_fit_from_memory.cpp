// A private model from numbers in memory, with its certificate, in one call.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "sotto/learning.hpp"
#include "sotto/models.hpp"

int main() {
  using namespace sotto;
  std::vector<double> x,
      y;  // a row is (height in cm, weight in kg); the target is a blood pressure
  for (int i = 0; i < 2000; ++i) {
    const double height = 150 + i % 50, weight = 50 + (i * 7) % 60;
    x.insert(x.end(), {height, weight});
    y.push_back(100 + 0.4 * (weight - 50) - 0.1 * (height - 150));
  }

  // Bounds are declared: they are public facts, not read from the numbers.
  const Schema schema = matrix_schema({.bounds = {Bounds(140, 210), Bounds(40, 150)},
                                       .target_bounds = Bounds(80, 200),
                                       .rows = 2000});
  Rng rng;
  const Fitted fitted = fit(linear_family(), "linear", schema, {x.data(), y.size(), 2, 2, 1}, y,
                            Budget::approximate(1, 1e-6), rng);
  const double person[] = {180, 80};
  fmt::print("predicted {:.1f}, epsilon = {:.4f} at delta = {}\n",
             fitted.apply({person, 1, 2, 2, 1})[0], fitted.certificate.epsilon,
             fitted.certificate.delta);

  const std::filesystem::path place = std::filesystem::temp_directory_path() / "sotto_example_16";
  std::filesystem::remove_all(place);
  fitted.write(place);  // `sotto verify` accepts it, `sotto predict` applies it
  return fitted.certificate.epsilon <= 1 ? 0 : 1;
}
