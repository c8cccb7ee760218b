// The one seam between commands that touch private data and the budget ledger.
//
//   Payment payment(arguments, spec, unit);      // from --ledger, --dataset, …; free of charge when no ledger is named
//   if (dry) payment.quote(context, json);       // "would this fit?"
//   payment.reserve(context);                    // durable, BEFORE private data is read
//   … read, compute: payment.guard([&] { … });   // a file that is not there or not the declared one gives the reservation back
//   payment.commit(context);                     // durable, BEFORE the result leaves the process
// A crash in between leaves the reservation spent. A later run with the same --key takes it up again; once committed, a key is used up.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "context.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/data/source_error.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {

// --ledger, --dsn-file, --dataset, --key, --part, --purpose. A command that has its own --dataset leaves that one out.
std::vector<Option> payment_options(bool with_dataset = true);

// Where the ledger is: --ledger (or the option of another name), --dsn-file, SOTTO_LEDGER; nothing when none is given.
std::optional<ledger::StoreLocation> store_location(const Arguments& arguments,
                                                    const std::string& option);

// "charged epsilon = 0.30 to census-2026; 1.20 of 3 left"
std::string statement_of(const ledger::Receipt& receipt, const Spec& spec,
                         const std::string& verb = "charged");
nlohmann::ordered_json to_json(const ledger::Receipt& receipt);

class Payment {
 public:
  // Without a spec the command makes no private release: naming a ledger is then an error. Opens nothing yet.
  Payment(const Arguments& arguments, std::optional<Spec> spec, std::string unit);

  bool active() const { return location_.has_value(); }
  // Says whether it would fit, also in `json` under "ledger"; throws BudgetExceeded after saying no.
  void quote(Context& context, nlohmann::ordered_json& json);
  // Work that goes on after a crash: only the run of this name takes the reservation up again. Before reserve().
  void belongs_to(const std::string& run) { charge_.run = run; }
  // result: names a result that is already fixed and waits to be written out; a committed reservation is good for the result that
  // commit() named, and for nothing else.
  void reserve(Context& context, const std::string& result = {});
  // Runs what reads private data. A file that is absent or has another header gives the reservation back: that depends on public facts, so
  // the ledger may say it. A row that cannot be parsed does not: the ledger's entry would tell its readers something about one record. The
  // reservation then stays open, as after a crash, and a run with the same key takes it up once the file is corrected.
  template <class Work>
  auto guard(Work&& work) {
    try {
      return work();
    } catch (const SourceError&) {
      give_back();
      throw;
    } catch (const DataError& error) {
      throw stays_open(error);
    }
  }
  void commit(Context& context, const std::string& result = {});

  // After commit: what certificates and JSON results quote. Nothing without a ledger.
  const std::optional<ledger::Receipt>& receipt() const { return receipt_; }
  void add_to(nlohmann::ordered_json& json) const;
  std::optional<LedgerReference> reference() const;

 private:
  void give_back() noexcept;
  DataError stays_open(const DataError& error) const;

  std::optional<ledger::StoreLocation> location_;
  ledger::Charge charge_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<ledger::Receipt> receipt_;
};

}  // namespace sotto::cli
