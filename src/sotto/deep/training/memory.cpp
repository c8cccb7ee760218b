#include "sotto/deep/training/detail/memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

#include "sotto/core/error.hpp"

#pragma GCC diagnostic ignored "-Wsuggest-override"
#pragma GCC diagnostic ignored "-Wsuggest-attribute=noreturn"

namespace sotto::deep {
namespace {

// LibTorch tells every allocation of tensors to the object of this kind that is current on the
// thread.
class Meter final : public c10::MemoryReportingInfoBase {
 public:
  // The types of the totals changed between versions of LibTorch; one of the two overrides.
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device) {
    note(bytes);
  }
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) {
    note(bytes);
  }
  bool memoryProfilingEnabled() const { return true; }
  std::size_t peak() const { return static_cast<std::size_t>(peak_.load()); }

 private:
  void note(std::int64_t bytes) {
    const std::int64_t now = used_ += bytes;
    if (now > peak_) peak_ = now;
  }
  std::atomic<std::int64_t> used_{0}, peak_{0};
};

}  // namespace

std::size_t peak_memory(const std::function<void()>& work) {
  const auto meter = std::make_shared<Meter>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
  work();
  return meter->peak();
}

std::int64_t records_in_memory(std::size_t cap, std::int64_t most,
                               const std::function<void(std::int64_t)>& step, std::size_t rest) {
  constexpr std::int64_t kFew = 2, kMore = 16;
  step(1);  // what is allocated once
  const auto few = static_cast<double>(peak_memory([&] { step(kFew); }));
  const auto more = static_cast<double>(peak_memory([&] { step(kMore); }));
  const double each = std::max((more - few) / static_cast<double>(kMore - kFew), 1.0);
  const double fixed = std::max(few - kFew * each, 0.0) + static_cast<double>(rest);
  const double room = (static_cast<double>(cap) - fixed) / each;
  if (room < 1)
    throw InvalidArgument(fmt::format("one record needs {:.1f} MB of memory, the cap is {:.1f} MB",
                                      (fixed + each) / 1e6, static_cast<double>(cap) / 1e6),
                          "allow more memory, or use a smaller model");
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::min(room, static_cast<double>(most))));
}

std::size_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const char* const units = "KMGT";
  bool good = end != text.c_str() && value > 0 && std::isfinite(value);
  if (good && !unit.empty()) {
    const char* const at = std::find(units, units + 4, unit[0]);
    good = at != units + 4 && (unit.size() == 1 || unit.substr(1) == "B" || unit.substr(1) == "iB");
    value *= std::pow(1024.0, static_cast<double>(at - units) + 1);
  }
  if (!good || value >= 9e18)
    throw InvalidArgument(fmt::format("'{}' is not an amount of memory", text),
                          "write for example 512M or 2G");
  return static_cast<std::size_t>(value);
}

}  // namespace sotto::deep
