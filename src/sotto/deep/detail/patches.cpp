#include "sotto/deep/detail/patches.hpp"

namespace sotto::deep {
namespace {

// The last entries are the last dimensions; those that are not there get `missing`.
template <class Sizes>
std::array<std::int64_t, 3> three(const Sizes& sizes, std::int64_t missing) {
  std::array<std::int64_t, 3> result{missing, missing, missing};
  for (std::size_t k = 0; k < sizes.size(); ++k) result[3 - sizes.size() + k] = sizes[k];
  return result;
}

}  // namespace

Patches::Patches(const torch::Tensor& input, const torch::Tensor& weight,
                 const torch::Tensor& output, const std::vector<std::int64_t>& stride,
                 const std::vector<std::int64_t>& padding,
                 const std::vector<std::int64_t>& dilation, std::int64_t groups_)
    : records(input.size(0)),
      groups(groups_),
      outputs(output.size(1) / groups_),
      data_(input.data_ptr<float>()),
      shape_{.channels = input.size(1),
             .in = three(input.sizes().slice(2), 1),
             .out = three(output.sizes().slice(2), 1),
             .kernel = three(weight.sizes().slice(2), 1),
             .stride = three(stride, 1),
             .padding = three(padding, 0),
             .dilation = three(dilation, 1)} {
  const auto product = [](const PatchShape::Three& x) { return x[0] * x[1] * x[2]; };
  patch = shape_.channels / groups * product(shape_.kernel);
  positions = product(shape_.out);
  shape_.settle();
}

void Patches::lay_out(std::int64_t record, float* columns) const {
  const std::int64_t image = shape_.channels * shape_.in[0] * shape_.in[1] * shape_.in[2];
  lay_out_patches(shape_, data_ + record * image, columns + shape_.columns(), columns);
}

}  // namespace sotto::deep
