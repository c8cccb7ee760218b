#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "group_text.hpp"
#include "paid/ritual.hpp"
#include "shell/output_file.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/report/utility_curve.hpp"
#include "sweep.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPublicOnly = "FOR PUBLIC OR SYNTHETIC DATA ONLY";

std::vector<double> epsilons_of(const Arguments& arguments) {
  std::vector<double> result;
  for (const std::string& text : arguments.list("epsilons")) {
    double value = 0;
    std::size_t used = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != text.size() || !(value > 0) || value > 1e6)
      throw InvalidArgument(
          fmt::format("--epsilons holds '{}'; each must be a number above 0", text),
          "for example --epsilons 0.1,0.3,1,3,10");
    result.push_back(value);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

struct Sweep {
  std::vector<double> epsilons;
  std::uint64_t repeats;
  std::optional<double> delta;
  std::vector<std::vector<double>> tried = {};  // the epsilons of each method that apply to it

  std::uint64_t runs() const {
    std::uint64_t count = 0;
    for (const auto& of_method : tried) count += of_method.size() * repeats;
    return count;
  }
};

// A method that cannot do with a budget is left out there and said so: that depends on public
// facts.
// Throws when nothing is left.
void find_applicable(Sweep& sweep, const SweepSubject& subject, Context& context) {
  const std::vector<std::string> methods = subject.methods();
  std::exception_ptr why;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    sweep.tried.emplace_back();
    const auto skip = [&](double epsilon, const Error& error) {
      why = std::current_exception();
      if (methods.size() > 1 || sweep.epsilons.size() > 1)
        context.note(fmt::format("skipped: {} at epsilon {:g}: {}", methods[m], epsilon,
                                 for_command_line(error.what())));
    };
    for (const double epsilon : sweep.epsilons) {
      try {
        if (subject.rows()) subject.event(m, epsilon);
        sweep.tried.back().push_back(epsilon);
      } catch (const InvalidArgument& error) {
        skip(epsilon, error);
      } catch (const Unsupported& error) {
        skip(epsilon, error);
      }
    }
  }
  if (sweep.runs() == 0) std::rethrow_exception(why);
}

// What all runs together release about whoever is in the training data.
Spec all_runs(const Sweep& sweep, const SweepSubject& subject) {
  std::vector<Event> events;
  for (std::size_t m = 0; m < subject.methods().size(); ++m) {
    for (const double epsilon : sweep.tried[m])
      events.push_back(repeat(subject.event(m, epsilon), sweep.repeats));
  }
  return {subject.relation(), events};
}

struct TotalCost {
  double epsilon, delta;
};

// At the delta of one run where that can be, else at that of all runs together: deltas of their own
// add up.
TotalCost total_cost(const Spec& spec, double delta, std::uint64_t runs) {
  try {
    return {guarantee(spec, delta).upper, delta};
  } catch (const AccountingError&) {
    const double sum = delta * static_cast<double>(runs) * (1 + 1e-9);
    if (!(sum > delta && sum < 1)) throw;
    return {guarantee(spec, sum).upper, sum};
  }
}

UtilityReport measure(const Sweep& sweep, SweepSubject& subject, bool with_baseline, Rng& rng,
                      Context& context) {
  UtilityReport report;
  report.delta = sweep.delta.value_or(0);
  const std::size_t methods = subject.methods().size();
  Progress progress(context.progress("training", sweep.runs()));
  std::uint64_t done = 0;
  for (std::size_t m = 0; m < methods; ++m) {
    if (sweep.tried[m].empty()) continue;
    UtilityCurve curve;
    for (const double epsilon : sweep.tried[m])
      curve.points.push_back({.epsilon = epsilon,
                              .values = subject.qualities(m, epsilon, sweep.repeats, rng,
                                                          [&] { progress.advance(++done); })});
    curve.method = subject.curve(m);
    report.curves.push_back(std::move(curve));
  }
  if (with_baseline) report.non_private = subject.without_privacy(rng);
  progress.finish();
  return report;
}

Json to_json(const UtilityReport& report) {
  Json curves = Json::array();
  for (const UtilityCurve& curve : report.curves) {
    Json points = Json::array();
    for (const UtilityPoint& p : curve.points)
      points.push_back({{"epsilon", p.epsilon},
                        {"mean", p.mean()},
                        {"lowest", p.lowest()},
                        {"highest", p.highest()},
                        {"values", p.values}});
    curves.push_back({{"method", curve.method}, {"points", std::move(points)}});
  }
  return curves;
}

void print_table(const UtilityReport& report, Context& context) {
  for (const UtilityCurve& curve : report.curves) {
    context.out.print("{}\n", context.bold(curve.method));
    for (const UtilityPoint& p : curve.points)
      context.out.print("  epsilon {:<8g} {} {:.4f} ({:.4f} to {:.4f})\n", p.epsilon, report.metric,
                        p.mean(), p.lowest(), p.highest());
  }
  if (report.non_private)
    context.out.print("without privacy    {} {:.4f}\n", report.metric, *report.non_private);
}

