// sotto local estimate: what an accumulator says about the values of its clients.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "local.hpp"
#include "local_certificate.hpp"
#include "paid/signing.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/local/server/consistency.hpp"
#include "sotto/local/server/numbers.hpp"
#include "sotto/local/server/prefixes.hpp"
#include "sotto/local/server/puzzles.hpp"
#include "sotto/local/server/rappor_files.hpp"
#include "sotto/local/server/words.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;
using Json = nlohmann::ordered_json;

// By name, in order. Appended: looking for each name among many thousands would take too long.
using Named = Json::object_t;

constexpr double kNormal95 = 1.959963984540054;
constexpr std::size_t kMostAccumulatorBytes = std::size_t{256} << 20;

// One estimate. A standard error of NaN: there is none, because the estimate is not unbiased.
Json estimated(const char* what, double value, double error = NAN) {
  Json e = {{what, value}};
  if (std::isnan(error)) return e;
  if (std::isfinite(error)) {
    e["standard_error"] = error;
    e["interval_95"] = {value - kNormal95 * error, value + kNormal95 * error};
  } else {
    e["standard_error"] = nullptr;
  }
  return e;
}

std::vector<double> consistent(const std::string& how, FrequencyAggregator& aggregator,
                               const Frequencies& raw) {
  if (how == "simplex" || how == "norm_sub") return onto_simplex(raw.share);
  const auto support = aggregator.support();
  if (!support)
    throw Unsupported(
        "em needs reports that support categories, each with one of two "
        "probabilities; this protocol has others",
        "use --consistency simplex");
  return likeliest_shares(*support);
}

Json of_categories(const Arguments& arguments, const Declaration& d,
                   FrequencyAggregator& aggregator) {
  const Frequencies raw = aggregator.frequencies();
  const std::string how = arguments.text("consistency");
  const bool unbiased = how == "none";
  const std::vector<double> shares = unbiased ? raw.share : consistent(how, aggregator, raw);
  Named result;
  for (std::size_t i = 0; i < shares.size(); ++i)
    result.emplace_back(
        d.values.empty() ? std::to_string(i) : d.values[i],
        estimated("frequency", shares[i], unbiased ? std::sqrt(raw.variance[i]) : NAN));
  return result;
}

std::vector<std::string> candidates(const Arguments& arguments) {
  if (!arguments.given("candidates"))
    throw InvalidArgument("the values are words: estimates need --candidates FILE",
                          "one word a line, all that are to be looked for");
  std::istringstream text(read_all(arguments.text("candidates"), kMostAccumulatorBytes));
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    line = as_utf8(line);
    if (seen.insert(line).second) words.push_back(std::move(line));
  }
  if (words.empty()) throw DataError("the file of --candidates has no words", "one word a line");
  return words;
}

Json of_shares(const std::vector<std::string>& words, const Frequencies& f) {
  Named result;
  for (std::size_t i = 0; i < words.size(); ++i)
    result.emplace_back(words[i], estimated("frequency", f.share[i], std::sqrt(f.variance[i])));
  return result;
}

void write_rappor(const std::string& place, const RapporParameters& r,
                  std::span<const std::int64_t> cells, const std::vector<std::string>& words) {
  write_file(place + "params.csv", params_csv(r));
  write_file(place + "counts.csv", counts_csv(cells, r));
  write_file(place + "map.csv", map_csv(words, r));
}

Json of_rappor(const Rappor& rappor, std::span<const std::int64_t> cells,
               const std::vector<RapporCandidate>& words) {
  const std::vector<Explained> all = decode_rappor(rappor, cells, words);
  Named result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (all[i].coefficient <= 0) continue;  // not found
    Json e = estimated("frequency", all[i].coefficient, all[i].standard_error);
    e["p_value"] = all[i].p_value;
    e["significant"] = all[i].significant;
    result.emplace_back(as_utf8(words[i].word), std::move(e));
  }
  return result;
}

