// Recorder: what one backward pass leaves behind, record by record.
//
// What       While a Recorder is current on a thread, private layers (layers/*.hpp) record each use
//            of a trainable parameter: the backward pass hands over what determines the gradient of
//            every single record, and never forms the ordinary gradient of a weight. The recorder
//            keeps squared norms per record and parameter, and forms Σ_i c_i·g_i at the end.
// Guarantee  None by itself: norms and sums are private values. clipped_sum.hpp bounds them, noise
//            makes them releasable.
// Method     Book-keeping [BWZK23]: activations and output gradients are kept until the clip
//            factors are known; norms by ghost norm
//            [Goo15], [LTLH22] or from gradients written out record by record, whichever costs less
//            for the layer and batch shape.
//            A parameter used several times is exact: uses are joined before norms are taken, or
//            written out; where that would pass the memory allowance, the triangle inequality gives
//            an upper bound.
// Numerics   Squared norms in double; docs/math/per-sample-clipping.md.
// Reference  [BWZK23], [Goo15], [LTLH22]; docs/math/per-sample-clipping.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sotto/deep/gradient_term.hpp"
#include "sotto/deep/intercept.hpp"

namespace sotto::deep {

struct NamedParameter {
  std::string name;
  torch::Tensor tensor;
};

// The trainable parameters of a model, each tensor once (the first name counts when it is shared).
std::vector<NamedParameter> trainable_parameters(const torch::nn::Module& model);

class Recorder {
 public:
  // batch: records in this physical batch. room: for per-sample gradients.
  Recorder(const std::vector<NamedParameter>& parameters, std::int64_t batch, NormRoom room);

  // The recorder that layers on this thread report to; null outside of a recording.
  static Recorder* current();

  // Makes a recorder current.
  class Scope {
   public:
    explicit Scope(Recorder& recorder);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recorder* outer_;
    Interception interception_;  // ordinary torch layers report too
  };

  std::int64_t batch() const { return batch_; }

  // Some functions of LibTorch compute neighbouring numbers together and round one by another's
  // size; the interception tells of them.
  void note_joint_rounding() { joint_rounding_ = true; }
  bool has_joint_rounding() const { return joint_rounding_; }
  // Terms of the longest sum in a record's gradient that is not kept; valid after finish().
  std::int64_t terms() const { return room_.terms; }
  bool knows(const torch::Tensor& parameter) const {
    return index_.count(parameter.unsafeGetTensorImpl()) > 0;
  }

  // Forward: a layer is going to use this parameter. False when it is not trained.
  // Throws when the input has no leading axis of `batch` records, or the parameter is unknown to
  // the recorder.
  bool expect(const torch::Tensor& parameter, const torch::Tensor& input, const std::string& layer);
  // Backward: what that use adds to the gradient of every record.
  void add(const torch::Tensor& parameter, std::unique_ptr<GradientTerm> use);

  // After the backward pass. Throws, naming the parameter, when a trainable one has no per-sample
  // gradient or an ordinary one.
  void finish();
  // Squared norms of the gradient of each record in parameter k, or upper bounds; valid after
  // finish().
  const std::vector<double>& squared_norms(std::size_t k) const { return slots_[k].squares; }
  // sum += Σ_i factors[i]·g_i (or sum = …, when overwrite). Records in `dropped` contribute
  // nothing, whatever they hold.
  void weighted_sum(std::size_t k, const torch::Tensor& factors,
                    const std::vector<std::int64_t>& dropped, torch::Tensor& sum, bool overwrite);

 private:
  struct Slot {
    const NamedParameter* parameter = nullptr;
    int expected = 0;
    std::vector<std::unique_ptr<GradientTerm>> uses;
    std::vector<double> squares;
  };
  Slot& slot(const torch::Tensor& parameter);
  void settle(Slot& slot);

  std::vector<Slot> slots_;
  std::unordered_map<const void*, std::size_t> index_;
  std::int64_t batch_;
  NormRoom room_;
  bool joint_rounding_ = false;
};

// Whether a layer has somebody to report to, in a pass that will be differentiated.
inline bool recording() { return Recorder::current() != nullptr && torch::GradMode::is_enabled(); }

}  // namespace sotto::deep
