// ClippedSum: the sum of clipped per-sample gradients of one logical batch, at nearly the cost of
// an ordinary backward pass.
//
// What       ClippedSum sum(*model, {.norm = 1});
//            sum.clear();
//            for (each physical batch x, y)  sum.add({x, y}, [&] { return
//            softmax_cross_entropy(model->forward(x), y); });
//            … noise, then sum.sums() are the gradient of the optimiser, divided by a public
//            constant.
// Guarantee  sums() has ℓ2-sensitivity sensitivity(relation) = C (add_remove, zero_out) or 2C
//            (replace_one) in the records of the logical batch, however it was cut into physical
//            ones. It is a private value until noise of that scale is added.
//            That model and losses treat records one by one is proved for the operations of every
//            pass (rows/pass.hpp); probe.hpp and rows/rehearsal.hpp try the rest on made-up
//            records. Under add_remove, batches must have one public size (`empty` fills them),
//            unless same_for_any_size().
// Method     One forward and one backward pass with a Recorder, then one product per layer for Σ_i
//            c_i·g_i. An empty batch is a sum of zeros. Modules without per-sample gradients:
//            add_by_micro_batches.
// Numerics   32-bit sums, or 64-bit ones of 32-bit gradients (double_sums); rounding is paid for by
//            the allowance in clipping.hpp.
// Reference  [ACGMMTZ16], [BWZK23]; docs/math/per-sample-clipping.md.
#pragma once

#include <functional>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/deep/clipping.hpp"
#include "sotto/deep/recorder.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep {

// Runs the model on a physical batch and returns the loss of each of its records.
using Losses = std::function<torch::Tensor()>;

class ClippedSum {
 public:
  ClippedSum(const torch::nn::Module& model, ClipOptions options);

  // Adds Σ_i clip(g_i) over the records of one physical batch. The gradients (.grad) of the
  // parameters stay undefined. batch: the tensors that hold the records, each with the axis that
  // counts them ({x, y}, or {{x, 1}, y} for sequences (T, B, …)).
  // Returns the losses, detached: private values. Throws NotRowWise when an operation is not known
  // to keep records apart. empty: rows of the batch that are no records and add nothing, so that
  // batches of any number of records can have one shape.
  // row_norms: thresholds of single rows, at most the clip norm.
  torch::Tensor add(const rows::RecordTensors& batch, const Losses& losses,
                    const std::vector<bool>& empty = {}, const std::vector<double>& row_norms = {});
  // The same for any module, one record at a time: losses(i) is the loss of record i alone. Correct
  // and slow.
  void add_by_micro_batches(std::int64_t records,
                            const std::function<torch::Tensor(std::int64_t)>& loss,
                            const std::vector<bool>& empty = {});
  // Tries on made-up records (at least 2) whether the losses reach records through operations alone
  // (rows/rehearsal.hpp).
  void rehearse(const rows::RecordTensors& made_up, const rows::LossesOf& losses) const;
  // Whether each loss is one function of its record, whatever the row and the number of rows: tried
  // on made-up batches that differ in their numbers of records, at least 2 each
  // (rows/transcript.hpp). Where it is, batches may have any size under add_remove too.
  bool same_for_any_size(const std::vector<rows::RecordTensors>& made_up,
                         const rows::LossesOf& losses) const;
  // The most rows that batches of any size will have. A public number.
  void set_rows(std::int64_t rows) { clipper_.set_rows(rows); }
  void clear();  // starts the next logical batch
  // A constant that model or losses hold without having registered it (class weights, a mask): it
  // does not depend on records.
  void declare_public(const torch::Tensor& constant) { public_.declare(constant); }

  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  // One tensor for each parameter: views of flat(), in order; floats, or doubles with double_sums.
  // Private until noised.
  std::vector<torch::Tensor>& sums();
  torch::Tensor& flat();

  double sensitivity(Relation relation) const;
  // With double_sums: whether rounding in sums of so many records stays below its allowance, by
  // proof, for the model as it has run so far: its sums are short enough, and no operation lets
  // records meet in rounding. A public fact.
  bool rounding_is_bounded(double records) const;
  const Clipper& clipper() const { return clipper_; }
  void set_norm(double norm) { clipper_.set_norm(norm); }

  std::int64_t private_records() const { return records_; }  // of this logical batch
  std::int64_t private_unclipped() const {
    return unclipped_;
  }  // of them with norm ≤ C: what adaptive clipping counts
  // Norms of the records of the last physical batch, for tests and labelled diagnostics.
  const std::vector<double>& private_norms() const { return norms_; }

 private:
  NormRoom room() const;
  ClipFactors take_factors(const std::vector<const std::vector<double>*>& squares,
                           std::size_t records, const std::vector<bool>& empty = {},
                           const std::vector<double>& row_norms = {});

  std::vector<NamedParameter> parameters_;
  rows::PublicTensors public_;
  Clipper clipper_;
  torch::Tensor flat_;
  std::vector<torch::Tensor> sums_;
  bool empty_ = true;  // nothing added yet: the buffer may hold anything
  std::int64_t records_ = 0, unclipped_ = 0;
  std::int64_t terms_ = 1;
  bool joint_rounding_ = false;
  std::vector<double> norms_;
};

}  // namespace sotto::deep