Json of_numbers(const Declaration& d, Aggregator& aggregator, bool smooth) {
  Named result;
  if (auto* wave = dynamic_cast<WaveAggregator*>(&aggregator)) {
    const EstimatedMean mean = wave->mean();
    result.emplace_back("mean", estimated("value", mean.value, mean.standard_error));
    const std::vector<double> shares = wave->distribution(smooth);
    const double lower = d.parameter("lower"), upper = d.parameter("upper"), width = upper - lower;
    // As many digits as tell the positions of narrow bounds apart.
    const double offset = std::max(std::abs(lower), std::abs(upper)) / width;
    const int digits = std::min(17, 6 + static_cast<int>(std::max(0.0, std::log10(offset))));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(shares.size() - 1);
      result.emplace_back(fmt::format("{:.{}g}", lower + width * part, digits),
                          estimated("frequency", shares[i]));
    }
    return result;
  }
  const auto means = dynamic_cast<MeanAggregator&>(aggregator).means();
  for (std::size_t i = 0; i < means.size(); ++i)
    result[means.size() == 1 ? "mean" : fmt::format("mean {}", i)] =
        estimated("value", means[i].value, means[i].standard_error);
  return result;
}

// --ranges 0-9,10-99: numbers of categories, both ends included.
Json of_ranges(const Arguments& arguments, const PrefixAggregator& prefixes) {
  if (!arguments.given("ranges"))
    throw InvalidArgument("range_tree answers questions: give --ranges, e.g. 0-9,10-99");
  Named result;
  for (const std::string& range : arguments.list("ranges")) {
    std::uint64_t first = 0, last = 0;
    const char *begin = range.data(), *end = begin + range.size();
    const auto one = std::from_chars(begin, end, first);
    const bool dash = one.ec == std::errc() && one.ptr != end && *one.ptr == '-';
    if (!dash || std::from_chars(one.ptr + 1, end, last).ptr != end)
      throw InvalidArgument(fmt::format("'{}' is not a range such as 0-9", range));
    const auto share = prefixes.range(first, last);
    result.emplace_back(range, estimated("frequency", share.value, std::sqrt(share.variance)));
  }
  return result;
}

Json of_found(const std::vector<FoundWord>& words) {
  Named result;
  for (const FoundWord& f : words)
    result.emplace_back(as_utf8(f.word), estimated("frequency", f.share, f.standard_error));
  return result;
}

Json estimates(const Arguments& arguments, Accumulator& accumulator) {
  const Declaration& d = accumulator.declaration();
  Aggregator& aggregator = accumulator.aggregator();
  const auto cells = aggregator.cells();
  if (auto* categories = dynamic_cast<FrequencyAggregator*>(&aggregator))
    return of_categories(arguments, d, *categories);
  if (arguments.text("consistency") != "none")
    throw Unsupported("--consistency is for shares of categories");
  if (auto* words = dynamic_cast<WordAggregator*>(&aggregator)) {
    const std::vector<std::string> named = candidates(arguments);
    return of_shares(named, words->shares(named));
  }
  if (d.protocol == "rappor") {
    const RapporParameters r = rappor_parameters(d);
    std::vector<RapporCandidate> words;
    const std::vector<std::string> named = candidates(arguments);
    for (const std::string& word : named) words.push_back(rappor_candidate(word, r));
    if (arguments.given("rappor-files"))
      write_rappor(arguments.text("rappor-files"), r, cells, named);
    return of_rappor(Rappor(r), cells, words);
  }
  const std::string alphabet = arguments.text("alphabet");
  if (auto* prefixes = dynamic_cast<PrefixAggregator*>(&aggregator))
    return d.domain > 0 ? of_ranges(arguments, *prefixes)
                        : of_found(prefixes->heavy_hitters(alphabet));
  if (auto* puzzles = dynamic_cast<PuzzleAggregator*>(&aggregator)) {
    if (!arguments.given("candidates")) return of_found(puzzles->words(alphabet));
    const std::vector<std::string> named = candidates(arguments);
    return of_shares(named, puzzles->shares(named));
  }
  return of_numbers(d, aggregator, !arguments.flag("unsmoothed"));
}

