#include "signing.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "output_file.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kLimit = 1 << 16;  // of keys and signatures

std::string signed_bytes(const std::string& certificate) {
  return "sotto certificate\n" + canonical_form(parse_json(certificate, "the certificate"));
}

}  // namespace

Option sign_option() {
  return {.name = "sign",
          .type = Type::file,
          .value = "KEY",
          .help = "sign the certificate with this private key (see sotto key new)"};
}

std::string read_signing_key(const std::string& path) {
  if (path.empty()) return {};
  std::string pem = read_all(path, kLimit);
  (void)public_key_of(pem);
  return pem;
}

void sign_artifact(const std::string& directory, const std::string& private_pem) {
  if (private_pem.empty()) return;
  const std::string text = read_whole_file(directory + "/certificate.json", kMostCertificateBytes);
  const Json json = {{"schema", 1},
                     {"algorithm", "ed25519"},
                     {"public_key", public_key_of(private_pem)},
                     {"signature", sign(private_pem, signed_bytes(text))}};
  write_file(directory + "/certificate.sig", json.dump() + "\n");
}

bool check_certificate_alone(const std::string& path,
                             const std::optional<std::string>& public_pem) {
  check_certificate_text(read_whole_file(path, kMostCertificateBytes));
  if (public_pem)
    throw VerificationFailed("the certificate is not signed", "do not rely on this artifact");
  return false;
}

bool check_certificate_files(const std::string& directory,
                             const std::optional<std::string>& public_pem) {
  const std::string text = read_whole_file(directory + "/certificate.json", kMostCertificateBytes);
  check_certificate_text(text);
  const std::string place = directory + "/certificate.sig";
  if (!std::filesystem::exists(place)) {
    if (public_pem)
      throw VerificationFailed("the certificate is not signed", "do not rely on this artifact");
    return false;
  }
  const std::string signature_text = read_whole_file(place, kLimit);
  const auto damaged = [] {
    throw VerificationFailed("the signature of the certificate does not hold",
                             "do not rely on this artifact");
  };
  try {
    const Json json = parse_json(signature_text, "the signature");
    if (!json.is_object() || json.dump() + "\n" != signature_text || json.at("schema") != 1 ||
        json.at("algorithm") != "ed25519" || json.size() != 4)
      damaged();
    const std::string key = json.at("public_key").get<std::string>();
    if (public_pem && key != *public_pem)
      throw VerificationFailed("the certificate is signed by another key",
                               "do not rely on this artifact");
    if (!verify_signature(key, signed_bytes(text), json.at("signature").get<std::string>()))
      damaged();
  } catch (const nlohmann::json::exception&) {
    damaged();
  } catch (const DataError&) {
    damaged();
  }
  return true;
}

}  // namespace sotto::cli
