// sotto inspect: is this model private, and how much? sotto verify: is what its certificate says
// true?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "families.hpp"
#include "options/model_options.hpp"
#include "paid/charge.hpp"
#include "paid/fingerprinting.hpp"
#include "paid/ritual.hpp"
#include "shell/output_file.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/statement.hpp"
#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/fingerprint.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/verify.hpp"
#include "sotto/report/portrait_drawing.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

bool is_alone(const std::string& place) { return std::filesystem::is_regular_file(place); }

// What is asked about: a directory, a certificate, or a file with its certificate beside it, as
// sotto synthesize writes them.
struct Asked {
  std::string place;  // the directory or the certificate
  std::string file;   // by which the certificate was found; else empty
};

Asked asked_about(const std::string& named) {
  const std::filesystem::path path(named);
  if (!is_alone(named) || path.extension() == ".json") return {named, {}};
  const std::string beside = (path.parent_path() / path.stem()).string() + ".certificate.json";
  // Certificates may have any name; then there is none beside them.
  if (!std::filesystem::exists(beside)) return {named, {}};
  return {beside, path.filename().string()};
}

// The certificate that lies beside a file must speak of it; the digests are checked with it.
void check_named(const Certificate& c, const Asked& asked) {
  if (asked.file.empty()) return;
  const bool named =
      std::ranges::any_of(c.files, [&](const auto& file) { return file.first == asked.file; });
  if (c.family.empty() || !named)
    throw VerificationFailed(fmt::format("'{}' does not speak of '{}'", asked.place, asked.file),
                             "name the certificate of this very file");
}

// Of a directory with the files it certifies, whose digests are checked, or of a release: a file
// alone, or beside the files that it certifies.
Certificate certificate_in(const std::string& place, const std::string& text) {
  if (!is_alone(place)) return read_certified(place, text).certificate;
  Certificate c = certificate_from_json(parse_json(text, fmt::format("'{}'", place)));
  // Of a release that is files, these are beside it.
  if (c.family.empty()) return c;
  const std::string beside = std::filesystem::path(place).parent_path().string();
  return read_certified(beside.empty() ? "." : beside, text).certificate;
}

// Nothing when there is no signature; with a key there must be one, and by that key.
std::optional<SignedBy> check_signature(const CertificateText& text,
                                        const std::optional<std::string>& key) {
  if (!text.signature.empty())
    return check_certificate_signature(text.certificate, text.signature, key);
  if (key)
    throw VerificationFailed("the certificate is not signed", "do not rely on this artifact");
  return std::nullopt;
}

std::string signature_text(const std::optional<SignedBy>& by) {
  if (!by) return "signature: none";
  return fmt::format("signature: by key {}, {}", by->key_fingerprint,
                     by->expected ? "the expected one"
                                  : "compared with none: --signed-by PUB says whose it must be");
}

// What can be seen of a model: one tree in words, or what --draw asks for.
void show_portrait(const std::string& place, const Certificate& c, const Arguments& arguments,
                   Context& context) {
  const bool asked = arguments.given("draw");
  const Family* const family = find_family(families(), c.family);
  const bool here = !is_alone(place) && family != nullptr && family->load != nullptr;
  if (!here && !asked) return;
  const Portrait portrait = here ? read_artifact(place, families()).model->portrait() : Portrait{};
  if (asked) {
    if (portrait.empty())
      throw Unsupported(fmt::format("there is nothing to draw in '{}'", place),
                        "trees, forests and additive models can be drawn");
    write_file(arguments.text("draw"), to_svg(portrait));
    return;
  }
  if (portrait.trees.size() == 1) context.out.print("{}", Lines{to_text(portrait)});
}

