// What the trainer tries on made-up records before it reads private ones.
#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/probe.hpp"
#include "sotto/deep/rows/not_row_wise.hpp"
#include "sotto/deep/training/alike_sizes.hpp"
#include "sotto/deep/training/detail/memory.hpp"
#include "sotto/deep/training/detail/records_in.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {
namespace {

constexpr std::int64_t kMostAtOnce =
    512;  // more records at once are not faster: activations leave the cache

// Made-up records depend on no private value, so what LibTorch says of them is passed on.
Unsupported fails_on_made_up_records(const c10::Error& e) {
  std::string said = e.what_without_backtrace();
  said = said.substr(0, said.find('\n'));
  if (said.find("INTERNAL ASSERT") != std::string::npos)  // a line of LibTorch's source, no reason
    said = "LibTorch has no derivative for something that it does";
  return Unsupported(
      fmt::format("the model fails on made-up records of this shape: {}", said),
      "run it once on random numbers of this shape to see where; what writes into the output of "
      "a layer (x.select(1, 0) += y) must make a new tensor instead (x = x + y)");
}

}  // namespace

void Trainer::prepare(const RecordSource& like) {
  if (prepared_) return;
  if (plan_ && !options_.micro_batches) require_private(model_);
  remember_untrained();
  train_mode(model_);  // as in a step
  try {
    if (physical_ == 0 && options_.micro_batches) physical_ = kMostAtOnce;
    if (physical_ == 0) find_physical_batch(like);
    if (plan_) check_model(like);
  } catch (const c10::Error& e) {
    restore_untrained();
    throw fails_on_made_up_records(e);
  } catch (...) {
    restore_untrained();
    throw;
  }
  restore_untrained();
  prepared_ = true;
}

std::string Trainer::row_by_row() const {
  if (options_.micro_batches)
    return "one record at a time; that the model keeps nothing of a record for the next: rehearsed";
  std::string words = "row by row: proved for the operations of every step; raw memory: rehearsed";
  if (used_.rehearsed > 0)
    words += fmt::format("; no use of the number of rows: rehearsed with 2, 3 and {} rows",
                         used_.rehearsed);
  return words;
}

// A model that remembers a record elsewhere than in buffers would couple it with the next: the same
// record before and after another.
void Trainer::check_records_alone(const Batch& b) {
  const auto alone = [&](std::int64_t i) {
    std::vector<bool> empty(static_cast<std::size_t>(b.inputs.size(0)), true);
    empty[static_cast<std::size_t>(i)] = false;
    clipped_.clear();
    const auto losses = add_one_by_one(b, empty);
    return std::pair(losses, clipped_.flat().clone());
  };
  without_dropout(model_, [&] {
    const auto before = alone(0);
    alone(1);
    const auto after = alone(0);
    if (!torch::equal(before.first, after.first) || !torch::equal(before.second, after.second))
      throw NotRowWise("the model remembers a record while it computes the next one",
                       "keep nothing between records outside of registered buffers");
  });
  clipped_.clear();
}

// On made-up records: batch-coupled modules and parameters without per-sample gradient are refused
// before private data is used.
void Trainer::check_model(const RecordSource& records) {
  // Records that are alike would hide what couples them, so the first two differ in everything.
  const auto made_up = [&](std::int64_t count) {
    const Batch b = records.zeros(count);
    for (torch::Tensor t : b.tensors()) {
      if (t.is_floating_point()) {
        t.uniform_(0, 1);
      } else if (t.scalar_type() == torch::kBool) {  // a mask of nothing but yes is no mask
        const auto place = torch::arange(t.numel() / count), record = torch::arange(count);
        t.copy_(((place + record.unsqueeze(1)) % 3 == 0).reshape(t.sizes()));
      } else {
        t.random_(0, 2);
        t[0].fill_(0);
        if (count > 1) t[1].fill_(1);
      }
    }
    return b;
  };
  const Batch few = made_up(3);
  if (options_.micro_batches) {
    check_records_alone(few);
    proved_ =
        proved_ && exact() &&
        clipped_.rounding_is_bounded(static_cast<double>(seats_for(sampler_.expected_batch())));
    return;
  }
  const auto losses = [&](const std::vector<torch::Tensor>& b) { return objective_(Batch::of(b)); };
  clipped_.rehearse(records_in(few), losses);
  probe(model_, few.tensors(), losses, {}, options_.constants);
  if (sizes_are_private()) plan_sizes(made_up);
  if (!exact()) return;
  const Batch whole = made_up(!row_sizes_.empty()   ? row_sizes_.back()
                              : sizes_are_private() ? seat_plan_.rows
                                                    : physical_);
  // Found on made-up records alone, and never again: the certificate says it.
  clipped_.clear();
  clipped_.add(records_in(whole), [&] { return objective_(whole); });
  clipped_.clear();
  proved_ =
      proved_ &&
      clipped_.rounding_is_bounded(static_cast<double>(seats_for(sampler_.expected_batch()))) &&
      rows_are_apart(model_, whole.tensors(), losses, clipped_.clipper().options(),
                     options_.constants);
}

// Batches of any size need no empty rows, for models that make nothing of the number of rows. With
// exact noise, in which a record must not change a bit of another's gradient, of any size in which
// rows are computed alike. Else all batches have one size.
template <class MadeUp>
void Trainer::plan_sizes(MadeUp&& made_up) {
  seat_plan_ = plan_seats(sampler_.expected_batch(), physical_);
  std::vector<rows::RecordTensors> batches;
  for (const std::int64_t rows : {std::int64_t{2}, std::int64_t{3}, seat_plan_.rows}) {
    batches.push_back(records_in(made_up(rows)));
  }
  const auto losses = [&](const std::vector<torch::Tensor>& b) { return objective_(Batch::of(b)); };
  any_size_ = clipped_.same_for_any_size(batches, losses);
  if (!any_size_) return;
  if (exact()) {
    const auto candidates = size_candidates(sampler_.expected_batch(), physical_);
    if (!candidates.empty()) {
      const Batch largest = made_up(candidates.back());
      row_sizes_ = alike_sizes(model_, largest.tensors(), losses, clipped_.clipper().options(),
                               candidates, options_.constants);
    }
    any_size_ = !row_sizes_.empty();
  }
  if (!any_size_) return;
  clipped_.set_rows(exact() ? row_sizes_.back() : seat_plan_.rows);
  used_.rehearsed = std::max(used_.rehearsed, seat_plan_.rows);
  if (row_sizes_.empty()) return;
  used_.most = std::max(used_.most, row_sizes_.back());
  used_.least = used_.least == 0 ? row_sizes_.front() : std::min(used_.least, row_sizes_.front());
}

void Trainer::find_physical_batch(const RecordSource& records) {
  // The sum over several physical batches in double, and beside it, later, its noisy copy: whatever
  // the batch.
  constexpr std::size_t kBytesForEach = 2 * sizeof(double) + sizeof(float);
  const std::size_t rest = kBytesForEach * static_cast<std::size_t>(clipped_.flat().numel());
  const auto step = [&](std::int64_t count) {
    const Batch b = records.zeros(count);
    clipped_.clear();
    clipped_.add(records_in(b), [&] { return objective_(b); });
  };
  physical_ = records_in_memory(options_.memory, kMostAtOnce, step, rest);
  clipped_.clear();
}

}  // namespace sotto::deep
