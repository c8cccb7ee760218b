// A map over a stream of items by several threads whose results are consumed in the order of the
// stream.
//
// What the consumer sees, including which error comes first, does not depend on the number of
// threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace sotto {

// produce(Item&) -> bool   one call at a time, false at the end; may reuse what the item holds
// map(Item&) -> Result     concurrently
// consume(Result&&)        on the calling thread, in order
template <class Item, class Result, class Produce, class Map, class Consume>
void ordered_map(unsigned threads, Produce produce, Map map, Consume consume) {
  if (threads <= 1) {
    Item item;
    while (produce(item)) consume(map(item));
    return;
  }

  using Outcome = std::variant<Result, std::exception_ptr>;
  const std::uint64_t window = 2ULL * threads;  // items in flight: bounds the memory
  std::mutex source_mutex, mutex;
  std::condition_variable room, ready;
  std::map<std::uint64_t, Outcome> done;
  std::uint64_t taken = 0, consumed = 0;  // taken: by source_mutex and mutex; the rest by mutex
  bool ended = false, stop = false;

  const auto deliver = [&](std::uint64_t ticket, Outcome outcome) {
    const std::lock_guard lock(mutex);
    done.emplace(ticket, std::move(outcome));
    ready.notify_one();
  };
  const auto work = [&] {
    Item item;
    for (;;) {
      std::uint64_t ticket = 0;
      {
        const std::lock_guard source_lock(source_mutex);
        {
          std::unique_lock lock(mutex);
          room.wait(lock, [&] { return stop || ended || taken < consumed + window; });
          if (stop || ended) return;
          ticket = taken;
        }
        bool more = false;
        std::exception_ptr failure;
        try {
          more = produce(item);
        } catch (...) {
          failure = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (failure) done.emplace(ticket, failure);
        if (more || failure) ++taken;
        if (!more) {
          ended = true;
          ready.notify_one();
          return;
        }
      }
      try {
        deliver(ticket, Outcome(std::in_place_index<0>, map(item)));
      } catch (...) {
        deliver(ticket, Outcome(std::in_place_index<1>, std::current_exception()));
      }
    }
  };

  std::vector<std::jthread> workers;
  const auto shut_down = [&] {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    room.notify_all();
    workers.clear();
  };
  try {
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
    for (;;) {
      std::unique_lock lock(mutex);
      ready.wait(lock, [&] { return done.contains(consumed) || (ended && consumed == taken); });
      if (!done.contains(consumed)) break;
      Outcome outcome = std::move(done.extract(consumed).mapped());
      lock.unlock();
      if (outcome.index() == 1) std::rethrow_exception(std::get<1>(outcome));
      consume(std::move(std::get<0>(outcome)));
      lock.lock();
      ++consumed;
      lock.unlock();
      room.notify_all();
    }
  } catch (...) {
    shut_down();
    throw;
  }
  shut_down();
}

}  // namespace sotto
