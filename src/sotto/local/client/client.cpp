#include "sotto/local/client/client.hpp"

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/record.hpp"

namespace sotto::local {
namespace {

constexpr std::string_view kReports = "#reports";

// The largest n with n·ε ≤ budget.
std::uint64_t affordable(double budget, double epsilon) {
  const double n = std::floor(budget / epsilon);
  if (!(n < 0x1p53)) return ~std::uint64_t{0};
  auto result = static_cast<std::uint64_t>(n);
  while (result > 0 && multiply_up(static_cast<double>(result), epsilon) > budget) --result;
  return result;
}

}  // namespace

Client::Client(const Declaration& declaration, const Randomizer& randomizer,
               ClientSettings settings)
    : declaration_(declaration),
      randomizer_(randomizer),
      settings_(std::move(settings)),
      tag_(tag_of(declaration)) {
  if (!(settings_.lifetime_epsilon > 0))
    throw InvalidArgument("`lifetime_epsilon` must be above 0");
  const bool limited = settings_.lifetime_epsilon < kInfinity;
  if (limited && settings_.store == nullptr)
    throw InvalidArgument("a lifetime budget needs a store that remembers what was spent");
  const double permanent = randomizer.epsilon_permanent();
  if (permanent == kInfinity) return;
  if (settings_.store != nullptr) {
    memory_ = std::make_unique<StoredMemory>(*settings_.store,
                                             affordable(settings_.lifetime_epsilon, permanent));
  } else if (!settings_.secret.empty()) {
    memory_ = std::make_unique<KeyedMemory>(settings_.secret);
  }
}

void Client::answer(const Value& value, Rng& rng, std::span<std::uint8_t> report) {
  if (memory_ == nullptr && settings_.lifetime_epsilon < kInfinity) {
    const auto known = settings_.store->find(kReports);
    const std::uint64_t made = known ? std::stoull(*known) : 0;
    if (made >= affordable(settings_.lifetime_epsilon, randomizer_.epsilon()))
      throw BudgetExceeded("the client's lifetime budget allows no further report",
                           "nothing was reported");
    settings_.store->keep(kReports, std::to_string(made + 1));
  }
  randomizer_.answer(value, memory_.get(), rng, report);
}

void Client::report(const Value& value, std::optional<std::uint64_t> epoch, Rng& rng,
                    std::string& out) {
  if (epoch.value_or(0) >= declaration_.whole("epochs"))
    throw InvalidArgument("the epoch is not below the number of epochs that is declared",
                          "declare more `epochs`; each may cost its own epsilon");
  std::vector<std::uint8_t> bytes(randomizer_.report_bytes());
  answer(value, rng, bytes);
  append_record(out, {.tag = tag_, .client = settings_.id, .epoch = epoch, .report = bytes});
}

}  // namespace sotto::local
