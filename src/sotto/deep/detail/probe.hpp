// The probe: does one record's loss and gradient depend on the others of its batch? The second
// line, behind the proof of rows/pass.hpp.
//
// What       probe(model, x, y, losses) runs a few made-up records alone and in company and
//            compares losses, norms and gradients. What the proof does not speak of is found by
//            what it does: layers that differentiate wrongly, arithmetic that mixes rows, records
//            that are attributed to others. Buffers that a forward pass changes are found too: they
//            would leave with the model, without noise.
// Guarantee  A refusal is certain; a pass means that these records showed no coupling. The probe
//            reads only the records it is given: give it made-up ones (random numbers of the right
//            shape), never private data.
// Method     For each record i: loss, norm and gradient from the one-pass engine among others (as
//            given, negated, zeros, huge, not finite), from the engine with the record alone, and
//            by ordinary differentiation with the record alone. All must agree within `tolerance`,
//            each parameter for itself. Dropout is off meanwhile; everything else is in training
//            mode.
// Numerics   Relative differences, 2e-4 by default: a few hundred roundings.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/deep/clipping.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep {

// Made-up records: inputs, one or more, and targets last; the first axis of each counts them.
using MadeUp = std::vector<torch::Tensor>;
// The losses of the records of a batch.
using BatchLosses = std::function<torch::Tensor(const torch::Tensor& x, const torch::Tensor& y)>;
inline rows::LossesOf of_two(BatchLosses losses) {
  return [losses = std::move(losses)](const MadeUp& b) { return losses(b[0], b[1]); };
}

// Throws Unsupported that says what was found. At least 2 records. constants: public tensors that
// the losses hold.
void probe(torch::nn::Module& model, const MadeUp& records, const rows::LossesOf& losses,
           const ClipOptions& options = {}, const std::vector<torch::Tensor>& constants = {},
           double tolerance = 2e-4);
inline void probe(torch::nn::Module& model, const torch::Tensor& x, const torch::Tensor& y,
                  const BatchLosses& losses, const ClipOptions& options = {},
                  const std::vector<torch::Tensor>& constants = {}, double tolerance = 2e-4) {
  probe(model, {x, y}, of_two(losses), options, constants, tolerance);
}

// Training mode as in a step, but without dropout, while `work` runs.
void without_dropout(torch::nn::Module& model, const std::function<void()>& work);

// Whether rows are computed apart: the same record on the same row of batches of one shape gives
// the same loss and gradient, bit for bit, whatever is on the other rows. Tries two rows, each
// among other records, zeros, and records that are not finite or huge.
// As many records as a physical batch has rows; whole numbers are 0 or 1.
bool rows_are_apart(torch::nn::Module& model, const MadeUp& records, const rows::LossesOf& losses,
                    const ClipOptions& options = {},
                    const std::vector<torch::Tensor>& constants = {});

// Training mode, but for BatchNorm that was put into eval mode: it stays frozen.
void train_mode(torch::nn::Module& model);

// Refuses by name what is known not to work (BatchNorm on batch statistics, layers without
// per-sample gradients), with what to do. The module itself stays as it is: its layers take the
// private path inside ClippedSum (intercept.hpp).
void require_private(const torch::nn::Module& model);

template <class Holder>
Holder privatize(Holder model) {
  require_private(*model);
  return model;
}

}  // namespace sotto::deep
