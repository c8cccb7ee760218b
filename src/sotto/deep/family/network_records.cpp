#include "sotto/deep/family/detail/network_records.hpp"

#include <cstring>

#include "sotto/deep/losses.hpp"

namespace sotto::deep {
namespace {

Records image_records(const Images& images) {
  const auto n = static_cast<std::int64_t>(images.count()),
             height = static_cast<std::int64_t>(images.height),
             width = static_cast<std::int64_t>(images.width);
  auto inputs = torch::empty({n, 1, height, width}, torch::kByte);
  std::memcpy(inputs.data_ptr(), images.pixels.data(), images.pixels.size());
  auto targets = torch::zeros({n}, torch::kLong);
  for (std::size_t i = 0; i < images.labels.size(); ++i)
    targets.data_ptr<std::int64_t>()[i] = images.labels[i];
  return {inputs, targets};
}

Records table_records(const Table& table, bool classification) {
  const auto n = static_cast<std::int64_t>(table.rows()),
             width = static_cast<std::int64_t>(table.width());
  auto inputs = torch::empty({n, width}, torch::kFloat);
  for (std::size_t i = 0; i < table.rows(); ++i)
    table.row(i, std::span(inputs.data_ptr<float>() + i * table.width(), table.width()));
  auto targets = torch::zeros({n}, classification ? torch::kLong : torch::kFloat);
  for (std::size_t i = 0; i < table.targets().size(); ++i) {
    const double target = table.targets()[i];
    if (classification)
      targets.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(target);
    else
      targets.data_ptr<float>()[i] = static_cast<float>(target);
  }
  return {inputs, targets};
}

}  // namespace

Records records_of(const Block& block, bool classification) {
  return block.is_table() ? table_records(block.table(), classification)
                          : image_records(block.images());
}

Records no_records(const Facts& facts, bool classification) {
  if (facts.encoder)
    return {torch::zeros({0, static_cast<std::int64_t>(facts.encoder->width())}),
            torch::zeros({0}, classification ? torch::kLong : torch::kFloat)};
  return {torch::zeros({0, 1, static_cast<std::int64_t>(facts.images->height),
                        static_cast<std::int64_t>(facts.images->width)},
                       torch::kByte),
          torch::zeros({0}, torch::kLong)};
}

}  // namespace sotto::deep
