// Pass: follows the records of one batch through a forward pass, and refuses what lets them meet.
//
// What       Pass pass(known, {x, y});
//            { const Pass::Watch watch(pass);  losses = model->forward(x) …; }
//            pass.finish(losses);
// Guarantee  When finish() returns, loss b is a function of record b, of public values and of
//            random numbers that do not depend on records, for code that reaches records through
//            operations of LibTorch on this thread; so is what arrives at row b in the backward
//            pass.
//            Memory that is read past the operations is the business of rehearsal.hpp.
// Method     Every operation is seen before it runs (dispatch.cpp). It must have a rule
//            (rules.hpp), be made of operations that have one, or be a view; all else is refused by
//            name. Nothing reads a value, so a refusal tells nothing of the data. It is final,
//            whoever catches the exception.
// Numerics   About dependence in exact arithmetic; the last bits are the business of
//            docs/math/per-sample-clipping.md.
// Reference  docs/math/row-by-row.md.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/torch.h>

#include <deque>
#include <string>
#include <vector>

#include "sotto/deep/rows/memory_table.hpp"
#include "sotto/deep/rows/not_row_wise.hpp"

namespace sotto::deep::rows {

// LibTorch keeps two dispatch keys for tests. The upper one sees every operation first; the lower
// one is the interception's (intercept.hpp).
inline constexpr auto kWatchKey = c10::DispatchKey::TESTING_ONLY_GenericMode;
inline constexpr auto kInterceptKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

// A tensor of a batch, and which of its axes counts the records.
struct RecordTensor {
  RecordTensor(torch::Tensor t, std::int64_t a = 0) : tensor(std::move(t)), axis(a) {}
  torch::Tensor tensor;
  std::int64_t axis;
  std::int64_t records() const { return tensor.size(axis); }
};
using RecordTensors = std::vector<RecordTensor>;

// What is known not to depend on records: parameters, buffers, declared constants.
class PublicTensors {
 public:
  explicit PublicTensors(const torch::nn::Module& model);
  // A constant that the model or the loss holds without having registered it, such as class
  // weights.
  void declare(const torch::Tensor& constant) { known_.push_back({"", constant}); }

  struct Known {
    std::string name;  // empty: a constant
    torch::Tensor tensor;
  };
  const std::deque<Known>& all() const { return known_; }

 private:
  std::deque<Known> known_;  // a pass points to names
};

// Opens the memory of records for an operation that has a rule, and closes it afterwards
// (rehearsal.hpp).
class Locks {
 public:
  virtual ~Locks() = default;
  virtual void open(const torch::Tensor& tensor) = 0;
  virtual void note(const torch::Tensor& tensor) = 0;  // to be closed too
  virtual void close() = 0;
};

class Transcript;  // transcript.hpp

class Pass {
 public:
  Pass(const PublicTensors& known, const RecordTensors& batch);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Alive: operations of this thread are followed.
  class Watch {
   public:
    explicit Watch(Pass& pass);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Pass* outer_;
    c10::impl::IncludeDispatchKeyGuard include_;
  };
  static Pass* current();
  // Whether the next operation of this thread would be followed: not so inside of an operation that
  // has a rule.
  static bool watching();

  std::int64_t records() const { return records_; }
  // The axis of the records. Throws NotRowWise for a tensor of unknown origin, or one that cuts or
  // mixes records.
  Axis axis(const torch::Tensor& tensor);
  // Memory was written: the records of this tensor are on this axis. Throws NotRowWise.
  void place(const torch::Tensor& tensor, const Axis& axis);
  // After the forward pass: one loss for each record, nothing refused, nothing public overwritten,
  // no foreign derivatives. Throws NotRowWise.
  void finish(const torch::Tensor& losses);

  // What is being done, for messages; remembers the layer by the parameters that it uses.
  void enter(const std::string* operation) {
    operation_ = operation;
    here_ = false;
  }
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {});
  // An operation threw: whether it does may depend on records, so there is no way on.
  void fail(const std::string& what);

  void lock_with(Locks* locks) { locks_ = locks; }
  Locks* locks() const { return locks_; }
  void write_to(Transcript* transcript) { transcript_ = transcript; }
  Transcript* transcript() const { return transcript_; }
  const std::string* operation() const { return operation_; }  // the last one that was seen
  MemoryTable& memory() { return memory_; }

 private:
  std::string where() const;

  std::int64_t records_;
  const PublicTensors& known_;
  MemoryTable memory_;
  const std::string* operation_ = nullptr;
  const std::string* layer_ = nullptr;  // the last parameter that was used
  bool here_ = false;                   // … by the operation itself
  std::string refused_, hint_;
  Locks* locks_ = nullptr;
  Transcript* transcript_ = nullptr;
};

// Finds derivatives that are not LibTorch's or Sotto's own, and hooks, on the way back from the
// losses. Throws NotRowWise.
void require_own_derivatives(const torch::Tensor& losses);

}  // namespace sotto::deep::rows