void run_inspect(const Arguments& arguments, Context& context) {
  const Asked asked = asked_about(arguments.positionals().front());
  const std::string& place = asked.place;
  const CertificateText text = read_certificate_text(place);
  if (!text.certificate.starts_with('{'))
    throw DataError(fmt::format("'{}' is no certificate, and none is beside it", place),
                    "name a model's directory, or the .json that was written with a result");
  const Certificate c = certificate_in(place, text.certificate);
  check_named(c, asked);
  const std::string what = is_alone(place) ? "release" : "model";
  if (arguments.flag("json")) {
    context.out.print("{}\n", to_json(c).dump());
    return;
  }
  if (!c.is_private()) {
    context.out.print(
        "{}\n", context.bold(fmt::format(
                    "This {} is NOT PRIVATE: it was made without differential privacy.", what)));
    show_portrait(place, c, arguments, context);
    return;
  }
  context.out.print("{}\n", context.bold(fmt::format(
                                "This {} is differentially private: epsilon = {}, delta = {}.",
                                what, round_up(c.epsilon), round_up(c.delta))));
  if (!c.secure())
    context.out.print("{}\n", context.bold("INSECURE: it was made with a fixed seed, so it is NOT "
                                           "PRIVATE against anyone who knows the seed."));
  Bound bound{.upper = c.epsilon,
              .lower = 0,
              .accountant = parse_accountant(c.accountant),
              .conversion = c.conversion};
  if (c.delta > 0)
    context.out.print("{}",
                      Lines{statement(*c.spec, Delta(c.delta), bound, "one " + visible(c.unit))});
  context.out.print("method: {}: {}\n", c.method, c.description);
  if (!c.noise.empty()) context.out.print("noise: {}\n", c.noise);
  for (const std::string& assumption : c.assumptions)
    context.out.print("assumes: {}\n", assumption);
  if (c.draft)
    context.out.print(
        "schema: estimated from the data with epsilon = {}, delta = {}; together with it epsilon = "
        "{}, delta = {}\n",
        round_up(c.draft->epsilon), round_up(c.draft->delta), round_up(c.draft->epsilon_together),
        round_up(c.draft->delta_together));
  if (c.ledger)
    context.out.print("charged: entry {} of ledger {}, data set {}, head {}\n", c.ledger->entry,
                      c.ledger->store, c.ledger->dataset, c.ledger->head);
  if (!text.signature.empty())
    context.out.print("{}\n", signature_text(check_signature(text, std::nullopt)));
  if (!c.fingerprint.empty())
    context.out.print("data: fingerprint {}, for who has the key\n", c.fingerprint);
  context.out.print("made by sotto {}, random generator {}{}\n", c.version, c.generator,
                    c.dataset.empty() ? "" : ", data set " + c.dataset);
  show_portrait(place, c, arguments, context);
}

// One release may have several results, such as records and the generator that drew them.
bool names_result(const std::string& results, const std::string& digest) {
  return ("+" + results + "+").find("+" + digest + "+") != std::string::npos;
}

// The ledger holds, has the certificate's entry for the same events, unit and relation, committed
// for this very result, and its chain contains the certificate's head.
void compare_ledger(const Certificate& c, const ledger::StoreLocation& location) {
  const auto fail = [](const std::string& why) {
    throw VerificationFailed(why, "do not rely on this artifact");
  };
  if (!c.ledger) fail("the certificate names no entry of a ledger");
  ledger::Ledger ledger = ledger::Ledger::open(location, ledger::OpenMode::read);
  if (ledger.store() != c.ledger->store) fail("the certificate was charged to another ledger");
  ledger::verify(ledger, c.ledger->head);
  for (const ledger::Account& account : ledger.accounts()) {
    const ledger::Dataset& set = account.dataset();
    if (set.name != c.ledger->dataset) continue;
    if (set.unit != c.unit || set.relation != c.spec->relation)
      fail(
          fmt::format("the certificate protects one {} under {}, the ledger's data set one {} "
                      "under {}",
                      c.unit, name(c.spec->relation), set.unit, name(set.relation)));
  }
  nlohmann::json events = nlohmann::json::array();
  for (const Event& e : c.spec->events) events.push_back(nlohmann::json(to_json(e)));
  for (const ledger::Release& r : ledger::releases(ledger.entries(c.ledger->dataset))) {
    if (r.entry != c.ledger->entry) continue;
    if (r.state != "committed") fail(fmt::format("entry {} of the ledger is {}", r.entry, r.state));
    if (r.events != events.dump())
      fail(fmt::format("entry {} of the ledger paid for other events", r.entry));
    if (r.result.empty())
      fail(fmt::format("entry {} of the ledger does not say which result it paid for", r.entry));
    if (!names_result(r.result, result_digest(c.files)))
      fail(fmt::format("entry {} of the ledger paid for another result", r.entry));
    return;
  }
  fail(fmt::format("the ledger has no release with entry {}", c.ledger->entry));
}

