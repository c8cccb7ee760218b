// Transcript: what a pass did with records, told without the number of rows.
//
// What       Passes over made-up batches of several sizes write transcripts. When these agree, no
//            operation was given a number, a public value or a part of a record that differed with
//            the size of the batch or from row to row.
// Guarantee  For the sizes that were tried: loss b is one function of record b, the same for all b
//            and all sizes. That the program treats other sizes like these is an assumption, which
//            certificates state.
// Method     Views and public operations leave no line: what counts is what arrives at an operation
//            on records. There every number must be the same; a tensor of records must be the same
//            part of the same memory, sizes without the batch; a public tensor must have the same
//            values, and where its length differs it must be constant along that axis.
//            docs/math/row-by-row.md, "The number of rows".
#pragma once

#include <functional>
#include <vector>

#include "sotto/deep/rows/detail/call.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep::rows {

class Transcript {
 public:
  // Before an operation runs: arguments are gone afterwards.
  void expect(Call& call);
  // After it ran, and left records in its results or in what it wrote.
  template <class Results>
  void confirm(Pass& pass, const Results& results) {
    for (const at::Tensor& t : results) next_.results.push_back(seen(pass, t));
    lines_.push_back(std::move(next_));
    next_ = {};
  }
  // Something that cannot be told without the number of rows.
  void size_matters() { size_matters_ = true; }

  bool agrees_with(const Transcript& other) const;

 private:
  // A tensor, as a part of the memory of one record; or a public one.
  struct Seen {
    int argument = -1, item = -1;  // of an operand
    std::size_t memory = 0;
    bool records = false;
    Axis axis;
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> sizes, strides;  // see seen()
    at::Tensor values;                         // public; of a large table, sums of them
  };
  struct Line {
    const Operation* operation = nullptr;
    std::vector<c10::IValue> numbers;  // arguments that are no tensors
    std::vector<Seen> operands, results;
  };
  static Seen seen(Pass& pass, const at::Tensor& tensor);
  static bool agree(const Seen& a, const Seen& b);
  static bool agree(const std::vector<Seen>& a, const std::vector<Seen>& b);

  std::vector<Line> lines_;
  Line next_;
  bool size_matters_ = false;
};

// Whether passes over these batches, which differ in their number of records (at least 2), agree.
// Throws NotRowWise.
bool same_for_any_size(const PublicTensors& known, const std::vector<RecordTensors>& batches,
                       const std::function<torch::Tensor(const RecordTensors&)>& losses);

}  // namespace sotto::deep::rows
