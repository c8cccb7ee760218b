// For tests: a fresh store on either back end. The PostgreSQL cluster is a private one, started
// once per test program and removed at its end.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger::test {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "sotto-ledger-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A server of our own on a socket in a temporary directory. It refuses to run as root, so root
// hands it to an unprivileged user.
class Cluster {
 public:
  static Cluster& instance() {
    static Cluster cluster;
    return cluster;
  }
  bool available() const { return available_; }
  std::string url(const std::string& schema) const {
    return "postgresql:///postgres?host=" + directory_.path().string() +
           "&user=sotto&options=-csearch_path%3D" + schema;
  }
  void start() {
    run(bin_ + "/pg_ctl -w -s -D " + data() + " -l " + data() + "/log -o '" + options() +
        "' start");
  }
  void stop(const char* how) { run(bin_ + "/pg_ctl -w -s -m " + how + " -D " + data() + " stop"); }

 private:
  Cluster() {
    for (const auto& entry : fs::exists("/usr/lib/postgresql")
                                 ? fs::directory_iterator("/usr/lib/postgresql")
                                 : fs::directory_iterator()) {
      if (fs::exists(entry.path() / "bin/initdb")) bin_ = (entry.path() / "bin").string();
    }
    if (bin_.empty()) return;
    const bool root = geteuid() == 0;
    if (root) as_ = "runuser -u postgres -- ";
    if (root && std::system(("chown postgres " + directory_.path().string()).c_str()) != 0) return;
    chmod(directory_.path().c_str(), 0755);
    if (!run(bin_ + "/initdb -D " + data() +
             " -A trust -U sotto -E UTF8 --locale=C --data-checksums -N"))
      return;
    start();
    available_ = true;
  }
  ~Cluster() {
    if (available_) stop("immediate");
  }
  std::string data() const { return directory_.file("data"); }
  std::string options() const {
    return "-c listen_addresses= -c unix_socket_directories=" + directory_.path().string() +
           " -c shared_buffers=16MB -c max_connections=60";
  }
  bool run(const std::string& command) {
    return std::system(("cd / && " + as_ + command + " > /dev/null 2>&1").c_str()) == 0;
  }

  TemporaryDirectory directory_;
  std::string bin_, as_;
  bool available_ = false;
};

// Tests that hold on both back ends.
class OnBothStores : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "sqlite") {
      location_.place = directory_.file("budget.db");
      return;
    }
    if (!Cluster::instance().available())
      GTEST_SKIP() << "no PostgreSQL server to start: install the package postgresql";
    static int number = 0;
    const std::string schema = "store" + std::to_string(++number);
    open_postgres({.place = Cluster::instance().url("public")}, OpenMode::create)
        ->run("CREATE SCHEMA " + schema);
    location_.place = Cluster::instance().url(schema);
  }
  Ledger open(OpenMode mode = OpenMode::write) { return Ledger::open(location_, mode); }

  TemporaryDirectory directory_;
  StoreLocation location_;
};

inline Dataset census(double epsilon = 3) {
  Dataset d;
  d.name = "census", d.epsilon = epsilon, d.delta = 1e-6, d.own_delta = 2.5e-7;
  return d;
}
inline Charge pure(double epsilon, const std::string& key, const std::string& part = {}) {
  return {.dataset = "census",
          .spec = {Relation::add_remove, {PureEvent{epsilon}}},
          .key = key,
          .part = part};
}

}  // namespace sotto::ledger::test