// A certificate that is as it was written, and yet cannot be used or lacks one of its files,
// certifies nothing.
template <class Read>
auto certified(Read&& read) {
  try {
    return read();
  } catch (const DataError& e) {
    throw VerificationFailed(e.what(), e.hint());
  }
}

// What the artifact's own schema says of neighbours, units and its draft must be what the
// certificate says. Returns whether there is one.
bool compare_schema(const Certificate& c, const std::string& place, const std::string& text) {
  if (is_alone(place)) return false;
  const CertifiedDirectory directory = certified([&] { return read_certified(place, text); });
  const auto file = directory.files.find("encoder.json");
  if (file == directory.files.end()) return false;
  const Schema schema = certified([&] {
                          return encoder_from_json(parse_json(file->second, "encoder.json"));
                        }).schema();
  const auto fail = [](const std::string& why) {
    throw VerificationFailed(why, "do not rely on this artifact");
  };
  if (name(schema.unit) != c.unit || schema.relation != c.spec->relation)
    fail(
        fmt::format("the certificate protects one {} under {}, the artifact's schema one {} under "
                    "{}",
                    c.unit, name(c.spec->relation), name(schema.unit), name(schema.relation)));
  if (schema.drafted.has_value() != c.draft.has_value() ||
      (c.draft && c.draft->events != schema.drafted->events))
    fail("the certificate and the artifact's schema say different things of its draft");
  return true;
}

void check_draft(const Certificate& c) {
  if (!c.draft) return;
  const DraftCost& d = *c.draft;
  const bool alone =
      guarantee(Spec{c.spec->relation, d.events}, d.delta, kCertificateAccounting).upper *
          (1 - 1e-9) <=
      d.epsilon;
  const double together = together_with_draft(*c.spec, d.events, d.delta_together).upper;
  if (!alone || d.epsilon_together < together * (1 - 1e-9) ||
      d.delta_together < c.delta * (1 - 1e-9))
    throw VerificationFailed(
        fmt::format("the certificate claims epsilon = {} together with the draft of its schema, "
                    "but the events cost {}",
                    d.epsilon_together, round_up(together)),
        "do not rely on this artifact");
}

// Returns whether it was asked for.
bool compare_data(const Certificate& c, const Arguments& arguments) {
  if (arguments.given("fingerprint-key") != arguments.given("data"))
    throw InvalidArgument("--fingerprint-key and --data go together",
                          "the fingerprint of the data under the key is compared");
  const std::string key = read_fingerprint_key(arguments);
  if (key.empty()) return false;
  if (c.fingerprint.empty())
    throw VerificationFailed("the certificate has no fingerprint of its data",
                             "it was made without --fingerprint-key");
  if (!fingerprint_matches(c.fingerprint, key, arguments.text("data")))
    throw VerificationFailed("the fingerprint is not that of this data under this key",
                             "the certificate speaks about other data, or the key is another one");
  return true;
}

