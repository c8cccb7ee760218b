// sotto local report: values in, noised reports out. What a client does.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "local.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/local/client/client.hpp"
#include "sotto/local/client/record.hpp"
#include "sotto/local/store/sqlite_store.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;

// Lines of a stream, without their ends.
class InputLines {
 public:
  explicit InputLines(const std::string& path)
      : source_(open_bytes(path)), buffer_(1 << 16, '\0') {}

  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::string_view rest(buffer_.data() + at_, end_ - at_);
      const std::size_t found = rest.find('\n');
      line += rest.substr(0, found);
      if (line.size() > kMostLine) throw DataError(fmt::format("line {} is too long", number_ + 1));
      if (found != std::string_view::npos) {
        at_ += found + 1;
        break;
      }
      at_ = 0;
      end_ = source_->read(buffer_);
      if (end_ == 0) {
        if (line.empty()) return false;
        break;
      }
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++number_;
    return true;
  }
  std::uint64_t number() const { return number_; }

 private:
  static constexpr std::size_t kMostLine = std::size_t{1} << 20;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t number_ = 0;
};

// What a line says, as the protocol takes it. A line that it cannot take is refused by its number,
// never by its content.
class ValueReader {
 public:
  ValueReader(const Declaration& declaration, const Arguments& arguments)
      : declaration_(declaration), input_(protocol_kind(declaration.protocol).input) {
    for (std::size_t i = 0; i < declaration.values.size(); ++i)
      numbers_.emplace(declaration.values[i], i);
    if (!arguments.given("other")) return;
    if (input_ != Input::category || declaration.values.empty())
      throw InvalidArgument("--other is one of --values, and none are declared");
    const auto found = numbers_.find(arguments.text("other"));
    if (found == numbers_.end()) throw InvalidArgument("--other is not one of the declared values");
    other_ = found->second;
  }

  // Valid until the next line.
  Value read(std::string_view text, std::uint64_t line) {
    const auto refuse = [&](const std::string& what) {
      return DataError(fmt::format("line {} {}", line, what),
                       input_ == Input::category
                           ? "mend the line, or declare a value for all others with --other"
                           : "mend the line or leave it out");
    };
    if (input_ == Input::word) return text;
    if (input_ == Input::numbers) {
      numbers_read_.clear();
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        numbers_read_.push_back(0);
        if (!parse(text.substr(at, end - at), numbers_read_.back()) ||
            !std::isfinite(numbers_read_.back()))
          throw refuse("is not finite numbers with commas between them");
        at = end + 1;
      }
      if (const auto d = declaration_.whole("dimensions"); numbers_read_.size() != d)
        throw refuse(fmt::format("has not the {} coordinates that are declared", d));
      return std::span<const double>(numbers_read_);
    }
    if (input_ == Input::number) {
      double value = 0;
      if (!parse(text, value) || !std::isfinite(value)) throw refuse("is not a finite number");
      return value;
    }
    if (!declaration_.values.empty()) {
      const auto found = numbers_.find(text);
      if (found != numbers_.end()) return found->second;
    } else {
      std::uint64_t value = 0;
      if (parse(text, value) && value < declaration_.domain) return value;
    }
    if (other_) return *other_;
    throw refuse("is not one of the declared values");
  }

 private:
  template <class T>
  static bool parse(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
  const Declaration& declaration_;
  Input input_;
  std::unordered_map<std::string_view, std::uint64_t> numbers_;
  std::optional<std::uint64_t> other_;
  std::vector<double> numbers_read_;
};

// Answers for the clients of a file: what each has said for ever lies in one store, under its id,
// or follows from one secret and its id.
class Answers {
 public:
  Answers(const Declaration& declaration, const Randomizer& randomizer, const Arguments& arguments)
      : declaration_(declaration), randomizer_(randomizer) {
    const bool permanent = !protocol_kind(declaration.protocol).one_time;
    if (arguments.given("memory") && arguments.given("secret-file"))
      throw InvalidArgument("permanent answers lie in --memory or follow from --secret-file");
    if (permanent && !arguments.given("memory") && !arguments.given("secret-file"))
      throw InvalidArgument("the protocol keeps permanent answers and needs a place for them",
                            "give --memory FILE or --secret-file FILE");
    if (arguments.given("lifetime-epsilon")) {
      lifetime_ = arguments.number("lifetime-epsilon");
      if (!arguments.given("memory"))
        throw InvalidArgument("a lifetime budget needs --memory, which remembers what was spent");
    }
    if (arguments.given("memory")) store_.emplace(arguments.text("memory"));
    if (arguments.given("secret-file")) {
      secret_ = read_all(arguments.text("secret-file"), 4096);
      if (secret_.size() < 16) throw DataError("the secret has fewer than 16 bytes");
    }
    if (store_) store_->begin();
  }

  void make(const Value& value, std::string_view client, Rng& rng, std::span<std::uint8_t> report) {
    if (!store_ && secret_.empty()) return randomizer_.answer(value, nullptr, rng, report);
    std::optional<PrefixStore> own;
    ClientSettings settings{.lifetime_epsilon = lifetime_};
    if (store_) {
      own.emplace(*store_, std::string(client));
      settings.store = &*own;
    } else {
      settings.secret = client.empty() ? secret_ : hmac_sha256(secret_, client);
    }
    Client(declaration_, randomizer_, std::move(settings)).answer(value, rng, report);
  }

