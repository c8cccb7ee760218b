#include "sotto/accounting/composition/run_length.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"

namespace sotto {
namespace {

// A few different events are compared with each other. Many are looked up by how they are written:
// a list of a hundred thousand would take hours otherwise, whoever has to read it.
class RunCollector {
 public:
  void collect(const Event& event, std::uint64_t count) {
    if (const auto* r = event.get_if<RepeatEvent>()) {
      std::uint64_t product = 0;
      if (__builtin_mul_overflow(count, r->count, &product))
        throw AccountingError("the number of repetitions exceeds 2^64");
      return collect(*r->event, product);
    }
    if (const auto* c = event.get_if<ComposeEvent>()) {
      for (const Event& e : c->events) collect(e, count);
      return;
    }
    Run* known = find(event);
    if (known == nullptr) {
      runs_.push_back({event, count});
    } else if (__builtin_add_overflow(known->count, count, &known->count)) {
      throw AccountingError("the number of repetitions exceeds 2^64");
    }
  }
  std::vector<Run> all() && { return std::move(runs_); }

 private:
  Run* find(const Event& event) {
    constexpr std::size_t kFew = 64;
    if (runs_.size() < kFew) {
      for (Run& run : runs_)
        if (run.event == event) return &run;
      return nullptr;
    }
    for (; written_ < runs_.size(); ++written_)
      places_.emplace(to_json(runs_[written_].event).dump(), written_);
    const auto [first, last] = places_.equal_range(to_json(event).dump());
    for (auto it = first; it != last; ++it)
      if (runs_[it->second].event == event) return &runs_[it->second];
    return nullptr;
  }

  std::vector<Run> runs_;
  std::size_t written_ = 0;  // of these are in places_
  std::unordered_multimap<std::string, std::size_t> places_;
};

}  // namespace

std::vector<Run> run_lengths(const Event& event) {
  RunCollector collector;
  collector.collect(event, 1);
  return std::move(collector).all();
}

}  // namespace sotto
