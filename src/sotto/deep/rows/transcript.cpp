#include "sotto/deep/rows/detail/transcript.hpp"

namespace sotto::deep::rows {
namespace {

// Same values; where lengths differ, the tensors are constant along that axis.
bool same_values(at::Tensor a, at::Tensor b) {
  if (a.dim() != b.dim() || a.scalar_type() != b.scalar_type()) return false;
  if (a.numel() == 0 || b.numel() == 0) return a.numel() == b.numel();
  for (std::int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) == b.size(d)) continue;
    for (at::Tensor* t : {&a, &b}) {
      const auto first = t->narrow(d, 0, 1);
      if (!t->equal(first.expand_as(*t))) return false;
      *t = first;
    }
  }
  return a.equal(b);
}

}  // namespace

// Records: byte e of memory belongs to record (e / run) mod B, so a stride moves within a record or
// by whole batches; both are told in numbers without B.
Transcript::Seen Transcript::seen(Pass& pass, const at::Tensor& t) {
  const c10::impl::ExcludeDispatchKeyGuard unwatched(kWatchKey);
  const torch::NoGradGuard no_grad;
  Seen s;
  s.memory = pass.memory().index_of(t.storage().unsafeGetStorageImpl());
  s.axis = pass.axis(t);
  s.type = t.scalar_type();
  s.records = s.axis.holds_records();
  if (!s.records) {
    constexpr std::int64_t kMany = 1 << 22;
    const at::Tensor values = t.detach();
    if (values.numel() <= kMany) {
      s.values = values.clone();
    } else {
      s.sizes = t.sizes().vec();
      s.strides = t.strides().vec();
      const at::Tensor places = torch::linspace(1, 2, values.numel(), torch::kDouble);
      s.values = torch::stack({values.sum(torch::kDouble), values.reshape({-1}).mul(places).sum()});
    }
    return s;
  }
  const Layout layout = pass.memory().find(t.storage().unsafeGetStorageImpl())->layout;
  const std::int64_t item = static_cast<std::int64_t>(t.itemsize()),
                     batch = layout.run * pass.records(),
                     start = t.storage_offset() * item - layout.begin;
  s.sizes = t.sizes().vec();
  s.sizes[static_cast<std::size_t>(s.axis.dim)] = s.axis.outer * s.axis.inner;
  s.strides = {layout.run, start / batch, start % layout.run};
  for (std::int64_t d = 0; d < t.dim(); ++d) {
    const std::int64_t stride = t.size(d) == 1 ? 0 : t.stride(d) * item;
    const bool whole = d != s.axis.dim && stride % batch == 0;
    s.strides.insert(s.strides.end(), {whole, whole ? stride / batch : stride});
  }
  return s;
}

void Transcript::expect(Call& call) {
  next_ = {};
  next_.operation = &call.operation;
  for (std::size_t i = 0; i < call.operation.arguments; ++i) {
    const c10::IValue& v = call.arguments[i];
    bool tensors = false;
    for_tensors(v, [&](const at::Tensor&, int) { tensors = true; });
    next_.numbers.push_back(tensors ? c10::IValue() : v);
  }
  for (const Operand& o : call.operands) {
    next_.operands.push_back(seen(call.pass, *o.tensor));
    next_.operands.back().argument = o.argument;
    next_.operands.back().item = o.item;
  }
  // Row b of the result takes row b of a public table that may be longer than the batch.
  if (call.operation.base == "gather" && !call.axis(0).holds_records()) size_matters();
}

bool Transcript::agree(const Seen& a, const Seen& b) {
  if (a.argument != b.argument || a.item != b.item || a.records != b.records || a.type != b.type ||
      a.sizes != b.sizes || a.strides != b.strides)
    return false;
  return a.records ? a.memory == b.memory && a.axis == b.axis : same_values(a.values, b.values);
}

bool Transcript::agree(const std::vector<Seen>& a, const std::vector<Seen>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!agree(a[i], b[i])) return false;
  return true;
}

bool Transcript::agrees_with(const Transcript& other) const {
  if (size_matters_ || other.size_matters_ || lines_.size() != other.lines_.size()) return false;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    const Line &a = lines_[k], &b = other.lines_[k];
    if (a.operation != b.operation || a.numbers.size() != b.numbers.size()) return false;
    for (std::size_t i = 0; i < a.numbers.size(); ++i)
      if (a.numbers[i].tagKind() != b.numbers[i].tagKind() || a.numbers[i] != b.numbers[i])
        return false;
    if (!agree(a.operands, b.operands) || !agree(a.results, b.results)) return false;
  }
  return true;
}

bool same_for_any_size(const PublicTensors& known, const std::vector<RecordTensors>& batches,
                       const std::function<torch::Tensor(const RecordTensors&)>& losses) {
  std::vector<Transcript> transcripts(batches.size());
  for (std::size_t k = 0; k < batches.size(); ++k) {
    Pass pass(known, batches[k]);
    pass.write_to(&transcripts[k]);
    torch::Tensor result;
    {
      const Pass::Watch watch(pass);
      result = losses(batches[k]);
    }
    pass.finish(result);
    if (!transcripts[k].agrees_with(transcripts.front())) return false;
  }
  return true;
}

}  // namespace sotto::deep::rows
