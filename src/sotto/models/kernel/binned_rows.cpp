#include "sotto/models/kernel/detail/binned_rows.hpp"

namespace sotto {

BinnedRows::BinnedRows(Source& source, const BinnedColumns& columns) : columns_(&columns) {
  struct Part {
    std::vector<BinnedColumns::Code> codes;
    std::vector<float> targets;
  };
  const std::size_t d = columns.columns();
  source.map<Part>(
      [&](const Table& block) {
        Part part;
        part.codes.reserve(block.rows() * d);
        for (std::size_t i = 0; i < block.rows(); ++i) {
          if (block.is_null(i)) continue;
          part.codes.resize(part.codes.size() + d);
          columns.read(block, i, std::span(part.codes).last(d));
          part.targets.push_back(static_cast<float>(block.targets()[i]));
        }
        return part;
      },
      [&](Part&& part) {
        codes_.insert(codes_.end(), part.codes.begin(), part.codes.end());
        targets_.insert(targets_.end(), part.targets.begin(), part.targets.end());
      });
}

}  // namespace sotto
