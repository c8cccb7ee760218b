// Sizes of batches in which rows are computed alike.
//
// What       alike_sizes(model, records, losses, options, candidates): how many rows a batch may
//            have without a bit of anybody's gradient depending on it. Those of the candidates with
//            which a record has the same loss, norm and gradient on whatever row it sits, as in the
//            largest batch.
// Guarantee  Found on made-up records: a premise of the proof for exact noise, which certificates
//            state.
// Method     Products are computed in tiles, and a last part of a tile, or few rows, take other
//            code than the rest; whole tiles agree. For each size one batch holds one record on all
//            rows, another a record among others.
// Numerics   Bit for bit.
// Reference  docs/math/per-sample-clipping.md, section "Rounding".
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/deep/clipping.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep {

// records: made-up ones, as many as the largest candidate; targets last. Ascending, the largest
// candidate last; empty when rows differ even there. constants: public tensors that the losses
// hold.
std::vector<std::int64_t> alike_sizes(torch::nn::Module& model,
                                      const std::vector<torch::Tensor>& records,
                                      const rows::LossesOf& losses, const ClipOptions& options,
                                      std::vector<std::int64_t> candidates,
                                      const std::vector<torch::Tensor>& constants = {});

}  // namespace sotto::deep
