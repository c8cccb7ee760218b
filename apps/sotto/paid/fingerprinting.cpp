#include "paid/fingerprinting.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/fingerprint.hpp"

namespace sotto::cli {

Option fingerprint_option() {
  return {.name = "fingerprint-key",
          .type = Type::file,
          .value = "KEY",
          .help =
              "put a fingerprint of the data under this secret key into the certificate (see "
              "sotto key fingerprint)",
          .group = "Privacy"};
}

std::string read_fingerprint_key(const Arguments& arguments) {
  if (!arguments.given("fingerprint-key")) return {};
  const std::string path = arguments.text("fingerprint-key");
  std::string key = read_all(path, 1 << 16);
  if (key.size() < kSmallestFingerprintKey)
    throw InvalidArgument(fmt::format("the key in '{}' has {} bytes; at least {} are needed", path,
                                      key.size(), kSmallestFingerprintKey),
                          "sotto key fingerprint FILE makes one");
  return key;
}

std::string fingerprint_of_data(const Arguments& arguments, const std::string& key,
                                const std::optional<ReadWitness>& witness) {
  return key.empty() ? std::string()
                     : fingerprint(key, arguments.text("data"), witness ? &*witness : nullptr);
}

}  // namespace sotto::cli
