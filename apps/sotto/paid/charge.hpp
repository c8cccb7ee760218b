// The one seam between commands that touch private data and the budget ledger.
//
// A Payment quotes ("would this fit?") and pays: it reserves, durably, before private data is read,
// and commits, durably, before the result leaves the process. A crash in between leaves the
// reservation spent. A later run with the same --key takes it up again; once committed, a key is
// used up. Commands do not call it step by step: perform() in ritual.hpp does.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/arguments.hpp"
#include "paid/fingerprinting.hpp"
#include "shell/context.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/source_error.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {

// --ledger, --dsn-file, --dataset, --key, --part, --purpose, --by, --fingerprint-key. A command
// that has its own --dataset leaves that one out.
std::vector<Option> payment_options(bool with_dataset = true);

// Where the ledger is: --ledger (or the option of another name), --dsn-file, SOTTO_LEDGER; nothing
// when none is given.
std::optional<ledger::StoreLocation> store_location(const Arguments& arguments,
                                                    const std::string& option);

// Who asks: --by, else the name of the user, else the number of the user. Never empty.
std::string who_asks(const Arguments& arguments);

// "charged to census-2026: epsilon = 1 on its own, adds 0.26 to the total; 0.61 of 3 left; the
// largest single run like this that still fits: epsilon = 0.4"
std::string statement_of(const ledger::Receipt& receipt, const Spec& spec, const std::string& verb,
                         std::optional<double> largest);
// ε of the release on its own, at the δ of the data set; nothing where there is none.
std::optional<double> own_epsilon(const ledger::Receipt& receipt, const Spec& spec);
nlohmann::ordered_json to_json(const ledger::Receipt& receipt);
nlohmann::ordered_json tally_json(const ledger::Tally& tally);

class Payment {
 public:
  // Without a spec the command makes no private release: naming a ledger is then an error. Opens
  // nothing yet. what: the release in words, kept in the ledger.
  Payment(const Arguments& arguments, std::optional<Spec> spec, std::string unit,
          const std::string& what);

  bool active() const { return location_.has_value(); }
  // The statement about the data at hand that will come with the result.
  void announce(const ledger::Announcement& announced) { charge_.announced = announced; }
  // Whether the ledger, if there is one, can express what it costs and has it left. Writes nothing.
  bool would_fit() const;
  // Says whether it would fit, also in `json` under "ledger"; throws BudgetExceeded after saying
  // no.
  void quote(Context& context, nlohmann::ordered_json& json);
  // Reserves, runs the work that reads private data, settles, commits, and hands out the result.
  // run: of work that goes on after a crash, only the run of this name takes the reservation up.
  // result: names a result that is fixed already and waits to be written out; a committed
  // reservation is good for the result that it was committed with, and for nothing else.
  // settle(value): the last thing before the commit; returns the name of the result, if it has one.
  // undo(): called when nothing has begun or the reservation was given back.
  // said(value): what the result says about the data at hand, for a tally.
  template <class Work, class Settle, class Said, class Undo>
  auto pay(Context& context, const std::string& run, const std::string& result, Work&& work,
           Settle&& settle, Said&& said, Undo&& undo) {
    charge_.run = run;
    try {
      reserve(context, result);
    } catch (...) {
      undo();
      throw;
    }
    auto value = [&] {
      try {
        return work();
      } catch (const SourceError&) {
        give_back();
        undo();
        throw;
      } catch (const DataError& error) {
        if (!active()) undo();  // a reservation that stays open is taken up by this run only
        throw stays_open(error);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::interrupted) throw;
        throw Error(error.code(), error.what(), with_reservation(error.hint()));
      }
    }();
    const std::string name = settle(value);
    commit(context, name, said(value));
    return value;
  }

  // Of the data that was read, under --fingerprint-key; empty without one. After the data was read.
  std::string fingerprint() const { return data_.text(); }

  // After commit: what certificates and JSON results quote. Nothing without a ledger.
  const std::optional<ledger::Receipt>& receipt() const { return receipt_; }
  void add_to(nlohmann::ordered_json& json) const;
  std::optional<LedgerReference> reference() const;

 private:
  // Compares the names of columns, which are public, with what the data set declares, before
  // anything is charged.
  void check_binding(ledger::Ledger& ledger);
  void reserve(Context& context, const std::string& result);
  // Throws, and commits nothing, when the data set declares a fingerprint and the data that was
  // read has another.
  void commit(Context& context, const std::string& result,
              const std::optional<ledger::Statement>& said);
  // A file that is absent or has another header gives the reservation back: that depends on public
  // facts, so the ledger may say it. A row that cannot be parsed does not: the ledger's entry would
  // tell its readers something about one record. The reservation then stays open, as after a crash,
  // and a run with the same key takes it up once the file is corrected.
  void give_back() noexcept;
  // Which reservation stays, and how it is taken up again.
  std::string with_reservation(const std::string& hint) const;
  DataError stays_open(const DataError& error) const;

  std::string path_;  // of the data
  CsvOptions reading_;
  DataFingerprint data_;
  std::string declared_;  // the fingerprint that the data set declares
  std::optional<ledger::StoreLocation> location_;
  ledger::Charge charge_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<ledger::Receipt> receipt_;
};

}  // namespace sotto::cli