void run_verify(const Arguments& arguments, Context& context) {
  const Asked asked_for = asked_about(arguments.positionals().front());
  const std::string& place = asked_for.place;
  std::optional<std::string> key;
  if (arguments.given("signed-by")) key = read_all(arguments.text("signed-by"), 1 << 16);
  // Read once, and checked first: nothing that a changed certificate says is acted on.
  const CertificateText text = read_certificate_text(place);
  check_certificate_text(text.certificate);
  const std::optional<SignedBy> by = check_signature(text, key);
  const Certificate c = certified([&] { return certificate_in(place, text.certificate); });
  check_named(c, asked_for);
  if (!c.is_private())
    throw VerificationFailed(
        fmt::format("'{}' claims no privacy: there is nothing to verify", place),
        "train with a budget");
  if (!c.secure())
    throw VerificationFailed(
        fmt::format("'{}' was made with a fixed seed and is not private", place),
        "train again without --insecure-seed");
  const Bound bound = guarantee(*c.spec, c.delta, kCertificateAccounting);
  const bool holds = c.epsilon >= bound.upper * (1 - 1e-9);
  if (!holds) {
    throw VerificationFailed(
        fmt::format("the certificate claims epsilon = {}, but its events cost {}", c.epsilon,
                    round_up(bound.upper)),
        "do not rely on this artifact");
  }
  check_draft(c);
  const bool schema_compared = compare_schema(c, place, text.certificate);
  auto location = store_location(arguments, "ledger");
  const bool asked = arguments.given("ledger") || arguments.given("dsn-file");
  if (!asked && !c.ledger)
    location.reset();  // SOTTO_LEDGER says nothing about what was never charged
  if (location) compare_ledger(c, *location);
  const bool data_compared = compare_data(c, arguments);
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"verified", true},
                                   {"signed", by.has_value()},
                                   {"key_fingerprint", by ? Json(by->key_fingerprint) : Json()},
                                   {"key_expected", by && by->expected},
                                   {"ledger_compared", location.has_value()},
                                   {"data_compared", data_compared},
                                   {"schema_compared", schema_compared},
                                   {"epsilon", c.epsilon},
                                   {"recomputed", bound.upper},
                                   {"delta", c.delta}}
                                  .dump());
  } else {
    context.out.print(
        "verified: {} and the events cost epsilon = {} at delta = {} (claimed {}){}\n{}{}\n{}\n",
        is_alone(place) && asked_for.file.empty() ? "the certificate is as it was written"
                                                  : "the files are the certified ones",
        round_up(bound.upper), round_up(c.delta), round_up(c.epsilon),
        data_compared ? "; the data is the one it speaks about" : "",
        Lines{schema_compared ? fmt::format("schema: one {} under {}, as the certificate says\n",
                                            visible(c.unit), name(c.spec->relation))
                              : std::string()},
        signature_text(by),
        location ? fmt::format("ledger: entry {} paid for this result", c.ledger->entry)
                 : std::string("ledger: not compared"));
  }
}

Command on_directory(std::string name, std::string summary, std::string description,
                     Example example, void (*run)(const Arguments&, Context&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .description = std::move(description),
          .examples = {std::move(example)},
          .positionals =
              {{.name = "DIR",
                .help = "the directory that sotto train wrote, a certificate, or a file that has "
                        "its certificate beside it",
                .type = Type::file}},
          .options = {json_option(), output_option()},
          .run = run};
}

}  // namespace

Command inspect_command() {
  Command command = on_directory("inspect", "say whether a model is private, and how much",
                                 "One decision tree is also written out in words. --draw makes a "
                                 "picture of trees, or of what each "
                                 "column adds in an additive model, with a band for the noise.",
                                 {"The guarantee in words", "sotto inspect model"}, run_inspect);
  command.examples.push_back(
      {"A picture of a tree",
       "sotto train --data people.csv --schema people.toml --model tree --target city --epsilon 1 "
       "--out tree && sotto inspect tree --draw tree.svg"});
  command.options.push_back({.name = "draw",
                             .type = Type::file,
                             .value = "FILE.svg",
                             .help = "write a picture of the model as SVG"});
  return command;
}

Command verify_command() {
  Command command =
      on_directory("verify", "recompute a model's epsilon and check its files",
                   "Recomputes epsilon from the events in the certificate and compares the "
                   "digests of the files. Exit code 5 when anything does not match.",
                   {"Check an artifact", "sotto verify model"}, run_verify);
  command.options.push_back({.name = "signed-by",
                             .type = Type::file,
                             .value = "PUB",
                             .help = "the public key by which the certificate must be signed"});
  command.options.push_back({.name = "ledger",
                             .type = Type::file,
                             .value = "STORE",
                             .help = "also look up the charge in this ledger"});
  command.options.push_back({.name = "dsn-file",
                             .type = Type::file,
                             .value = "FILE",
                             .help = "read the ledger's connection string from a file"});
  command.options.push_back({.name = "fingerprint-key",
                             .type = Type::file,
                             .value = "KEY",
                             .help = "compare the fingerprint of --data under this key"});
  command.options.push_back({.name = "data",
                             .type = Type::file,
                             .value = "FILE",
                             .help = "the data that the certificate should speak about"});
  return command;
}

}  // namespace sotto::cli