// What the runs say of groups, budget by budget.
struct GroupLine {
  std::string curve;
  double epsilon;
  const GroupRuns* runs;
  GroupReport report;
};
std::vector<GroupLine> group_lines(const Sweep& sweep, const SweepSubject& subject) {
  std::vector<GroupLine> lines;
  for (std::size_t m = 0; m < sweep.tried.size(); ++m)
    for (const double epsilon : sweep.tried[m])
      if (const GroupRuns* runs = subject.groups(m, epsilon))
        lines.push_back({subject.curve(m), epsilon, runs, runs->report()});
  return lines;
}

Json to_json(const std::vector<GroupLine>& lines, const std::vector<std::string>& labels) {
  Json json = Json::array();
  for (const GroupLine& line : lines) {
    Json groups = Json::array();
    for (const GroupFigures& g : line.report.groups) {
      Json one = {{"group", g.group}, {"rows", g.rows}};
      add_figures(one, g, labels);
      groups.push_back(std::move(one));
    }
    json.push_back({{"method", line.curve},
                    {"epsilon", line.epsilon},
                    {"runs", line.runs->runs()},
                    {"groups", std::move(groups)},
                    {"gaps", gaps_json(line.report, labels)}});
  }
  return json;
}

// One curve for each group: its accuracy over ε.
UtilityReport group_curves(const UtilityReport& whole, const std::vector<GroupLine>& lines) {
  UtilityReport report = whole;
  report.metric = "accuracy";
  report.smaller_is_better = false;
  report.non_private.reset();  // groups have a figure each
  report.curves.clear();
  for (const GroupLine& line : lines)
    for (std::size_t g = 0; g < line.runs->groups().size(); ++g) {
      const std::string name = whole.curves.size() > 1 ? line.curve + ", " + line.runs->groups()[g]
                                                       : line.runs->groups()[g];
      const std::vector<double> values = line.runs->accuracies(g);
      if (values.empty()) continue;  // no row of this group among the test rows
      auto curve = std::find_if(report.curves.begin(), report.curves.end(),
                                [&](const UtilityCurve& c) { return c.method == name; });
      if (curve == report.curves.end()) {
        report.curves.push_back({name, {}});
        curve = report.curves.end() - 1;
      }
      curve->points.push_back({line.epsilon, values});
    }
  const auto add_fact = [&](const GroupLine& line, const char* what,
                            const std::optional<Gap>& gap) {
    if (gap)
      report.facts.emplace_back(
          fmt::format("{} at ε = {:g}", what, line.epsilon),
          fmt::format("{:.4f} (95 %: {:.4f} to {:.4f}), {} above {}", gap->value,
                      gap->interval_95.lower, gap->interval_95.upper, gap->largest, gap->smallest));
  };
  for (const GroupLine& line : lines) {
    add_fact(line, "gap in accuracy", line.report.accuracy);
    add_fact(line, "gap in demographic parity", line.report.demographic_parity);
    add_fact(line, "gap in equalized odds", line.report.equalized_odds);
    add_fact(line, "gap in privacy cost", line.report.privacy_cost);
  }
  return report;
}

void print_groups(const std::vector<GroupLine>& lines, const std::vector<std::string>& labels,
                  Context& context) {
  for (const GroupLine& line : lines)
    context.out.print("{}, epsilon {:g}, mean of {} runs\n{}", context.bold(line.curve),
                      line.epsilon, line.runs->runs(), Lines{group_table(line.report, labels)});
}

void make_place(const Arguments& arguments) {
  if (!arguments.given("out"))
    throw InvalidArgument("sotto sweep needs --out DIR, the place of the curve");
  const std::filesystem::path place = arguments.text("out");
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error)
    throw StorageError(
        fmt::format("cannot make the directory '{}': {}", place.string(), error.message()));
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code absent;
  if (std::filesystem::is_directory(a, absent)) return false;
  return a == b || std::filesystem::equivalent(a, b, absent);
}

std::vector<bool> held_out_rows(std::size_t rows, double fraction) {
  Rng rng = Rng::insecure_seed(1);
  std::vector<bool> held(rows);
  for (std::size_t i = 0; i < rows; ++i)
    held[i] = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53 < fraction;
  const auto out = static_cast<std::size_t>(std::count(held.begin(), held.end(), true));
  if (out == 0 || out == rows)
    throw DataError("too few rows to split into training and test rows", "give --test FILE");
  return held;
}

