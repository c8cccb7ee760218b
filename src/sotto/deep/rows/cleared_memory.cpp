#include "sotto/deep/rows/detail/cleared_memory.hpp"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <mutex>

namespace sotto::deep::rows {
namespace {

class Clearing final : public c10::Allocator {
 public:
  explicit Clearing(c10::Allocator& below) : below_(below) {}
  c10::DataPtr allocate(std::size_t bytes) const override {
    c10::DataPtr data = below_.allocate(bytes);
    if (ClearedMemory::wanted() && bytes > 0) std::memset(data.get(), 0, bytes);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override { return below_.raw_deleter(); }

 private:
  c10::Allocator& below_;
};

}  // namespace

void ClearedMemory::install() {
  static std::mutex mutex;
  static const c10::Allocator* installed = nullptr;
  const std::lock_guard lock(mutex);
  c10::Allocator* const now = c10::GetCPUAllocator();
  if (now == installed) return;
  auto* const clearing = new Clearing(*now);  // for as long as there are tensors
  installed = clearing;
  c10::SetCPUAllocator(clearing, 255);
}

}  // namespace sotto::deep::rows
