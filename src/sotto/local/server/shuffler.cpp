#include "sotto/local/server/shuffler.hpp"

#include <algorithm>

#include "sotto/noise/uniform.hpp"

namespace sotto::local {

void Shuffler::take(const Record& record) {
  if (!check_.take(record)) return;
  size_ = record.report.size();
  payloads_.append(reinterpret_cast<const char*>(record.report.data()), size_);
}

void Shuffler::write(Rng& rng, const std::function<void(std::string_view)>& sink) {
  constexpr std::size_t kBlock = 1 << 16;
  const std::uint64_t n = reports();
  char* const start = payloads_.data();
  for (std::uint64_t i = n; i > 1; --i) {
    const std::uint64_t j = uniform_below(rng, i);
    if (j != i - 1)
      std::swap_ranges(start + j * size_, start + (j + 1) * size_, start + (i - 1) * size_);
  }
  std::string out;
  append_header(out, declaration());
  const std::uint32_t tag = tag_of(declaration());
  for (std::uint64_t i = 0; i < n; ++i) {
    const Bytes report(reinterpret_cast<const std::uint8_t*>(start) + i * size_, size_);
    append_record(out, {.tag = tag, .client = {}, .epoch = {}, .report = report});
    if (out.size() > kBlock) {
      sink(out);
      out.clear();
    }
  }
  sink(out);
}

}  // namespace sotto::local
