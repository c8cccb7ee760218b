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
              "put a fingerprint of the data under this secret key into the certificate, and "
              "compare it with what the ledger's data set declares (see sotto key fingerprint)",
          .group = "Privacy"};
}

std::string read_fingerprint_key(const Arguments& arguments) {
  if (find_option(arguments.command(), "fingerprint-key") == nullptr ||
      !arguments.given("fingerprint-key"))
    return {};
  const std::string path = arguments.text("fingerprint-key");
  std::string key = read_all(path, 1 << 16);
  if (key.size() < kSmallestFingerprintKey)
    throw InvalidArgument(fmt::format("the key in '{}' has {} bytes; at least {} are needed", path,
                                      key.size(), kSmallestFingerprintKey),
                          "sotto key fingerprint FILE makes one");
  return key;
}

DataFingerprint::DataFingerprint(const Arguments& arguments, std::string path)
    : key_(read_fingerprint_key(arguments)), path_(std::move(path)) {
  if (active()) witness_.emplace();
}

std::string DataFingerprint::text() const {
  return active() ? fingerprint(key_, path_, &*witness_) : std::string();
}

bool DataFingerprint::matches(const std::string& declared) const {
  return active() && fingerprint_matches(declared, key_, path_, &*witness_);
}

}  // namespace sotto::cli
