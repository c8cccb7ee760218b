// Any text as a certificate: one that survives JSON, or an error; the text check never accepts what
// the reader cannot repeat.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "property.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 16) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check_certificate_text(text);
    require(parse_json(text, "it").dump(2) + "\n" == text, "what passes is in its only form");
  } catch (const VerificationFailed&) {
  }
  try {
    const Certificate c = certificate_from_json(parse_json(text, "it"));
    const std::string written = to_json(c).dump(2) + "\n";
    check_certificate_text(written);
    const Certificate back = certificate_from_json(parse_json(written, "it"));
    require(to_json(back).dump(2) + "\n" == written, "the certificate survives JSON");
    if (c.is_private()) {
      require(c.epsilon >= 0 && c.delta >= 0 && c.delta < 1, "the guarantee is in range");
      noise_of(c.spec->event());
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
  return 0;
}
