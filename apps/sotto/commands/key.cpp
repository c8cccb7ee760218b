// sotto key: keys for signing certificates.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "../output_file.hpp"
#include "commands.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/signature.hpp"

namespace sotto::cli {
namespace {

void run_new(const Arguments& arguments, Context& context) {
  const std::string path = arguments.positionals().front();
  for (const std::string& file : {path, path + ".pub"}) {
    if (std::filesystem::exists(file))
      throw InvalidArgument(fmt::format("'{}' exists", file),
                            "a key is never overwritten; choose another name");
  }
  const KeyPair key = new_signing_key();
  // Made for its owner alone from the first byte on.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) throw StorageError(fmt::format("cannot write '{}'", path));
  const bool written = ::write(file, key.private_pem.data(), key.private_pem.size()) ==
                           static_cast<ssize_t>(key.private_pem.size()) &&
                       ::fsync(file) == 0;
  ::close(file);
  if (!written) {
    ::unlink(path.c_str());
    throw StorageError(fmt::format("cannot write '{}'", path));
  }
  write_file(path + ".pub", key.public_pem);
  context.out.print("private key {} (keep it secret), public key {}.pub\n", path, path);
}

}  // namespace

Command key_command() {
  return {.name = "key",
          .summary = "make keys for signing certificates",
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
                        .run = run_new}}};
}

}  // namespace sotto::cli
