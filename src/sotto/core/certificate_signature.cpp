#include "sotto/core/certificate_signature.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/signature.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::string signed_bytes(const std::string& certificate) {
  return "sotto certificate\n" + canonical_form(parse_json(certificate, "the certificate"));
}

[[noreturn]] void refuse(const std::string& why) {
  throw VerificationFailed(why, "do not rely on this artifact");
}

}  // namespace

std::string certificate_signature(const std::string& certificate, const std::string& private_pem) {
  const Json json = {{"schema", 1},
                     {"algorithm", "ed25519"},
                     {"public_key", public_key_of(private_pem)},
                     {"signature", sign(private_pem, signed_bytes(certificate))}};
  return json.dump() + "\n";
}

SignedBy check_certificate_signature(const std::string& certificate, const std::string& signature,
                                     const std::optional<std::string>& public_pem) {
  std::optional<std::string> wanted;
  if (public_pem) wanted = key_fingerprint(*public_pem);
  try {
    const Json json = parse_json(signature, "the signature");
    if (!json.is_object() || json.dump() + "\n" != signature || json.at("schema") != 1 ||
        json.at("algorithm") != "ed25519" || json.size() != 4)
      refuse("the signature of the certificate does not hold");
    const std::string key = json.at("public_key").get<std::string>();
    if (!verify_signature(key, signed_bytes(certificate), json.at("signature").get<std::string>()))
      refuse("the signature of the certificate does not hold");
    const std::string by = key_fingerprint(key);
    if (wanted && *wanted != by) refuse("the certificate is signed by another key, " + by);
    return {by, wanted.has_value()};
  } catch (const nlohmann::json::exception&) {
  } catch (const DataError&) {  // no key
  }
  refuse("the signature of the certificate does not hold");
}

}  // namespace sotto
