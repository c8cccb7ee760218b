#include "sotto/pate/teachers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/pate/partition.hpp"

namespace sotto::pate {
namespace {

// What the family made of the part; nothing when it could not learn from it.
std::optional<TrainedModel> trained(const Family& family, const Facts& facts,
                                    const TrainingRequest& request, const Table& part, Rng& rng) {
  if (part.rows() == 0) return std::nullopt;
  try {
    const auto plan = plan_training(family, facts, request);
    const auto source = table_in_memory(part, 1);
    return plan->run(*source, rng);
  } catch (const std::exception&) {
    return std::nullopt;  // what went wrong is private
  }
}

}  // namespace

void train_teachers(const Family& family, const Facts& facts, const TrainingRequest& request,
                    const Table& records, std::uint64_t teachers, const std::string& key, Rng& rng,
                    const TeacherControl& control) {
  if (request.method != "none")
    throw InvalidArgument("teachers learn without noise: the method must be none");
  // As many records as a part has on average, where the schema declares how many there are.
  Facts own = facts;
  if (own.rows)
    own.rows = std::max<std::uint64_t>(1, *own.rows / std::max<std::uint64_t>(1, teachers));
  // Whatever is wrong with the request itself is said once, and not hidden in every part.
  (void)plan_training(family, own, request);
  const auto parts = partition(records, facts, teachers, key);
  std::vector<Rng> generators;
  for (std::uint64_t i = 0; i < teachers; ++i) generators.push_back(rng.split());
  Progress progress(control.progress);
  std::mutex mutex;
  std::uint64_t done = 0;
  std::atomic<bool> stopped{false};
  parallel_blocks(teachers, control.threads, [&](std::size_t i, unsigned) {
    if (stopped || (control.stop && control.stop())) {
      stopped = true;
      return;
    }
    if (!control.has || !control.has(i)) {
      auto model = trained(family, own, request, rows_of(records, parts[i]), generators[i]);
      const std::lock_guard lock(mutex);
      control.keep(i, std::move(model));
    }
    const std::lock_guard lock(mutex);
    progress.advance(++done);
  });
  if (stopped) progress.stop();
  if (stopped) throw Error(ErrorCode::interrupted, "stopped; finished teachers are kept");
  progress.finish();
}

std::vector<double> opinions(const Model& model, const Table& records, std::size_t classes) {
  const std::size_t columns = model.columns().size();
  const std::vector<double> values = model.apply(Block(records));
  if (columns != classes + 2 || values.size() != records.rows() * columns)
    throw InvalidArgument("a teacher must say how likely every class is");
  std::vector<double> result(records.rows() * classes);
  for (std::size_t i = 0; i < records.rows(); ++i)
    for (std::size_t j = 0; j < classes; ++j) {
      const double p = values[i * columns + 2 + j];
      result[i * classes + j] = p >= 0 && p <= 1 ? p : 0;
    }
  return result;
}

Votes count_votes(const Teachers& teachers, const Table& pool, std::span<const std::size_t> queries,
                  std::size_t classes, const Smoothing& smoothing, unsigned threads) {
  const Table asked = smoothing ? Table(pool.encoder()) : rows_of(pool, queries);
  std::vector<std::vector<std::uint32_t>> chosen(teachers.size());
  parallel_blocks(teachers.size(), threads, [&](std::size_t t, unsigned) {
    const auto fixed = static_cast<std::uint32_t>(t % classes);
    chosen[t].assign(queries.size(), fixed);
    if (!teachers[t]) return;
    try {
      std::vector<double> all = opinions(*teachers[t], smoothing ? pool : asked, classes);
      if (smoothing) smoothing(all);
      for (std::size_t q = 0; q < queries.size(); ++q) {
        const auto first =
            all.begin() + static_cast<std::ptrdiff_t>((smoothing ? queries[q] : q) * classes);
        const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(classes));
        if (*best > 0 && std::isfinite(*best))
          chosen[t][q] = static_cast<std::uint32_t>(best - first);
      }
    } catch (const std::exception&) {
      chosen[t].assign(queries.size(), fixed);
    }
  });
  Votes votes{.classes = classes, .teachers = teachers.size(), .counts = {}};
  votes.counts.assign(queries.size() * classes, 0);
  for (const auto& choice : chosen)
    for (std::size_t q = 0; q < queries.size(); ++q) ++votes.counts[q * classes + choice[q]];
  return votes;
}

}  // namespace sotto::pate