// counts.csv with --params and --map, as other programs write them.
Json published_rappor(const Arguments& arguments) {
  const std::string& path = arguments.positionals().front();
  const RapporParameters r =
      parse_params_csv(read_all(arguments.text("params"), kMostAccumulatorBytes));
  const auto cells = parse_counts_csv(read_all(path, kMostAccumulatorBytes), r);
  std::vector<RapporCandidate> words;
  if (arguments.given("map")) {
    words = parse_map_csv(read_all(arguments.text("map"), kMostAccumulatorBytes), r);
  } else {
    for (const std::string& word : candidates(arguments))
      words.push_back(rappor_candidate(word, r));
  }
  const Rappor rappor(r);
  std::int64_t reports = 0;
  for (std::uint64_t j = 0; j < r.cohorts; ++j) reports += cells[j * (r.bits + 1)];
  if (reports == 0) throw DataError("there are no reports");
  return {{"schema", 1},
          {"protocol", "rappor"},
          {"reports", reports},
          {"refused_total", 0},
          {"estimates", of_rappor(rappor, cells, words)},
          {"epsilon_report", rappor.epsilon()},
          {"epsilon_lifetime", rappor.epsilon_permanent()},
          {"central", nullptr}};  // how often a client has reported is not known
}

// Options that another protocol would use are refused, not ignored.
void check_questions(const Arguments& arguments, const Declaration& d) {
  const std::string& p = d.protocol;
  const auto only = [&](const char* option, bool fits) {
    if (arguments.given(option) && !fits)
      throw InvalidArgument(fmt::format("--{} is not for reports by {}", option, p),
                            "leave it out; see: sotto local estimate --help");
  };
  const bool words = p == "cms" || p == "hcms" || p == "rappor" || p == "sfp";
  only("candidates", words);
  only("map", false);  // with --params only
  only("rappor-files", p == "rappor");
  only("alphabet", p == "prefix_tree" || p == "sfp");
  only("ranges", p == "range_tree");
  only("unsmoothed", p == "square_wave");
}

Json from_accumulator(const Arguments& arguments, Context& context) {
  Accumulator accumulator = read_accumulator(arguments.positionals().front());
  if (accumulator.reports() == 0) throw DataError("the accumulator has no reports");
  const Declaration& d = accumulator.declaration();
  check_questions(arguments, d);
  const auto randomizer = make_randomizer(d);
  Json result = {{"schema", 1},
                 {"protocol", d.protocol},
                 {"reports", accumulator.reports()},
                 {"refused", refused_json(accumulator)},
                 {"refused_total", accumulator.refused()},
                 {"consistency", arguments.text("consistency")},
                 {"estimates", estimates(arguments, accumulator)},
                 {"epsilon_report", randomizer->epsilon()},
                 {"epsilon_lifetime", epsilon_lifetime(*randomizer, d)},
                 {"central", central_json(d, accumulator.reports(),
                                          Delta(arguments.number("delta")), context)}};
  if (d.insecure) result["generator"] = kInsecure;
  if (arguments.given("certificate"))
    certify_estimate(arguments, d, accumulator.reports(), result["estimates"], context);
  return result;
}

void print(const Json& result, Context& context) {
  context.out.print("{} reports by {}, {} refused\n", result["reports"].get<std::uint64_t>(),
                    result["protocol"].get<std::string>(),
                    result["refused_total"].get<std::uint64_t>());
  for (const auto& [name, e] : result["estimates"].items()) {
    const double value = e.begin()->get<double>();
    if (e.contains("interval_95")) {
      context.out.print("  {}: {:.6f} ± {:.6f}  [{:.6f}, {:.6f}]{}\n", name, value,
                        e["standard_error"].get<double>(), e["interval_95"][0].get<double>(),
                        e["interval_95"][1].get<double>(),
                        e.value("significant", true) ? "" : "  not significant");
    } else {
      context.out.print("  {}: {:.6f}{}\n", name, value,
                        e.contains("standard_error") ? " ± unknown: too few reports" : "");
    }
  }
  context.out.print("local: epsilon {} for each report, {} for all of a client\n",
                    round_up(result["epsilon_report"].get<double>()),
                    round_up(result["epsilon_lifetime"].get<double>()));
  print_central(result.value("central", Json()), context);
  if (result.contains("generator"))
    context.out.print("{}: reports were made with --insecure-seed\n", kInsecure);
}

