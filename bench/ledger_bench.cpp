// Durable charges on SQLite against the least anybody could do: appending a line to a file and
// syncing it. And the time to show 10 000 entries.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "interleaved.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/ledger.hpp"

namespace {

using namespace sotto;
using namespace sotto::ledger;
namespace fs = std::filesystem;

constexpr int kBatch = 50;

struct Place {
  fs::path path = fs::temp_directory_path() / fmt::format("sotto-ledger-bench-{}", getpid());
  Place() { fs::create_directories(path); }
  ~Place() { fs::remove_all(path); }
};

Dataset dataset(const char* name) {
  Dataset d;
  d.name = name, d.epsilon = 1e6, d.delta = 1e-6, d.own_delta = 2.5e-7;
  return d;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  const Place place;
  Ledger ledger = Ledger::open({(place.path / "budget.db").string()}, OpenMode::create);
  ledger.create(dataset("bench"));
  const Event event = poisson_sampled(GaussianEvent::from_multiplier(1.1), 0.01);
  int n = 0;
  const auto charge = [&](const char* name) {
    ledger.charge(
        {.dataset = name, .spec = {Relation::add_remove, {event}}, .key = std::to_string(++n)});
  };
  const std::string line = ledger.head().body + "\n";
  const int file = ::open((place.path / "lines").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  report.table("durable charges", "charges", 1,
               {{"sotto ledger on SQLite",
                 [&] {
                   for (int i = 0; i < kBatch; ++i) charge("bench");
                 },
                 kBatch},
                {"append a line and fsync",
                 [&] {
                   for (int i = 0; i < kBatch; ++i) {
                     if (::write(file, line.data(), line.size()) < 0 || ::fsync(file) != 0)
                       std::abort();
                   }
                 },
                 kBatch}});
  ::close(file);
  ledger.create(dataset("long"));
  while (n < 10000) charge("long");
  report.table("showing 10 000 entries, tight epsilon included", "listings", 1,
               {{"read, add up, tight epsilon",
                 [&] {
                   for (const Account& a : ledger.accounts()) {
                     const auto all = releases(ledger.entries(a.dataset().name));
                     if (!fixed_in_advance(a.dataset(), all)) std::abort();
                   }
                 },
                 1}},
               5);
  return report.finish();
}
