#include "sotto/local/server/accumulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/report_stream.hpp"

namespace sotto::local::accumulator_test {

Declaration declared(const std::string& protocol, std::uint64_t k = 10, double epochs = 1) {
  Declaration d{.protocol = protocol, .epsilon = 1, .domain = k};
  d.parameters["epochs"] = epochs;
  return declare(d, OptionValues(protocol_options(protocol_kind(protocol)),
                                 {{"epochs", {fmt::format("{}", epochs)}}}));
}

std::string some_reports(const Declaration& d, int n, std::uint64_t seed, bool clients = false) {
  Rng rng = Rng::insecure_seed(seed);
  const auto r = make_randomizer(d);
  std::vector<std::uint8_t> report(r->report_bytes());
  std::string out;
  append_header(out, d);
  for (int i = 0; i < n; ++i) {
    const std::string client = clients ? fmt::format("{}-{}", seed, i) : "";
    r->answer(static_cast<std::uint64_t>(i) % d.domain, nullptr, rng, report);
    append_record(out, {.tag = tag_of(d), .client = client, .epoch = {}, .report = report});
  }
  return out;
}

// In pieces of this size.
Accumulator collected(const std::string& bytes, std::size_t piece = 1 << 20) {
  std::optional<Accumulator> a;
  std::uint64_t unreadable = 0;
  ReportStream s({.declaration = [&](const Declaration& d) { a.emplace(d); },
                  .record = [&](const Record& r) { a->take(r); },
                  .unreadable = [&] { ++unreadable; }});
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    s.feed(std::string_view(bytes).substr(at, piece));
  if (!s.given_up()) s.finish();
  a->refuse(Refusal::unreadable, unreadable);
  return std::move(*a);
}

std::string file_of(Accumulator& a) {
  std::string file;
  a.write([&](std::string_view b) { file += b; });
  return file;
}

Accumulator from_file(const std::string& file) {
  std::size_t at = 0;
  return Accumulator::read([&](std::span<char> out) {
    const std::size_t n = std::min(out.size(), file.size() - at);
    std::copy_n(file.data() + at, n, out.data());
    at += n;
    return n;
  });
}

TEST(Accumulator, IsTheSameInAnyOrderPiecesAndSplit) {
  for (const ProtocolKind& kind : protocol_kinds()) {
    if (kind.input != Input::category || !kind.one_time || !kind.listed) continue;
    const Declaration d = declared(kind.name);
    const std::string one = some_reports(d, 400, 1, true), two = some_reports(d, 300, 2, true);
    std::string header;
    append_header(header, d);
    Accumulator together = collected(one + two.substr(header.size()), 7);
    Accumulator a = collected(two), b = collected(one, 1);
    a.merge(b);
    EXPECT_EQ(file_of(together), file_of(a)) << kind.name;
    EXPECT_EQ(together.reports(), 700u);
    Accumulator back = from_file(file_of(a));
    EXPECT_EQ(file_of(back), file_of(a)) << kind.name;
    EXPECT_EQ(back.refused(), 0u);
  }
}

TEST(Accumulator, RefusesDuplicatesOtherParametersWrongEpochsAndShapes) {
  const Declaration d = declared("oue", 10, 2);
  Accumulator a(d);
  const std::vector<std::uint8_t> report = {0x03, 0x01}, high = {0x03, 0x04}, longer = {3, 1, 0};
  const Record good{.tag = tag_of(d), .client = "x", .epoch = 0, .report = report};
  EXPECT_TRUE(a.take(good));
  EXPECT_FALSE(a.take(good));
  Record r = good;
  r.epoch = 1;
  EXPECT_TRUE(a.take(r));
  r.epoch = 2;
  EXPECT_FALSE(a.take(r));
  r = good, r.client = "y", r.report = high;  // a bit beyond the tenth category
  EXPECT_FALSE(a.take(r));
  r.report = longer;
  EXPECT_FALSE(a.take(r));
  r.report = report, r.tag ^= 1;
  EXPECT_FALSE(a.take(r));
  EXPECT_EQ(a.reports(), 2u);
  EXPECT_EQ(a.refused(Refusal::duplicate), 1u);
  EXPECT_EQ(a.refused(Refusal::wrong_epoch), 1u);
  EXPECT_EQ(a.refused(Refusal::unreadable), 2u);
  EXPECT_EQ(a.refused(Refusal::other_parameters), 1u);
  // A refused report leaves no trace: y may still report.
  r = good, r.client = "y";
  EXPECT_TRUE(a.take(r));
}

TEST(Accumulator, RemembersClientsThroughFilesAndMerges) {
  const Declaration d = declared("grr");
  const std::string reports = some_reports(d, 20'000, 3, true);
  Accumulator a = collected(reports), again = from_file(file_of(a));
  std::string header;
  append_header(header, d);
  Accumulator b = collected(reports);
  EXPECT_THROW(again.merge(b), DataError);
  EXPECT_EQ(again.reports(), 20'000u);
  const Record first = parse_record(std::string_view(reports).substr(header.size())).record;
  EXPECT_FALSE(again.take(first));
  EXPECT_EQ(again.refused(Refusal::duplicate), 1u);
}

TEST(Accumulator, RefusesDamagedFiles) {
  Accumulator a = collected(some_reports(declared("grr"), 50, 4, true));
  const std::string file = file_of(a);
  for (std::size_t n = 0; n < file.size(); n += 3)
    EXPECT_THROW((void)from_file(file.substr(0, n)), DataError) << n;
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW((void)from_file(damaged), DataError) << i;
  }
  EXPECT_THROW((void)from_file(file + "x"), DataError);
}

TEST(Accumulator, RefusesCountsThatReportsCannotHaveMade) {
  const Declaration d = declared("grr", 3);
  const auto aggregator = make_aggregator(d);
  EXPECT_THROW(aggregator->merge(5, std::vector<std::int64_t>{6, 0, 0}), DataError);
  EXPECT_THROW(aggregator->merge(5, std::vector<std::int64_t>{-1, 0, 0}), DataError);
  EXPECT_THROW(aggregator->merge(5, std::vector<std::int64_t>{1, 0}), DataError);
  aggregator->merge(5, std::vector<std::int64_t>{5, 0, 0});
  EXPECT_EQ(aggregator->reports(), 5u);
}

TEST(ReportStream, RefusesFirstLinesThatDeclareNothing) {
  for (const char* line : {"{\"schema\":\"1\",\"declaration\":{}}\n", "{\"schema\":1}\n", "{}\n",
                           "{\"schema\":[],\"declaration\":1}\n", "{\n"})
    EXPECT_THROW((void)collected(line), DataError) << line;
}

TEST(ReportStream, CountsWhatItCannotReadAndGoesOnWhereItCan) {
  const Declaration d = declared("grr");
  const std::string binary = some_reports(d, 10, 5);
  EXPECT_EQ(collected(binary.substr(0, binary.size() - 1)).refused(Refusal::unreadable), 1u);
  Accumulator broken = collected(binary + "\x09" + binary);
  EXPECT_EQ(broken.reports(), 10u);
  EXPECT_EQ(broken.refused(Refusal::unreadable), 1u);

  std::string lines = header_line(d);
  const std::vector<std::uint8_t> report = {3};
  lines += record_line({.tag = tag_of(d), .client = {}, .epoch = {}, .report = report});
  lines += "nonsense\n";
  lines += record_line({.tag = tag_of(d), .client = {}, .epoch = {}, .report = report});
  lines += "{\"tag\":1";
  for (const std::size_t piece : {1u, 1000u}) {
    Accumulator a = collected(lines, piece);
    EXPECT_EQ(a.reports(), 2u);
    EXPECT_EQ(a.refused(Refusal::unreadable), 2u);
  }
}

}  // namespace sotto::local::accumulator_test
