// A private logistic regression from LibTorch tensors, read where they are.
#include <fmt/core.h>
#include <torch/torch.h>

#include "sotto/learning.hpp"
#include "sotto/models.hpp"

int main() {
  using namespace sotto;
  torch::manual_seed(1);
  // Three measurements in [0, 1]; the class follows the first two. Any strides will do.
  const torch::Tensor x = torch::rand({3, 4000}, torch::kFloat64).t();
  const torch::Tensor y = (x.select(1, 0) + x.select(1, 1) > 1).to(torch::kFloat64).contiguous();

  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const MatrixView matrix{x.data_ptr<double>(), size(x.size(0)), size(x.size(1)), x.stride(0),
                          x.stride(1)};
  const std::span<const double> classes(y.data_ptr<double>(), size(y.numel()));

  // Bounds, classes and the number of rows are declared, not read from the tensors.
  const Schema schema =
      matrix_schema({.bounds = std::vector(3, Bounds(0, 1)), .classes = 2, .rows = 4000});
  Rng rng;
  const Fitted fitted =
      fit(linear_family(), "logistic", schema, matrix, classes, Budget::approximate(1, 1e-6), rng);

  // Columns of apply(): the class, its probability, and that of each class.
  const std::vector<double> answers = fitted.apply(matrix);
  const std::size_t columns = answers.size() / classes.size();
  double right = 0;
  for (std::size_t i = 0; i < classes.size(); ++i)
    right += answers[i * columns] == classes[i] ? 1 : 0;
  fmt::print("epsilon = {:.4f}: {:.1f} % right\n", fitted.certificate.epsilon,
             100 * right / static_cast<double>(classes.size()));
  return right > 0.8 * static_cast<double>(classes.size()) ? 0 : 1;
}