void run_local_estimate(const Arguments& arguments, Context& context) {
  if (arguments.given("sign") && !arguments.given("certificate"))
    throw InvalidArgument("--sign is about a certificate, and none is asked for",
                          "add --certificate FILE");
  if (arguments.given("params") && arguments.given("certificate"))
    throw Unsupported("what published counts rest on is not known: they have no certificate",
                      "collect the reports themselves");
  const Json result = arguments.given("params") ? published_rappor(arguments)
                                                : from_accumulator(arguments, context);
  if (arguments.flag("json")) {
    context.out.print("{}\n", result.dump());
  } else {
    print(result, context);
  }
}

}  // namespace

namespace {
Option in_group(Option option, const char* group) {
  option.group = group;
  return option;
}
}  // namespace

Command local_estimate_command() {
  return {
      .name = "estimate",
      .summary = "estimate how many clients have which value",
      .description =
          "Estimates are unbiased, with standard error and 95 % interval; they may be negative and "
          "need not add up to 1. --consistency makes shares of them, which is no longer unbiased. "
          "The central guarantee is that of whoever sees only the estimates, if the collector is "
          "trusted not to show single reports. For words the candidates are named; RAPPOR's "
          "published counts.csv can be decoded with --params and --map.\n\nA certificate claims "
          "the "
          "local guarantee, which trusts nobody, or with --trust shuffler the central one, and "
          "says "
          "what that rests on.",
      .examples = {{"All of it", "sotto local estimate counts.acc"},
                   {"As shares", "sotto local estimate counts.acc --consistency simplex"},
                   {"For other programs", "sotto local estimate counts.acc --json"},
                   {"With a certificate of the central guarantee",
                    "sotto local estimate counts.acc --certificate counts.json --trust shuffler && "
                    "sotto verify counts.json"}},
      .positionals = {{.name = "ACCUMULATOR",
                       .help = "written by sotto local collect, or RAPPOR's counts.csv",
                       .type = Type::file}},
      .options = {{.name = "consistency",
                   .type = Type::choice,
                   .value = "HOW",
                   .help = "none: unbiased; simplex (also called norm_sub): the nearest shares; "
                           "em: the likeliest shares",
                   .fallback = "none",
                   .choices = {"none", "simplex", "norm_sub", "em"}},
                  {.name = "candidates",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "words to look for, one a line",
                   .group = "Words"},
                  {.name = "params",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "RAPPOR's params.csv; the positional argument is counts.csv then",
                   .group = "Words"},
                  {.name = "map",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "RAPPOR's map.csv, instead of --candidates",
                   .group = "Words"},
                  {.name = "rappor-files",
                   .type = Type::text,
                   .value = "PREFIX",
                   .help = "also write PREFIXparams.csv, PREFIXcounts.csv and PREFIXmap.csv",
                   .group = "Words"},
                  {.name = "alphabet",
                   .type = Type::text,
                   .value = "BYTES",
                   .help = "prefix_tree and sfp: what words are made of",
                   .fallback = "abcdefghijklmnopqrstuvwxyz",
                   .group = "Words"},
                  {.name = "ranges",
                   .type = Type::list,
                   .value = "A-B,…",
                   .help = "range_tree: ranges of categories, both ends included"},
                  {.name = "unsmoothed",
                   .type = Type::flag,
                   .help = "square_wave: the likeliest distribution without smoothing"},
                  {.name = "delta",
                   .type = Type::number,
                   .value = "D",
                   .help = "of the central guarantee",
                   .fallback = "1e-8",
                   .range = Range::inside(0, 1)},
                  {.name = "certificate",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "also write a certificate, from which epsilon can be computed again",
                   .group = "Certificate"},
                  {.name = "trust",
                   .type = Type::choice,
                   .value = "WHOM",
                   .help = "whom its claim trusts: nobody, or whoever shuffles or collects",
                   .fallback = "nobody",
                   .choices = {"nobody", "shuffler"},
                   .group = "Certificate"},
                  in_group(sign_option(), "Certificate"),
                  json_option(),
                  output_option()},
      .run = run_local_estimate};
}

}  // namespace sotto::cli
