// Any text as the signature of a certificate: it holds only if it is the one signature that was
// made, up to its key; everything else is refused.
#include <cstdint>
#include <string>

#include "property.hpp"
#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/error.hpp"

namespace {

// Nobody who fuzzes has the key, so what holds was signed by it: the seeds hold both.
constexpr const char* kCertificate = "{\n  \"schema\": 3,\n  \"private\": false\n}\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 12) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const SignedBy by = check_certificate_signature(kCertificate, text, std::nullopt);
    require(by.key_fingerprint.size() == 64 && !by.expected, "it says by which key");
    // The same signature under another certificate does not hold.
    try {
      check_certificate_signature("{\n  \"schema\": 3\n}\n", text, std::nullopt);
      require(false, "one signature, one certificate");
    } catch (const VerificationFailed&) {
    }
  } catch (const VerificationFailed&) {
  }
  return 0;
}
