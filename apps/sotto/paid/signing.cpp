#include "paid/signing.hpp"

#include "sotto/core/signature.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto::cli {

Option sign_option() {
  return {.name = "sign",
          .type = Type::file,
          .value = "KEY",
          .help = "sign the certificate with this private key (see sotto key new)"};
}

std::string read_signing_key(const std::string& path) {
  if (path.empty()) return {};
  std::string pem = read_all(path, 1 << 16);
  (void)public_key_of(pem);
  return pem;
}

}  // namespace sotto::cli
