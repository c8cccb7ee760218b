// sotto key: keys for signing certificates.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "commands.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/signature.hpp"

namespace sotto::cli {
namespace {

void refuse_existing(const std::string& path) {
  if (std::filesystem::exists(path))
    throw InvalidArgument(fmt::format("'{}' exists", path),
                          "a key is never overwritten; choose another name");
}

// Made for its owner alone from the first byte on.
void write_secret(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) throw StorageError(fmt::format("cannot write '{}'", path));
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  ::close(file);
  if (!written) {
    ::unlink(path.c_str());
    throw StorageError(fmt::format("cannot write '{}'", path));
  }
}

void run_fingerprint(const Arguments& arguments, Context& context) {
  const std::string path = arguments.positionals().front();
  refuse_existing(path);
  std::array<std::byte, 32> bytes{};
  system_random(bytes);
  std::string text;
  for (std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<int>(b));
  write_secret(path, text + "\n");
  context.out.print("fingerprint key {} (keep it secret, and keep it)\n", path);
}

void run_new(const Arguments& arguments, Context& context) {
  const std::string path = arguments.positionals().front();
  refuse_existing(path);
  refuse_existing(path + ".pub");
  const KeyPair key = new_signing_key();
  write_secret(path, key.private_pem);
  write_file(path + ".pub", key.public_pem);
  context.out.print("private key {} (keep it secret), public key {}.pub\nfingerprint {}\n", path,
                    path, key_fingerprint(key.public_pem));
}

}  // namespace

Command key_command() {
  return {.name = "key",
          .summary = "make keys for signing certificates and for fingerprints of data",
          .examples = {{"A key, then a signed model",
                        "sotto key new mine.pem && sotto train --data people.csv --schema "
                        "people.toml --model linear --epsilon 1 --delta 1e-5 --out signed --sign "
                        "mine.pem"}},
          .commands = {{.name = "new",
                        .summary = "make an Ed25519 key pair: FILE and FILE.pub",
                        .examples = {{"A key for signing", "sotto key new signing.pem"}},
                        .positionals = {{.name = "FILE",
                                         .help = "where the private key goes, as PEM",
                                         .type = Type::file}},
                        .run = run_new},
                       {.name = "fingerprint",
                        .summary = "make a secret key for fingerprints of data in certificates",
                        .examples = {{"A key, then a count whose certificate names its data",
                                      "sotto key fingerprint curator.key && sotto release count "
                                      "--data people.csv --epsilon 0.1 --certificate count.json "
                                      "--fingerprint-key curator.key && sotto verify count.json "
                                      "--fingerprint-key curator.key --data people.csv"}},
                        .positionals = {{.name = "FILE",
                                         .help = "where the key goes, 32 random bytes in "
                                                 "hexadecimal",
                                         .type = Type::file}},
                        .run = run_fingerprint}}};
}

}  // namespace sotto::cli
