// sotto local collect: reports and accumulators in, one accumulator out.
#include <fmt/format.h>

#include "local.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/local/server/report_stream.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;
using Json = nlohmann::ordered_json;

// The bytes of a file, of which the first have been looked at.
class Peeked {
 public:
  explicit Peeked(const std::string& path) : source_(open_bytes(path)) {
    start_.resize(kAccumulatorMagic.size());
    start_.resize(source_->read(start_));
  }
  bool is_accumulator() const { return start_ == kAccumulatorMagic; }
  std::size_t read(std::span<char> out) {
    const std::size_t first = std::min(out.size(), start_.size() - used_);
    std::copy_n(start_.data() + used_, first, out.data());
    used_ += first;
    return first < out.size() ? first + source_->read(out.subspan(first)) : first;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string start_;
  std::size_t used_ = 0;
};

void stream(Peeked& source, const std::string& path, Context& context,
            const ReportReceiver& receiver) {
  bool foreign = false;
  ReportStream reports({.declaration =
                            [&](const Declaration& d) {
                              foreign = receiver.declaration(d) != d;
                              if (foreign)
                                context.note(
                                    fmt::format("{} has reports with other parameters", path));
                            },
                        .record =
                            [&](const Record& record) {
                              if (foreign) {
                                receiver.refuse(Refusal::other_parameters);
                              } else {
                                receiver.record(record);
                              }
                            },
                        .unreadable = [&] { receiver.refuse(Refusal::unreadable); }});
  std::vector<char> block(1 << 18);
  while (!reports.given_up()) {
    const std::size_t n = source.read(block);
    reports.feed({block.data(), n});
    if (n < block.size()) break;
  }
  if (reports.given_up()) {
    context.note(fmt::format("{} has a broken record; the rest of it is not read", path));
  } else {
    reports.finish();
  }
}

void run_local_collect(const Arguments& arguments, Context& context) {
  std::optional<Accumulator> accumulator;
  std::uint64_t early = 0;  // unreadable before any declaration was seen
  collect_into(arguments.positionals(), context,
               {.declaration = [&](const Declaration& d) -> const Declaration& {
                  if (!accumulator) accumulator.emplace(d);
                  return accumulator->declaration();
                },
                .record = [&](const Record& r) { accumulator->take(r); },
                .refuse =
                    [&](Refusal why) {
                      if (accumulator) {
                        accumulator->refuse(why);
                      } else {
                        ++early;
                      }
                    },
                .accumulator =
                    [&](Accumulator& other) {
                      if (accumulator) {
                        accumulator->merge(other);
                      } else {
                        accumulator.emplace(std::move(other));
                      }
                    }});
  if (!accumulator)
    throw DataError("there are no reports", "reports are made by sotto local report");
  accumulator->refuse(Refusal::unreadable, early);
  const std::string path = arguments.text("out");
  OutputFile file(path);
  accumulator->write([&](std::string_view bytes) { file.write(bytes); });
  file.publish();
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"protocol", accumulator->declaration().protocol},
                                   {"reports", accumulator->reports()},
                                   {"refused", refused_json(*accumulator)},
                                   {"out", path}}
                                  .dump());
    return;
  }
  context.out.print("{} reports by {} in {}, {} refused\n", accumulator->reports(),
                    accumulator->declaration().protocol, path, accumulator->refused());
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const auto why = static_cast<Refusal>(i);
    if (accumulator->refused(why) > 0)
      context.out.print("  {}: {}\n", name(why), accumulator->refused(why));
  }
}

}  // namespace

void collect_into(const std::vector<std::string>& files, Context& context,
                  const ReportReceiver& receiver) {
  for (const std::string& path : files) {
    Peeked source(path);
    if (source.is_accumulator()) {
      if (!receiver.accumulator)
        throw DataError(fmt::format("{} is an accumulator; reports are needed", path));
      Accumulator other = Accumulator::read([&](std::span<char> out) { return source.read(out); });
      receiver.accumulator(other);
      continue;
    }
    try {
      stream(source, path, context, receiver);
    } catch (const DataError& e) {
      // One bad file does not cost the others.
      receiver.refuse(Refusal::unreadable);
      context.note(fmt::format("{} is not read: {}", path, e.what()));
    }
  }
}

Accumulator read_accumulator(const std::string& path) {
  const auto source = open_bytes(path);
  return Accumulator::read([&](std::span<char> out) { return source->read(out); });
}

Json refused_json(const Accumulator& accumulator) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const auto why = static_cast<Refusal>(i);
    json[std::string(name(why))] = accumulator.refused(why);
  }
  return json;
}

Command local_collect_command() {
  return {
      .name = "collect",
      .summary = "add reports up, and accumulators of other collectors",
      .description =
          "Takes files of reports (compact or JSON lines, also gzip), accumulators, or - for "
          "standard input. The first file declares the protocol. A report that cannot be read, "
          "has other parameters, or comes twice from one client in one epoch is counted as "
          "refused. What is kept does not grow with the number of reports, 16 bytes on disk "
          "for each client with an id aside.",
      .examples = {{"Reports of many files", "sotto local collect reports.bin --out counts.acc"},
                   {"As they come", "cat reports.bin | sotto local collect - --out counts.acc"}},
      .positionals =
          {{.name = "FILE", .help = "reports or accumulators", .type = Type::file, .many = true}},
      .options = {{.name = "out",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "the accumulator, written whole or not at all",
                   .required = true},
                  json_option()},
      .run = run_local_collect};
}

}  // namespace sotto::cli
