// Any bytes as a file of reports, as an accumulator, as RAPPOR's files: they are counted, refused,
// or an error of the input; what was read is written and read back the same.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/local/server/accumulator.hpp"
#include "sotto/local/server/rappor_files.hpp"
#include "sotto/local/server/report_stream.hpp"

namespace {

using namespace sotto;
using namespace sotto::local;

constexpr std::size_t kMostCellsHere = 1 << 16;

std::string file_of(Accumulator& a) {
  std::string file;
  a.write([&](std::string_view b) { file += b; });
  return file;
}

Accumulator from_file(std::string_view file) {
  return Accumulator::read([&](std::span<char> out) {
    const std::size_t n = std::min(out.size(), file.size());
    std::copy_n(file.data(), n, out.data());
    file.remove_prefix(n);
    return n;
  });
}

// Declarations of large protocols are right, but each input would take long.
bool small(const Declaration& d) {
  double cells = static_cast<double>(std::max<std::uint64_t>(1, d.domain));
  for (const auto& [name, value] : d.parameters)
    if (name != "epochs" && name != "lower" && name != "upper") cells *= std::max(1.0, value);
  return cells < kMostCellsHere;
}

void check_reports(std::string_view bytes, std::size_t piece) {
  std::optional<Accumulator> a;
  std::uint64_t records = 0, unreadable = 0;
  bool skip = false;
  ReportStream stream({.declaration =
                           [&](const Declaration& d) {
                             skip = !small(d);
                             if (!skip) a.emplace(d);
                           },
                       .record =
                           [&](const Record& r) {
                             if (skip) return;
                             ++records;
                             a->take(r);
                           },
                       .unreadable = [&] { ++unreadable; }});
  for (std::size_t at = 0; at < bytes.size(); at += piece) stream.feed(bytes.substr(at, piece));
  if (!stream.given_up()) stream.finish();
  if (!a) return;
  require(a->reports() + a->refused() == records, "every record is counted or refused");
  const std::string file = file_of(*a);
  Accumulator back = from_file(file);
  require(file_of(back) == file, "an accumulator survives its file");
}

template <class F>
void tolerate(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 14) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tolerate([&] { check_reports(bytes, 1 << 14); });
  tolerate([&] { check_reports(bytes, 3); });
  tolerate([&] {
    // Sizes come before cells in the file: a large protocol needs a large file.
    const ParsedHeader header = parse_header(bytes, kAccumulatorMagic);
    if (header.outcome != Parsed::whole || !small(declaration_from_text(header.declaration)))
      return;
    Accumulator a = from_file(bytes);
    Accumulator b = from_file(file_of(a));
    require(file_of(a) == file_of(b), "an accumulator survives its file");
  });
  const std::string text(bytes);
  tolerate([&] { require(params_csv(parse_params_csv(text)).size() > 12, "parameters"); });
  const RapporParameters r{.bits = 4, .hashes = 1, .cohorts = 2, .f = 0.5, .p = 0.25, .q = 0.75};
  tolerate([&] {
    const auto cells = parse_counts_csv(text, r);
    require(parse_counts_csv(counts_csv(cells, r), r) == cells, "counts survive their file");
  });
  tolerate([&] { (void)parse_map_csv(text, r); });
  return 0;
}
