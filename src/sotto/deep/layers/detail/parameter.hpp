// Parameters used outside of layers: scales, shifts, position embeddings, anything.
//
// What       scale(x, w) = x∘w and shift(x, b) = x + b, with w and b of the last axes of x;
//            per_record(w) is w once for each record,
//            (B, …), for use in any expression that keeps records apart.
// Guarantee  None by itself (see recorder.hpp).
// Method     The gradient of record i is what arrives in its rows, summed over the axes between;
//            written out (DirectTerm).
// Numerics   As in gradient_term.hpp.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>

namespace sotto::deep {

torch::Tensor scale(const torch::Tensor& input, const torch::Tensor& weight,
                    const std::string& layer = "scale");
torch::Tensor shift(const torch::Tensor& input, const torch::Tensor& bias,
                    const std::string& layer = "shift");
// records: how many there are; checked against the recorder when one is current.
torch::Tensor per_record(const torch::Tensor& parameter, std::int64_t records,
                         const std::string& layer = "per_record");

}  // namespace sotto::deep
