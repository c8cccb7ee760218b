// Every operation of a watched pass comes by here, before the interception of layers and before
// autograd.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/library.h>

#include <optional>

#include "sotto/deep/rows/detail/call.hpp"
#include "sotto/deep/rows/detail/cleared_memory.hpp"
#include "sotto/deep/rows/detail/rules.hpp"
#include "sotto/deep/rows/detail/transcript.hpp"
#include "sotto/deep/rows/own_time.hpp"

namespace sotto::deep::rows {
namespace {

using Kind = Operation::Kind;
using Unwatched = c10::impl::ExcludeDispatchKeyGuard;

constexpr c10::DispatchKeySet kBelow(c10::DispatchKeySet::FULL_AFTER, kWatchKey);

bool contains(const c10::SmallVector<int, 2>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int>(value)) != list.end();
}

class Dispatched {
 public:
  Dispatched(Pass& pass, const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
             c10::Stack& stack)
      : pass_(pass),
        handle_(handle),
        keys_(keys & kBelow),
        stack_(stack),
        operation_(operation_of(handle)),
        first_(stack.size() - operation_.arguments),
        call_{pass, handle, operation_, stack.data() + first_} {}

  void run() {
    pass_.enter(&operation_.name);
    if (operation_.kind == Kind::metadata) return through();
    require_no_tangents();
    if (!read_operands()) return publicly();
    switch (operation_.kind) {
      case Kind::ruled: return by_rule();
      case Kind::composite: return by_parts();
      case Kind::view: return as_view();
      case Kind::equal: return from_geometry();
      default: without_rule();
    }
  }

 private:
  // Beside every tensor an operation may compute a tangent, of records where the tensor is public.
  void require_no_tangents() {
    if (torch::autograd::ForwardADLevel::try_get_by_idx(0) != nullptr)
      pass_.refuse("forward-mode derivatives carry values beside those that are followed",
                   "leave derivatives to the backward pass");
  }

  // Whether there are records among the operands.
  bool read_operands() {
    bool records = false;
    for (std::size_t i = 0; i < operation_.arguments; ++i) {
      const bool output = contains(operation_.outputs, i),
                 written = contains(operation_.written, i);
      for_tensors(call_.arguments[i], [&](const at::Tensor& tensor, int item) {
        if (written) written_.push_back(tensor);
        const Axis axis = pass_.axis(tensor);
        if (output) return;
        call_.operands.push_back({static_cast<int>(i), item, &tensor, axis});
        records |= axis.holds_records();
      });
    }
    return records;
  }

  [[noreturn]] void without_rule() {
    const auto [why, hint] = reason_without_rule(operation_.base);
    pass_.refuse(why, hint);
  }

  void through() {
    const OwnTime::Part others(false);
    handle_.redispatchBoxed(keys_, &stack_);
  }
  // As a whole. Nothing inside of it is intercepted: rows of a public table would be taken for
  // records there, and be mixed by what follows in it unseen.
  void unwatched() {
    const Unwatched guard(kWatchKey);
    std::optional<Unwatched> plain;
    if (!operation_.intercepted) plain.emplace(kInterceptKey);
    through();
  }
  template <class Visit>
  void for_results(Visit&& visit) {
    for (std::size_t i = first_; i < stack_.size(); ++i)
      for_tensors(stack_[i], [&](const at::Tensor& t, int) { visit(t); });
  }

  // Public operands give public results, in memory that is new and clear or theirs. An operation
  // of somebody's own is followed inside, and may return what came by there only.
  void publicly() {
    if (operation_.never) without_rule();
    if (pass_.transcript() != nullptr) pass_.transcript()->expect(call_);
    const ClearedMemory cleared;
    if (operation_.libtorch) {
      unwatched();
      for_results([&](const at::Tensor& t) { pass_.place(t, kPublic); });
    } else {
      through();
      for_results([&](const at::Tensor& t) { pass_.axis(t); });
    }
    tell();
  }

  void by_rule() {
    if (pass_.records() > 1) {
      operation_.rule(call_);
    } else {
      call_.results = {Axis{0, 1, 1}};  // of one record, everything is its own
    }
    const bool geometric = call_.results.empty();
    if (Locks* const locks = pass_.locks(); locks != nullptr)
      for (const Operand& o : call_.operands)
        if (o.axis.holds_records()) locks->open(*o.tensor);
    if (pass_.transcript() != nullptr) pass_.transcript()->expect(call_);
    attempt([&] {
      std::optional<ClearedMemory> cleared;
      if (operation_.uninitialized) cleared.emplace();
      unwatched();
    });
    if (geometric) return require_whole();
    std::size_t k = 0;
    const auto result = [&](std::size_t i) {
      return call_.results[std::min(i, call_.results.size() - 1)];
    };
    for_results([&](const at::Tensor& t) { pass_.place(t, result(k++)); });
    for (const at::Tensor& t : written_) pass_.place(t, result(0));
    tell();
    if (Locks* const locks = pass_.locks(); locks != nullptr) {
      for_results([&](const at::Tensor& t) { locks->note(t); });
      for (const at::Tensor& t : written_) locks->note(t);
      locks->close();
    }
  }

  // Only what leaves records somewhere is told: a private layer does so with public inputs too.
  void tell() {
    if (pass_.transcript() == nullptr) return;
    std::vector<at::Tensor> left(written_.begin(), written_.end());
    for_results([&](const at::Tensor& t) { left.push_back(t); });
    const auto holds = [&](const at::Tensor& t) { return pass_.axis(t).holds_records(); };
    if (std::any_of(left.begin(), left.end(), holds)) pass_.transcript()->confirm(pass_, left);
  }

  void by_parts() {
    attempt([&] { through(); });
  }

  void as_view() {
    attempt([&] { unwatched(); });
    require_whole();
  }

  void require_whole() {
    for_results([&](const at::Tensor& t) { pass_.axis(t); });
  }

  // MultiheadAttention asks whether query and key are the same, to save a product: here the same
  // means the same memory, without a look at values.
  void from_geometry() {
    const at::Tensor &a = call_.tensor(0), &b = call_.tensor(1);
    const bool same = a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl() &&
                      a.sizes() == b.sizes() && a.strides() == b.strides() &&
                      a.storage_offset() == b.storage_offset() && a.dtype() == b.dtype();
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first_), stack_.end());
    stack_.emplace_back(same);
  }

  template <class Work>
  void attempt(Work&& work) {
    try {
      work();
    } catch (const NotRowWise&) {
      throw;
    } catch (const std::exception&) {
      pass_.enter(&operation_.name);
      pass_.fail("failed on this batch");
      throw;
    }
  }

  Pass& pass_;
  const c10::OperatorHandle& handle_;
  c10::DispatchKeySet keys_;
  c10::Stack& stack_;
  const Operation& operation_;
  std::size_t first_;
  Call call_;
  c10::SmallVector<at::Tensor, 2> written_;  // arguments are consumed by the call
};

void watch(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, c10::Stack* stack) {
  Pass* const pass = Pass::current();
  if (pass == nullptr) return handle.redispatchBoxed(keys & kBelow, stack);
  const OwnTime::Part own(true);
  Dispatched(*pass, handle, keys, *stack).run();
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&watch>());
}

}  // namespace

void register_dispatch() {}

}  // namespace sotto::deep::rows
