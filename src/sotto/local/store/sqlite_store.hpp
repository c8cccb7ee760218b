// A client's store in one SQLite file.
//
// What       Small values by key, for one client or, with prefixes, for many in one file.
// Guarantee  What keep() has returned from survives a crash of the process and of the machine;
//            inside of a transaction, what commit() has returned from.
// Method     Write-ahead log, synchronous = FULL; the file is readable by its owner only.
// Numerics   None.
// Reference  docs/local.md.
#pragma once

#include <memory>
#include <string>

#include "sotto/local/client/memory.hpp"

namespace sotto::local {

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(const std::string& path);  // made when it is not there; StorageError
  ~SqliteStore() override;

  std::optional<std::string> find(std::string_view key) override;
  void keep(std::string_view key, std::string_view value) override;
  // Between the two nothing is durable yet: commit before anything leaves the process.
  void begin();
  void commit();

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// One client's part of a store.
class PrefixStore final : public Store {
 public:
  // The length before the id: no id with a key is another id with another key.
  PrefixStore(Store& store, const std::string& id)
      : store_(store), prefix_(std::to_string(id.size()) + ':' + id + ':') {}
  std::optional<std::string> find(std::string_view key) override {
    return store_.find(prefix_ + std::string(key));
  }
  void keep(std::string_view key, std::string_view value) override {
    store_.keep(prefix_ + std::string(key), value);
  }

 private:
  Store& store_;
  std::string prefix_;
};

}  // namespace sotto::local
