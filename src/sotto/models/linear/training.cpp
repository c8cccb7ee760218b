#include "sotto/models/linear/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <variant>

#include "sotto/core/error.hpp"

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

// The sums of a route over records that come part by part, from any thread and in any order: they are integers. Rows wait until there are as many
// as coordinates; fewer would not be worth walking through a matrix of sums.
class OnePass {
 public:
  OnePass(const LinearRoute& route, const ExactRows& none)
      : route_(route), total_(route.sums(none)) {}

  void add(ExactRows&& part) {
    ExactRows batch = joined(std::move(part));
    if (batch.size() >= batch.dimension()) {
      const RecordSums sums = route_.sums(batch);
      const std::lock_guard lock(mutex_);
      total_.add(sums);
    } else {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(batch));
    }
  }
  const RecordSums& finish() {
    for (const ExactRows& batch : waiting_) total_.add(route_.sums(batch));
    waiting_.clear();
    return total_;
  }

 private:
  // With a batch that waits, if there is one. At most one waits for each thread.
  ExactRows joined(ExactRows&& part) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) return std::move(part);
    ExactRows batch = std::move(waiting_.back());
    waiting_.pop_back();
    lock.unlock();
    batch.append(part);
    return batch;
  }

  const LinearRoute& route_;
  std::mutex mutex_;
  RecordSums total_;
  std::vector<ExactRows> waiting_;
};

MethodChoice chosen(const TrainingRequest& request, const PublicFacts& facts) {
  if (request.method != Method::automatic) return {request.method, "asked for"};
  if (!request.budget) {
    throw InvalidArgument("training needs a budget",
                          "give --epsilon, --epsilon with --delta, or --rho");
  }
  return choose_method(facts, *request.budget);
}

}  // namespace

PublicFacts facts_of(const Encoder& encoder, LinearKind kind) {
  const Schema& schema = encoder.schema();
  const bool classification = encoder.target().is_categorical() || !encoder.target().is_numeric();
  if (classification != (kind != LinearKind::linear)) {
    throw InvalidArgument(
        fmt::format("the model {} does not fit the target '{}', which is {}", name(kind),
                    encoder.target().column().name, classification ? "a class" : "a number"),
        classification ? "use --model logistic or svm" : "use --model linear");
  }
  PublicFacts facts{.kind = kind,
                    .relation = schema.relation,
                    .dimension = encoder.width() + 1,
                    .contributions = schema.unit == Unit::user ? schema.max_contributions : 1,
                    .norm_bound = encoder.norm_bound(),
                    .columns = columns_of(encoder)};
  if (classification) {
    const std::size_t classes = encoder.target().labels().size();
    if (classes < 2) {
      throw DataError("the target has fewer than two declared classes",
                      "declare all classes in the schema");
    }
    facts.outputs = classes == 2 ? 1 : classes;
  }
  if (!schema.rows) {
    throw DataError("the schema declares no number of rows",
                    "add rows = N at its top: a public number, used as divisor; it need not be "
                    "exact under add_remove");
  }
  facts.rows = *schema.rows;
  return facts;
}

LinearTraining::LinearTraining(const Encoder& encoder, const TrainingRequest& request)
    : encoder_(encoder),
      facts_(facts_of(encoder, request.kind)),
      choice_(chosen(request, facts_)),
      route_(make_route(choice_.method, facts_, request.budget, request.options)) {}

std::vector<std::string> LinearTraining::assumptions() const {
  const Schema& schema = encoder_.schema();
  std::vector<std::string> list = {
      fmt::format("the schema (columns, bounds, categories, {} rows) is public and was not read "
                  "from this data",
                  facts_.rows),
      fmt::format("encoded records have l2 norm at most {:.6g}; longer ones are scaled down",
                  encoder_.norm_bound())};
  if (schema.unit == Unit::user) {
    list.push_back(fmt::format("at most {} records of a user are used", schema.max_contributions));
  }
  for (std::string& more : route_->assumptions()) list.push_back(std::move(more));
  return list;
}

ExactRows LinearTraining::exact_rows(const Table& table, unsigned threads) const {
  ExactRows rows(encoder_.width(), encoder_.norm_bound(), kIntercept);
  const bool binary = facts_.kind != LinearKind::linear && facts_.outputs == 1;
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

LinearTraining::Fit LinearTraining::run(const Table& table, Rng& rng, Progress* progress) const {
  return route_->fit(exact_rows(table, 0), rng, progress);
}

LinearTraining::Fit LinearTraining::run(const std::string& path, const TableOptions& options,
                                        Rng& rng, Progress* progress) const {
  ExactRows rows(encoder_.width(), encoder_.norm_bound(), kIntercept);
  if (route_->sums_suffice()) {
    OnePass pass(*route_, rows);
    map_table<std::monostate>(
        path, encoder_,
        [&](const Table& part) {
          pass.add(exact_rows(part, 1));
          return std::monostate{};
        },
        [](std::monostate&&) {}, options);
    return route_->fit_sums(rows, pass.finish(), rng);
  }
  rows.reserve(facts_.rows);  // as declared
  map_table<ExactRows>(
      path, encoder_, [&](const Table& part) { return exact_rows(part, 1); },
      [&](ExactRows&& part) { rows.append(part); }, options);
  return route_->fit(rows, rng, progress);
}

}  // namespace sotto