void run_sweep(const Arguments& arguments, Context& context, SweepSubject& subject) {
  Sweep sweep{.epsilons = epsilons_of(arguments),
              .repeats = arguments.whole("repeats"),
              .delta = arguments.maybe_number("delta")};
  const bool is_private = arguments.flag("private");
  if (is_private && !arguments.given("test"))
    throw InvalidArgument(
        "--private needs --test FILE with public rows: measuring on private ones is a release too",
        "or leave out --private when the data is public or synthetic");
  if (is_private && is_same_file(arguments.text("data"), arguments.text("test")))
    throw InvalidArgument(
        "--test names the private data itself: what is measured on it is printed as it is",
        "give a file with public rows");
  if (is_private && subject.rows())
    check_delta(arguments, *subject.rows(), "declared rows", context);
  // The split changes the declared rows, which are public here; the cost is stated for the schema
  // as it stands.
  std::optional<Spec> spec;
  std::optional<TotalCost> all;
  find_applicable(sweep, subject, context);
  const std::uint64_t runs = sweep.runs();
  if (is_private || subject.rows()) {
    spec = all_runs(sweep, subject);
    all = total_cost(*spec, sweep.delta.value_or(0), runs);
  }
  for (const char* option :
       {"ledger", "dsn-file", "dataset", "part", "purpose", "by", "key", "fingerprint-key"}) {
    if (!is_private && arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is about a budget: it needs --private", option));
  }
  const std::string total =
      all ? fmt::format("{} runs together: epsilon = {}, delta = {} ({}, unit: one {})", runs,
                        round_up(all->epsilon), round_up(all->delta), name(subject.relation()),
                        subject.unit())
          : fmt::format("{} runs; the schema declares no rows, so their cost is not known", runs);
  const std::string warning =
      is_private
          ? fmt::format("PRIVATE DATA: THIS SWEEP COSTS epsilon = {}", round_up(all->epsilon))
          : kPublicOnly;
  PaidWork<UtilityReport> work;
  work.charged = is_private;  // public data has no budget, whatever ledger the environment names
  work.spec = spec;
  work.unit = subject.unit();
  work.what = fmt::format("sweep of {} models of {}", arguments.text("model"), subject.target());
  work.json = {{"schema", 1},
               {"private", is_private},
               {"warning", warning},
               {"runs", runs},
               {"epsilon_all_runs", all ? Json(all->epsilon) : Json(nullptr)},
               {"delta_all_runs", all ? Json(all->delta) : Json(nullptr)},
               {"delta", sweep.delta.value_or(0)},
               {"relation", name(subject.relation())}};
  work.show = [&](const Json& json) {
    arguments.flag("json")
        ? context.out.print("{}\n", json.dump())
        : context.out.print("not run, no data read\n  {}\n  would cost {}\n", warning, total);
  };
  work.prepare = [&](Rng&, const Payment*) {
    make_place(arguments);
    context.err.print("{}\n", warning);
    context.err.flush();
    return Ready{};
  };
  work.run = [&](Rng& rng) { return measure(sweep, subject, !is_private, rng, context); };
  work.publish = [&](UtilityReport&& report, Json&& json, Rng&, const Payment* payment) {
    const std::filesystem::path place = arguments.text("out");
    report.title = fmt::format("{} model of {}", arguments.text("model"), subject.target());
    report.metric = subject.metric();
    report.smaller_is_better = subject.smaller_is_better();
    report.warning = arguments.given("insecure-seed") ? warning + " · " + kInsecure : warning;
    report.facts = {
        {is_private ? "spent" : "if the data were private", total},
        {"measured on", arguments.given("test") ? "the rows of a separate test file, as they are"
                                                : "rows held out of the data, as they are"}};
    write_file(place / "sweep.csv", utility_csv(report));
    write_file(place / "sweep.svg", utility_svg(report));
    write_file(place / "sweep.html", utility_html(report));
    const std::vector<GroupLine> groups = group_lines(sweep, subject);
    if (!groups.empty()) {
      const UtilityReport curves = group_curves(report, groups);
      std::vector<GroupRow> rows;
      for (const GroupLine& line : groups) rows.push_back({line.curve, line.epsilon, &line.report});
      write_file(place / "groups.csv", group_csv(rows));
      write_file(place / "groups.svg", utility_svg(curves));
      write_file(place / "groups.html", utility_html(curves));
    }
    if (arguments.flag("json")) {
      json["metric"] = report.metric;
      json["curves"] = to_json(report);
      json["non_private"] = report.non_private ? Json(*report.non_private) : Json(nullptr);
      if (!groups.empty()) json["groups"] = to_json(groups, subject.labels());
      json["out"] = arguments.text("out");
      if (payment != nullptr) payment->add_to(json);
      context.out.print("{}\n", json.dump());
      return;
    }
    context.out.print("{}\n", context.bold(report.warning));
    print_table(report, context);
    print_groups(groups, subject.labels(), context);
    context.out.print("{}{}\nwrote sweep.csv, sweep.svg and sweep.html{} to {}\n",
                      is_private ? "spent: " : "if the data were private: ", total,
                      groups.empty() ? "" : ", and groups.csv, groups.svg and groups.html",
                      arguments.text("out"));
  };
  perform(arguments, context, std::move(work));
}

}  // namespace sotto::cli
