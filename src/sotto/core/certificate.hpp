// A certificate: what was guaranteed for an artifact, in terms that can be checked again.
//
// It quotes the events, from which anybody can recompute ε, and the digests of the files it speaks
// about. A certificate without events says that the artifact is NOT PRIVATE; one made with a fixed
// seed says INSECURE.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/spec.hpp"

namespace sotto {

inline constexpr std::size_t kMostCertificateBytes = std::size_t{64} << 20;
// Older ones are still read; docs/reference/certificate.md says what each holds.
inline constexpr int kCertificateSchema = 3;

// Where the budget was charged: anybody with the ledger can look the entry up, and the head pins
// the ledger's state.
struct LedgerReference {
  std::string store, dataset;
  std::int64_t entry = 0;
  std::string head;
  friend bool operator==(const LedgerReference&, const LedgerReference&) = default;
};

// Of a schema that was estimated from the same data before: its own cost, and that of both
// together.
struct DraftCost {
  std::vector<Event> events;
  double epsilon = 0, delta = 0;
  double epsilon_together = 0, delta_together = 0;
};

struct Certificate {
  std::optional<Spec> spec;     // relation and events; absent: not private
  std::string unit = "record";  // whose data is protected
  double epsilon = 0, delta = 0;
  std::string accountant, conversion;
  std::map<std::string, double> epsilon_by;  // by accountant, for comparison
  std::string family;                        // that reads the model; empty: a release, or older
  std::string method, description;           // in words, from the plan
  std::vector<std::string>
      assumptions;      // public facts the guarantee rests on: declared rows, bounds, …
  std::string dataset;  // a label chosen by the user
  std::string version, generator;  // of the library; "aes256ctr" or "insecure_seed"
  std::string noise;               // kinds of noise, e.g. "discrete_gaussian"
  std::string fingerprint;         // HMAC-SHA-256 of the data under the curator's key; empty: none
  std::optional<DraftCost> draft;  // none: the schema was public
  std::optional<LedgerReference> ledger;
  std::map<std::string, std::string> files;  // name → SHA-256

  bool is_private() const { return spec.has_value(); }
  bool secure() const { return generator != "insecure_seed"; }
};

// The last member, "digest", is the SHA-256 of the canonical form of all others.
nlohmann::ordered_json to_json(const Certificate& certificate);
// What is digested and signed: members sorted, no spaces, without "digest".
std::string canonical_form(const nlohmann::ordered_json& certificate);
// The names of the noise in an event, sorted, joined by " + "; "none" for a certificate without
// events.
std::string noise_of(const Event& event);
// Throws VerificationFailed unless the text is byte for byte what was written: to_json(…).dump(2)
// and a line end.
void check_certificate_text(const std::string& text);
Certificate certificate_from_json(const nlohmann::ordered_json& json);  // throws DataError

}  // namespace sotto