  // Before anything leaves the process.
  void commit() {
    if (store_) store_->commit();
  }

 private:
  const Declaration& declaration_;
  const Randomizer& randomizer_;
  std::optional<SqliteStore> store_;
  std::string secret_;
  double lifetime_ = std::numeric_limits<double>::infinity();
};

void run_local_report(const Arguments& arguments, Context& context) {
  Declaration declaration = declared_protocol(arguments);
  declaration.insecure = arguments.given("insecure-seed");
  const auto randomizer = make_randomizer(declaration);
  ValueReader values(declaration, arguments);
  Answers answers(declaration, *randomizer, arguments);
  const bool json = arguments.text("format") == "json", clients = arguments.flag("clients");
  std::optional<std::uint64_t> epoch;
  if (arguments.given("epoch")) epoch = arguments.whole("epoch");
  if (epoch.value_or(0) >= declaration.whole("epochs"))
    throw InvalidArgument(fmt::format("epoch {} is not below the {} that are declared", *epoch,
                                      declaration.whole("epochs")),
                          "declare more with --epochs; each costs its own epsilon");

  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  InputLines lines(arguments.text("in"));
  const std::string path = arguments.text("out");
  OutputFile file(path);
  std::string out, line;
  if (json) {
    out = header_line(declaration);
  } else {
    append_header(out, declaration);
  }
  std::vector<std::uint8_t> report(randomizer->report_bytes());
  const std::uint32_t tag = tag_of(declaration);
  while (lines.next(line)) {
    std::string_view text = line, client;
    if (clients) {
      const std::size_t comma = text.find(',');
      if (comma == std::string_view::npos || comma == 0 || comma > kMostClientBytes)
        throw DataError(fmt::format("line {} does not begin with a client's id", lines.number()),
                        "with --clients a line is ID,VALUE");
      client = text.substr(0, comma);
      text.remove_prefix(comma + 1);
      if (!is_utf8(client))
        throw DataError(fmt::format("the client's id in line {} is not UTF-8", lines.number()));
    }
    answers.make(values.read(text, lines.number()), client, rng, report);
    const Record record{.tag = tag, .client = client, .epoch = epoch, .report = report};
    if (json) {
      out += record_line(record);
    } else {
      append_record(out, record);
    }
    if (out.size() > 1 << 16) {
      file.write(out);
      out.clear();
    }
  }
  file.write(out);
  answers.commit();
  file.publish();
  const double each = randomizer->epsilon(), all = epsilon_lifetime(*randomizer, declaration);
  if (arguments.flag("json")) {
    nlohmann::ordered_json result = {{"schema", 1},
                                     {"reports", lines.number()},
                                     {"out", path},
                                     {"protocol", declaration.protocol},
                                     {"epsilon_report", each},
                                     {"epsilon_lifetime", all}};
    if (seeded) result["generator"] = kInsecure;
    context.out.print("{}\n", result.dump());
  } else {
    context.out.print("wrote {} reports by {} to {}: epsilon {} each, {} in all {} epochs\n",
                      lines.number(), declaration.protocol, path, round_up(each), round_up(all),
                      declaration.whole("epochs"));
  }
}

}  // namespace

Command local_report_command() {
  Command command{
      .name = "report",
      .summary = "turn values into noised reports, as clients do",
      .description =
          "One value a line. Each report is noised by exact coins and satisfies epsilon-local "
          "differential privacy, whoever reads it. A line that is no declared value is refused by "
          "its number; with --other it counts as that value.",
      .examples = {{"One bit for each of three values",
                    "sotto local report --protocol oue --epsilon 1 --values a,b,c --in values.txt "
                    "--out reports.bin"},
                   {"The protocol with the least error, as lines of JSON",
                    "sotto local report --protocol auto --epsilon 1 --values a,b,c --in values.txt "
                    "--format json --out reports.jsonl"}},
      .options = {{.name = "in",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "one value a line; - is standard input",
                   .fallback = "-",
                   .group = "Data"},
                  {.name = "clients",
                   .type = Type::flag,
                   .help = "lines are ID,VALUE; reports carry the id, so that nobody counts twice",
                   .group = "Data"},
                  {.name = "other",
                   .type = Type::text,
                   .value = "VALUE",
                   .help = "what is none of the declared values counts as this one",
                   .group = "Data"},
                  {.name = "epoch",
                   .type = Type::whole,
                   .value = "N",
                   .help = "number of the reporting period, from 0 on",
                   .range = Range::between(0, 1e9),
                   .group = "Data"},
                  {.name = "memory",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "where clients keep permanent answers and what they have spent "
                           "(SQLite)",
                   .group = "Clients that report again"},
                  {.name = "secret-file",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "permanent answers follow from these bytes, 16 or more, and the id",
                   .group = "Clients that report again"},
                  {.name = "lifetime-epsilon",
                   .type = Type::number,
                   .value = "E",
                   .help = "a client refuses to say more than this in its life; needs --memory",
                   .range = Range::above(0),
                   .group = "Clients that report again"},
                  {.name = "out",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "where the reports go, whole or not at all",
                   .required = true},
                  {.name = "format",
                   .type = Type::choice,
                   .value = "F",
                   .help = "compact records or lines of JSON",
                   .fallback = "binary",
                   .choices = {"binary", "json"}},
                  json_option(),
                  insecure_seed_option()},
      .run = run_local_report};
  add_protocol_options(command, true);
  return command;
}

}  // namespace sotto::cli
