// Rehearsal: does a forward pass read or write records past LibTorch's operations (data_ptr,
// accessors, tolist, other threads)?
//
// What       Runs the losses on made-up records in a child process. The pages of memory that holds
//            records are locked but for the moments when an operation with a rule works on them, so
//            touching them in any other way is a fault.
// Guarantee  A refusal is certain. A pass means that these records, on this way through the
//            program, were reached through operations alone; certificates call it rehearsed, not
//            proved.
// Method     fork, an allocator that gives every tensor pages of its own, mprotect. Nothing that
//            the child does comes back but the verdict.
// Numerics   None.
// Reference  docs/math/row-by-row.md.
#pragma once

#include <functional>
#include <vector>

#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep::rows {

// The losses of a batch whose tensors are given in the order of `made_up`.
using LossesOf = std::function<torch::Tensor(const std::vector<torch::Tensor>& batch)>;

// Throws NotRowWise. made_up: at least 2 records, never private ones.
void rehearse(const PublicTensors& known, const RecordTensors& made_up, const LossesOf& losses);

}  // namespace sotto::deep::rows
