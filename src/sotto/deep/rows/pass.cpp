#include "sotto/deep/rows/pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sotto/deep/rows/detail/call.hpp"
#include "sotto/deep/rows/detail/cleared_memory.hpp"
#include "sotto/deep/rows/own_time.hpp"

namespace sotto::deep::rows {
namespace {

thread_local Pass* current_pass = nullptr;

Geometry geometry(const torch::Tensor& t) {
  return {{t.sizes().data(), t.sizes().size()},
          {t.strides().data(), t.strides().size()},
          t.storage_offset(),
          static_cast<std::int64_t>(t.itemsize())};
}

std::string shape(const torch::Tensor& t) {
  return fmt::format("({})", fmt::join(t.sizes().vec(), ", "));
}

constexpr const char* kUnknown =
    "make tensors inside of the forward pass or register them as buffers before training; give "
    "records by the batch; say of a constant that it is public with declare_public()";
constexpr const char* kWhole =
    "keep every record of the batch, in its place: slice, select, flip and view other axes only, "
    "and fold other axes into the batch axis or out of it, never part of it";
constexpr const char* kApart =
    "a record must be processed as if it were alone; use other operations here, or train with "
    "micro-batches (ClippedSum::add_by_micro_batches)";

}  // namespace

PublicTensors::PublicTensors(const torch::nn::Module& model) {
  for (const auto& p : model.named_parameters()) known_.push_back({p.key(), p.value()});
  for (const auto& b : model.named_buffers()) known_.push_back({b.key(), b.value()});
}

Pass::Watch::Watch(Pass& pass) : outer_(current_pass), include_(kWatchKey) {
  register_dispatch();
  current_pass = &pass;
}
Pass::Watch::~Watch() { current_pass = outer_; }
Pass* Pass::current() { return current_pass; }
bool Pass::watching() {
  return current_pass != nullptr && c10::impl::tls_is_dispatch_key_included(kWatchKey) &&
         !c10::impl::tls_is_dispatch_key_excluded(kWatchKey);
}

Pass::Pass(const PublicTensors& known, const RecordTensors& batch)
    : records_(batch.empty() ? 0 : batch.front().records()), known_(known) {
  const OwnTime::Part own(true);
  ClearedMemory::install();
  for (const auto& k : known.all()) {
    if (!k.tensor.defined() || !k.tensor.has_storage()) continue;
    if (memory_.find(k.tensor.storage().unsafeGetStorageImpl()) != nullptr) continue;
    Memory& m = memory_.add(k.tensor.storage());
    m.fixed = true;
    m.name = k.name.empty() ? nullptr : &k.name;
  }
  for (const auto& [tensor, axis] : batch) {
    const Geometry g = geometry(tensor);
    const Axis wanted{static_cast<int>(axis), 1, 1};
    Memory* m = memory_.find(tensor.storage().unsafeGetStorageImpl());
    if (m != nullptr && m->fixed)
      refuse("a parameter, buffer or declared constant is given as records");
    if (tensor.size(axis) != records_)
      refuse(fmt::format("the tensors of a batch have {} and {} records", records_,
                         tensor.size(axis)));
    const auto layout = layout_of({g.sizes, g.strides, 0, g.item}, wanted, records_);
    if (!layout)
      refuse(fmt::format("the records {} do not lie apart in memory", shape(tensor)),
             "call contiguous() on the batch");
    // A batch may be a part of a larger table: what lies around it belongs to other records.
    const auto [first, last] = extent(g);
    const std::int64_t begin = first / layout->run * layout->run,
                       end = (last + layout->run - 1) / layout->run * layout->run;
    const bool fresh = m == nullptr;
    if (fresh) m = &memory_.add(tensor.storage());
    m->layout = {layout->run, fresh ? begin : std::min(begin, m->layout.begin),
                 fresh ? end : std::max(end, m->layout.end)};
    if (find_axis(g, m->layout, records_) != wanted)
      refuse(fmt::format("the records {} do not lie apart in memory", shape(tensor)),
             "call contiguous() on the batch");
  }
}

std::string Pass::where() const {
  if (layer_ == nullptr) return {};
  const std::size_t dot = layer_->rfind('.');
  const std::string layer = dot == std::string::npos ? std::string() : layer_->substr(0, dot);
  if (here_)
    return layer.empty() ? fmt::format(" (with {})", *layer_)
                         : fmt::format(" (in layer {})", layer);
  return layer.empty() ? fmt::format(" (after the use of {})", *layer_)
                       : fmt::format(" (after layer {})", layer);
}

void Pass::refuse(const std::string& why, const std::string& hint) {
  const std::string what = operation_ == nullptr ? std::string("not row by row") : *operation_;
  const std::string message = fmt::format("{}{}: {}", what, where(), why);
  const std::string advice = hint.empty() ? kApart : hint;
  if (refused_.empty()) {
    refused_ = message;
    hint_ = advice;
  }
  throw NotRowWise(message, advice);
}

void Pass::fail(const std::string& what) {
  if (!refused_.empty()) return;
  refused_ =
      fmt::format("{}{}: {}", operation_ == nullptr ? "an operation" : *operation_, where(), what);
  hint_ = "whether an operation fails may depend on records, so a model must not go on from there";
}

Axis Pass::axis(const torch::Tensor& tensor) {
  if (!tensor.has_storage())
    refuse("a tensor without ordinary memory (sparse, quantized or opaque)", "use dense tensors");
  const Memory* m = memory_.find(tensor.storage().unsafeGetStorageImpl());
  if (m == nullptr)
    refuse(fmt::format("a tensor {} of unknown origin (made outside of the forward pass, on "
                       "another thread, or kept from an earlier one)",
                       shape(tensor)),
           kUnknown);
  if (m->name != nullptr) {
    layer_ = m->name;
    here_ = true;
  }
  if (m->layout.run == 0) return kPublic;
  const auto axis = find_axis(geometry(tensor), m->layout, records_);
  if (!axis)
    refuse(fmt::format("a view {} that does not keep the records whole and in their places",
                       shape(tensor)),
           kWhole);
  return *axis;
}

void Pass::place(const torch::Tensor& tensor, const Axis& axis) {
  if (!tensor.has_storage()) return;  // refused when it is used
  Memory* m = memory_.find(tensor.storage().unsafeGetStorageImpl());
  if (m == nullptr) m = &memory_.add(tensor.storage());
  if (!axis.holds_records() || tensor.numel() == 0) return;  // public values over records: harmless
  if (m->fixed)
    refuse("writes records into a parameter, buffer or declared constant",
           "keep results of the forward pass in tensors that it makes itself");
  if (m->layout.run != 0) {
    if (records_ == 1 || find_axis(geometry(tensor), m->layout, records_) == axis) return;
    refuse("records would lie otherwise than before in the same memory", kWhole);
  }
  const auto layout = layout_of(geometry(tensor), axis, records_);
  if (!layout)
    refuse(fmt::format("the records of the result {} do not lie apart in memory", shape(tensor)),
           kWhole);
  m->layout = *layout;
}

void Pass::finish(const torch::Tensor& losses) {
  const OwnTime::Part own(true);
  if (!refused_.empty()) throw NotRowWise(refused_, hint_);
  enter(nullptr);
  if (axis(losses) != Axis{0, 1, 1} || losses.dim() != 1 || losses.size(0) != records_)
    refuse(fmt::format("the losses {} are not one for each of the {} records", shape(losses),
                       records_),
           "use the losses of sotto/deep/losses.hpp, or reduction none and a mean over all axes "
           "but the first");
  for (const auto& k : known_.all()) {
    if (!k.tensor.defined() || !k.tensor.has_storage()) continue;
    const Memory* m = memory_.find(k.tensor.storage().unsafeGetStorageImpl());
    if (m == nullptr || m->layout.run != 0)
      refuse(fmt::format("{} was given other memory in the forward pass",
                         k.name.empty() ? "a declared constant" : k.name),
             "leave parameters, buffers and constants where they are");
  }
  require_own_derivatives(losses);
}

}  // namespace sotto::deep::rows
