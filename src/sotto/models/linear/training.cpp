#include "sotto/models/linear/training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/coded_rows.hpp"
#include "sotto/models/linear/detail/fitted_model.hpp"

namespace sotto {
namespace {

constexpr double kIntercept = 1;

std::vector<EncodedColumn> columns_of(const Encoder& encoder) {
  std::vector<EncodedColumn> columns;
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    const bool symmetric = feature.is_numeric() && encoder.schema().scaling == Scaling::symmetric;
    const Encoder::Run run = encoder.run(f);
    columns.push_back({.first = run.first,
                       .width = run.hats ? 1 : run.width,
                       .low = symmetric ? -1.0 : 0.0,
                       .high = 1,
                       .boolean = !feature.is_numeric(),
                       .hats = run.hats ? run.width - 1 : 0});
  }
  return columns;
}

MethodChoice chosen(const LinearRequest& request, const PublicFacts& facts) {
  if (request.method != "auto") return {request.method, "asked for"};
  if (!request.budget) {
    throw InvalidArgument("training needs a budget",
                          "give `epsilon`, `epsilon` with `delta`, or `rho`");
  }
  return choose_method(facts, *request.budget);
}

}  // namespace

PublicFacts facts_of(const Facts& facts, LinearKind kind) {
  const bool number = kind == LinearKind::linear;
  check_target(facts, number ? Task::regress : Task::classify, std::string(name(kind)),
               number ? "logistic or svm" : "linear");
  const Encoder& encoder = *facts.encoder;
  PublicFacts known{.kind = kind,
                    .relation = facts.relation,
                    .dimension = encoder.width() + 1,
                    .contributions = facts.contributions,
                    .norm_bound = encoder.norm_bound(),
                    .columns = columns_of(encoder)};
  const std::size_t classes = facts.classes().size();
  known.outputs = classes <= 2 ? 1 : classes;
  known.rows = facts.declared_rows();
  return known;
}

LinearTraining::LinearTraining(const Facts& facts, const LinearRequest& request)
    : facts_(facts),
      public_(facts_of(facts, request.kind)),
      choice_(chosen(request, public_)),
      route_(make_route(choice_.method, public_, request.budget, request.options)) {}

Explanation LinearTraining::explain() const {
  Explanation e{.method = choice_.method, .reason = choice_.reason, .words = route_->describe()};
  e.assumptions = {
      fmt::format("encoded records have l2 norm at most {:.6g}; longer ones are scaled down",
                  facts_.encoder->norm_bound())};
  for (std::string& more : route_->assumptions()) e.assumptions.push_back(std::move(more));
  return e;
}

ExactRows LinearTraining::no_rows() const {
  return ExactRows(facts_.encoder->width(), facts_.encoder->norm_bound(), kIntercept);
}

ExactRows LinearTraining::exact_rows(const Table& table, unsigned threads) const {
  ExactRows rows = no_rows();
  const bool binary = public_.kind != LinearKind::linear && public_.outputs == 1;
  rows.add_all(
      table.rows(),
      [&](std::size_t i, std::span<float> features) {
        table.row(i, features);
        const double target = table.targets()[i];
        return static_cast<float>(binary ? 2 * target - 1 : target);
      },
      threads);
  return rows;
}

// Their number is that of the coordinates at least: fewer records would not be worth walking
// through a matrix of sums.
RecordSums LinearTraining::sums(Source& source) const {
  RecordSums total = route_->sums(no_rows());
  const std::size_t second = total.second.size(), cross = total.cross.size();
  const std::vector<int128> sums = source.sum(
      second + cross + 1,
      [&](const Table& block, std::span<int128> all) {
        const RecordSums part = route_->sums(exact_rows(block, 1));
        for (std::size_t i = 0; i < second; ++i) all[i] += part.second[i];
        for (std::size_t i = 0; i < cross; ++i) all[second + i] += part.cross[i];
        all[second + cross] += part.records;
      },
      public_.dimension);
  std::copy_n(sums.begin(), second, total.second.begin());
  std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(second), cross, total.cross.begin());
  total.records = static_cast<std::uint64_t>(sums.back());
  return total;
}

CodedRows LinearTraining::coded_rows(Source& source) const {
  const bool binary = public_.kind != LinearKind::linear && public_.outputs == 1;
  const CodedRows::TargetOf target_of =
      binary ? +[](double target) { return static_cast<float>(2 * target - 1); }
             : +[](double target) { return static_cast<float>(target); };
  CodedRows rows(*facts_.encoder, kIntercept);
  if (const Table* table = source.in_memory()) {
    rows.add_all(*table, target_of, 0);
    return rows;
  }
  rows.reserve(public_.rows);  // as declared
  source.map<CodedRows>(
      [&](const Table& part) {
        CodedRows coded(rows, nullptr);
        coded.add_all(part, target_of, 1);
        return coded;
      },
      [&](CodedRows&& part) { rows.append(part); });
  return rows;
}

LinearFit LinearTraining::fit(Source& source, Rng& rng, Progress* progress) const {
  if (route_->sums_suffice()) return route_->fit_sums(no_rows(), sums(source), rng);
  if (route_->takes_codes() && CodeBook::fits(*facts_.encoder))
    return route_->fit_codes(coded_rows(source), rng, progress);
  if (const Table* table = source.in_memory())
    return route_->fit(exact_rows(*table, 0), rng, progress);
  ExactRows rows = no_rows();
  rows.reserve(public_.rows);  // as declared
  source.map<ExactRows>([&](const Table& part) { return exact_rows(part, 1); },
                        [&](ExactRows&& part) { rows.append(part); });
  return route_->fit(rows, rng, progress);
}

TrainedModel LinearTraining::run(Source& source, Rng& rng, RunControl& control) {
  Progress progress(control.shown(0));
  LinearFit fitted = fit(source, rng, &progress);
  progress.finish();
  return std::move(fitted).then(
      [&](LinearModel&& model) { return fitted_model(std::move(model), facts_); });
}

}  // namespace sotto
