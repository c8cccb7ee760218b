// Local privacy at scale: making and collecting a million reports, estimating from them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <functional>
#include <optional>

#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/record.hpp"
#include "sotto/local/server/accumulator.hpp"
#include "sotto/local/server/report_stream.hpp"
#include "sotto/local/server/words.hpp"

namespace {

using namespace sotto;
using namespace sotto::local;

constexpr std::uint64_t kReports = 1'000'000;

// Of the processor: other programs do not disturb it.
double seconds(const std::function<void()>& f) {
  const std::clock_t start = std::clock();
  f();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Declaration declared(const std::string& protocol, double epsilon, std::uint64_t k,
                     const OptionValues::Raw& options = {}) {
  return declare({.protocol = protocol, .epsilon = epsilon, .domain = k},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

// As `sotto local report` makes them, on one thread.
std::string reports(const Declaration& d, std::uint64_t n) {
  const auto r = make_randomizer(d);
  Rng rng;
  std::vector<std::uint8_t> report(r->report_bytes());
  std::string out;
  append_header(out, d);
  const std::uint32_t tag = tag_of(d);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::string word = d.domain == 0 ? fmt::format("w{}", i % 1000) : "";
    if (d.domain == 0) {
      r->answer(std::string_view(word), nullptr, rng, report);
    } else {
      r->answer(i % d.domain, nullptr, rng, report);
    }
    append_record(out, {.tag = tag, .client = {}, .epoch = {}, .report = report});
  }
  return out;
}

Accumulator collected(const std::string& bytes) {
  std::optional<Accumulator> a;
  ReportStream stream({.declaration = [&](const Declaration& d) { a.emplace(d); },
                       .record = [&](const Record& r) { a->take(r); },
                       .unreadable = [] { std::abort(); }});
  for (std::size_t at = 0; at < bytes.size(); at += 1 << 18)
    stream.feed(std::string_view(bytes).substr(at, 1 << 18));
  stream.finish();
  return std::move(*a);
}

void run(const std::string& what, const Declaration& d) {
  std::string bytes;
  const double making = seconds([&] { bytes = reports(d, kReports); });
  std::optional<Accumulator> a;
  const double collecting = seconds([&] { a.emplace(collected(bytes)); });
  const double estimating = seconds([&] {
    if (auto* f = dynamic_cast<FrequencyAggregator*>(&a->aggregator())) (void)f->frequencies();
    if (auto* w = dynamic_cast<WordAggregator*>(&a->aggregator())) (void)w->shares({"w1", "w2"});
  });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:<34} made {:6.2f} s   collected {:6.2f} s   estimated {:6.2f} s   {} MB of reports"
      "   peak {} MB\n",
      what, making, collecting, estimating, bytes.size() >> 20, usage.ru_maxrss >> 10);
}

}  // namespace

int main() {
  run("OUE, k = 1024", declared("oue", 1, 1024));
  run("subset selection, k = 1024", declared("subset", 1, 1024));
  run("OLH, k = 1024", declared("olh", 1, 1024));
  run("fast OLH, k = 100 000", declared("fast_olh", 1, 100'000));
  run("Hadamard response, k = 100 000", declared("hadamard", 1, 100'000));
  run("HCMS 65 536 × 1 024", declared("hcms", 4, 0, {{"rows", {"65536"}}, {"width", {"1024"}}}));
  return 0;
}
