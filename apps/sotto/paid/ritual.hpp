// The paid ritual, once: plan → quote → reserve → read → run → commit → certify → publish.
//
// Every command that releases something about private data says what it plans, how it runs and how
// the result is published; perform() does these in the one order that keeps the promise: durable
// before private data is read, durable before anything leaves the process. Payment's steps can be
// called from nowhere else.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands/commands.hpp"
#include "paid/charge.hpp"

namespace sotto::cli {

// What is known when everything but the payment is ready.
struct Ready {
  std::string run = {};     // work that goes on after a crash: only this run takes the charge up
  std::string result = {};  // names a result that is fixed already: it needs no data any more
};

template <class Result>
struct PaidWork {
  using Json = nlohmann::ordered_json;

  std::optional<Spec> spec;  // none: NOT PRIVATE, and no ledger may be named
  std::string unit = "record";
  std::string what = {};       // the release in words, kept in the ledger: "mean of age"
  bool charged = true;         // false: the data is public, whatever ledger the environment names
  Json json = Json::object();  // what is known before; a quote is added to it
  std::function<void(const Json&)> show;  // the quote of a dry run
  // Finds what would fail before the budget is asked: keys, places, memory.
  std::function<Ready(Rng&, const Payment*)> prepare = {};
  // Nothing has begun, or it was given back: clears away what prepare() has left.
  std::function<void()> undo = {};
  std::function<Result(Rng&)> run;  // reads private data
  // The last thing before the charge is final; returns the name of the result, if it has one.
  std::function<std::string(Result&)> settle = {};
  // A release that says what it costs the data at hand.
  ledger::Announcement announced = {};
  std::function<std::optional<ledger::Statement>(const Result&)> said = {};
  // Certifies and writes. The JSON is complete but for what only the result knows.
  std::function<void(Result&&, Json&&, Rng&, const Payment*)> publish;
};

// Finds a certificate, or standard output, that cannot be written. (--output is open already.)
void check_places_of_results(const Arguments& arguments);

template <class Result>
void perform(const Arguments& arguments, Context& context, PaidWork<Result> work) {
  std::optional<Payment> payment;
  if (work.charged) payment.emplace(arguments, work.spec, work.unit, work.what);
  // Noise that somebody chose says nothing about the data: such a release stays at its guarantee.
  const bool chosen = arguments.given("insecure-seed");
  if (payment && !chosen) payment->announce(work.announced);
  if (arguments.flag("dry-run")) {
    work.json["dry_run"] = true;
    if (payment) payment->quote(context, work.json);
    work.show(work.json);
    return;
  }
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  Payment* const paying = payment ? &*payment : nullptr;
  check_places_of_results(arguments);
  const Ready ready = work.prepare ? work.prepare(rng, paying) : Ready{};
  const auto run = [&] { return work.run(rng); };
  const auto settle = [&](Result& result) { return work.settle ? work.settle(result) : ""; };
  const auto said = [&](const Result& result) {
    return work.said && !chosen ? work.said(result) : std::nullopt;
  };
  const auto undo = [&] {
    if (work.undo) work.undo();
  };
  Result result = paying != nullptr
                      ? paying->pay(context, ready.run, ready.result, run, settle, said, undo)
                      : run();
  work.publish(std::move(result), std::move(work.json), rng, paying);
}

// One JSON document, whole or not at all.
void write_certificate(const std::string& path, const Certificate& certificate);

}  // namespace sotto::cli
