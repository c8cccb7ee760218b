// What the disk and the server can do to a ledger: writes that fail, power that goes, bytes that
// change, a server that restarts.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "sotto/core/error.hpp"
#include "sotto/ledger/backend/detail/sqlite_vfs.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::faults_test {

using test::census;
using test::pure;
using test::TemporaryDirectory;

struct SqliteFaults : ::testing::Test {
  TemporaryDirectory directory;
  StoreLocation location{directory.file("budget.db")};

  ~SqliteFaults() override { set_sqlite_fault({}); }
  Ledger open(OpenMode mode = OpenMode::write) { return Ledger::open(location, mode); }
  void create(int charges) {
    Ledger l = open(OpenMode::create);
    l.create(census());
    for (int i = 0; i < charges; ++i) l.charge(pure(0.1, "before" + std::to_string(i)));
  }
  std::size_t count() {
    Ledger l = open();
    verify(l);
    return releases(l.entries("census")).size();
  }
};

// All a charge does to the disk, also from opening to closing.
void charge_once(const StoreLocation& location, const std::string& key) {
  Ledger l = Ledger::open(location, OpenMode::write);
  l.charge(pure(0.01, key));
}

TEST_F(SqliteFaults, AWriteThatFailsChargesAllOrNothing) {
  create(2);
  for (int code : {SQLITE_IOERR_WRITE, SQLITE_FULL}) {
    for (int fail_at = 1;; ++fail_at) {
      int operations = 0;
      set_sqlite_fault([&](auto, auto) { return ++operations == fail_at ? code : SQLITE_OK; });
      const std::string key = std::to_string(code) + "/" + std::to_string(fail_at);
      bool charged = true;
      try {
        charge_once(location, key);
      } catch (const StorageError&) {
        charged = false;
      }
      const bool reached = operations >= fail_at;
      set_sqlite_fault({});
      Ledger l = open();
      verify(l);
      const bool there = l.charge(pure(0.01, key)).replayed;
      EXPECT_TRUE(!charged || there) << key;
      if (!reached) break;
      ASSERT_LT(fail_at, 100);
    }
  }
}

TEST_F(SqliteFaults, PowerThatGoesAtAnyWriteChargesAllOrNothing) {
  create(2);
  for (int fail_at = 1; fail_at < 100; ++fail_at) {
    const std::string key = std::to_string(fail_at);
    const pid_t child = fork();
    if (child == 0) {
      int operations = 0;
      set_sqlite_fault([&](auto, auto) {
        if (++operations == fail_at) _exit(9);
        return SQLITE_OK;
      });
      try {
        charge_once(location, key);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    Ledger l = open();
    verify(l);
    const bool there = l.charge(pure(0.01, key)).replayed;
    if (WEXITSTATUS(status) == 0) {
      EXPECT_TRUE(there);
      EXPECT_GT(fail_at, 4) << "a charge must sync at least once";
      return;
    }
    ASSERT_EQ(WEXITSTATUS(status), 9);
  }
  FAIL() << "a charge never ended";
}

TEST_F(SqliteFaults, ACreationThatIsCutOffLeavesNoHalfOfALedger) {
  for (int fail_at = 1; fail_at < 200; ++fail_at) {
    const TemporaryDirectory place;
    const StoreLocation here{place.file("new.db")};
    const pid_t child = fork();
    if (child == 0) {
      int operations = 0;
      set_sqlite_fault([&](auto, auto) {
        if (++operations == fail_at) _exit(9);
        return SQLITE_OK;
      });
      Ledger::open(here, OpenMode::create).create(census());
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    // Whatever is there, creating again either finishes the work or finds it done.
    try {
      Ledger::open(here, OpenMode::create).create(census());
    } catch (const InvalidArgument&) {
    }
    Ledger l = Ledger::open(here, OpenMode::write);
    EXPECT_EQ(verify(l).datasets, 1) << fail_at;
    if (WEXITSTATUS(status) == 0) return;
  }
  FAIL() << "a creation never ended";
}

TEST_F(SqliteFaults, ProcessesThatAreKilledLoseNoCommittedChargeAndNeverExceedTheCap) {
  constexpr int kKills = 40;
  {
    Ledger l = open(OpenMode::create);
    l.create(census(3));
  }
  int acknowledged[2];
  ASSERT_EQ(pipe(acknowledged), 0);
  unsigned random = 12345;
  std::vector<int> reported;
  for (int round = 0; round < kKills; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      Ledger l = open();
      for (int i = 0;; ++i) {
        int id = round * 1000 + i;
        try {
          l.charge(pure(0.01, "k" + std::to_string(id)));
        } catch (const BudgetExceeded&) {
          id = -1;
        }
        [[maybe_unused]] const ssize_t n = write(acknowledged[1], &id, sizeof id);
        if (id < 0) pause();
      }
    }
    // After a few charges, wherever in the next one it then is.
    random = random * 1103515245u + 12345u;
    for (unsigned wait = random / 65536 % 4; wait > 0; --wait) {
      int id = 0;
      ASSERT_EQ(read(acknowledged[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
      if (id < 0) break;
      reported.push_back(id);
    }
    usleep(random / 4096 % 3000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(acknowledged[1]);
  std::set<std::string> keys;
  Ledger l = open();
  verify(l);
  for (const Release& r : releases(l.entries("census"))) keys.insert(r.key);
  for (int id = 0; read(acknowledged[0], &id, sizeof id) == static_cast<ssize_t>(sizeof id);) {
    if (id >= 0) reported.push_back(id);
  }
  for (int id : reported) EXPECT_TRUE(keys.contains("k" + std::to_string(id)));
  EXPECT_LE(l.accounts()[0].epsilon(), 3);
  EXPECT_FALSE(reported.empty());
}

// A handle that is left behind keeps its file open.
TEST_F(SqliteFaults, AStoreThatCannotBeUsedIsClosedAgain) {
  const auto descriptors = [] {
    return std::distance(test::fs::directory_iterator("/proc/self/fd"),
                         test::fs::directory_iterator());
  };
  create(1);
  const auto before = descriptors();
  const auto refused = [&](OpenMode mode) {
    for (int i = 0; i < 3; ++i) EXPECT_ANY_THROW(open(mode));
    EXPECT_EQ(descriptors(), before);
  };
  {
    std::fstream head(location.place + "-head", std::ios::in | std::ios::out);
    head.put('x');
  }
  refused(OpenMode::create);  // the witness is damaged
  test::fs::remove(location.place + "-head");
  {
    std::fstream file(location.place, std::ios::in | std::ios::out);
    file.seekp(200).put('x');
  }
  for (OpenMode mode : {OpenMode::read, OpenMode::write, OpenMode::create}) refused(mode);
  std::ofstream(location.place) << std::string(2 * kPageSize, 'x');
  for (OpenMode mode : {OpenMode::read, OpenMode::write, OpenMode::create}) refused(mode);
}

TEST_F(SqliteFaults, AFullDiskChargesNothing) {
  create(1);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    // The log may not grow beyond a few pages.
    const rlimit limit{3 * kPageSize, 3 * kPageSize};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      charge_once(location, "too much");
    } catch (const StorageError&) {
      _exit(6);
    } catch (...) {
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 6);
  EXPECT_EQ(count(), 1u);
}

TEST_F(SqliteFaults, ADiskThatFillsUpIsAStorageErrorAndNoAccusation) {
  const std::string place = directory.file("small");
  test::fs::create_directory(place);
  if (mount("tmpfs", place.c_str(), "tmpfs", 0, "size=192k") != 0)
    GTEST_SKIP() << "cannot mount a small file system here";
  const struct Unmount {
    std::string place;
    ~Unmount() { umount(place.c_str()); }
  } unmount{place};
  const StoreLocation here{place + "/budget.db"};
  std::set<std::string> charged;
  bool full = false;
  {
    Ledger l = Ledger::open(here, OpenMode::create);
    l.create(census(100));
    for (int i = 0; i < 100 && !full; ++i) {
      const std::string key = "k" + std::to_string(i);
      try {
        l.charge(pure(0.01, key));
        charged.insert(key);
      } catch (const StorageError&) {
        full = true;
      }
    }
    ASSERT_TRUE(full);
    EXPECT_FALSE(charged.empty());
    try {  // there may be no room to bring the log into the file, or just enough
      verify(l);
    } catch (const StorageError&) {
    }
  }
  ASSERT_EQ(mount("tmpfs", place.c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
  Ledger l = Ledger::open(here, OpenMode::write);
  verify(l);
  const auto all = releases(l.entries("census"));
  EXPECT_EQ(all.size(), charged.size());
  for (const Release& r : all) EXPECT_TRUE(charged.contains(r.key)) << r.key;
}

constexpr int kStillPrivileged = 77;

// What the work returns, or that constant, in a process of a user without rights.
int as_nobody(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(kStillPrivileged);
    try {
      _exit(work());
    } catch (...) {  // not into the tests that follow, which are the parent's
      _exit(64);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(SqliteFaults, AReadOnlyStoreCanBeReadAndNotCharged) {
  create(1);
  chmod(location.place.c_str(), 0444);
  chmod(directory.path().c_str(), 0555);
  constexpr int cannot_enter = 78;
  const int code = as_nobody([&] {
    if (access(location.place.c_str(), R_OK) != 0) return cannot_enter;
    int wrong = 0;
    try {
      Ledger l = open(OpenMode::read);
      if (releases(l.entries("census")).size() != 1) wrong |= 1;
      verify(l);
    } catch (const std::exception&) {
      wrong |= 2;
    }
    try {
      charge_once(location, "no");
      wrong |= 4;
    } catch (const StorageError&) {
    }
    return wrong;
  });
  chmod(directory.path().c_str(), 0755);
  if (code == kStillPrivileged) GTEST_SKIP() << "cannot become an unprivileged user";
  if (code == cannot_enter) GTEST_SKIP() << "an unprivileged user cannot enter the test's folder";
  EXPECT_EQ(code, 0);
}

TEST_F(SqliteFaults, AFolderThatMayNotBeEnteredIsAStorageError) {
  create(1);
  chmod(directory.path().c_str(), 0);
  const int code = as_nobody([&] {
    try {
      open(OpenMode::read);
      return 1;
    } catch (const StorageError& e) {
      return std::string(e.what()).find("cannot look at") == std::string::npos ? 2 : 0;
    }
  });
  chmod(directory.path().c_str(), 0755);
  if (code == kStillPrivileged) GTEST_SKIP() << "cannot become an unprivileged user";
  EXPECT_EQ(code, 0);
}

TEST(PostgresFaults, AServerThatRestartsInMidTransactionChargesNothing) {
  test::Cluster& cluster = test::Cluster::instance();
  if (!cluster.available()) GTEST_SKIP() << "no PostgreSQL server to start";
  open_postgres({cluster.url("public")}, OpenMode::create)->run("CREATE SCHEMA restarted");
  const StoreLocation location{cluster.url("restarted")};
  Ledger::open(location, OpenMode::create).create(census());
  for (const char* how : {"immediate", "fast"}) {
    Ledger l = Ledger::open(location, OpenMode::write);
    l.charge(pure(0.1, std::string("before ") + how));
    {
      Transaction t = Transaction::writing(l.database());
      l.database().run("UPDATE sotto_spends SET spend = 'half'");
      cluster.stop(how);
      cluster.start();
      EXPECT_THROW(t.commit(), StorageError);
    }
    EXPECT_THROW(l.charge(pure(0.1, "broken connection")), StorageError);
  }
  Ledger l = Ledger::open(location, OpenMode::write);
  EXPECT_EQ(releases(l.entries("census")).size(), 2u);
  verify(l);
}

TEST(PostgresFaults, AConnectionThatIsEndedDuringTheCommitIsChargedOnceByARetry) {
  test::Cluster& cluster = test::Cluster::instance();
  if (!cluster.available()) GTEST_SKIP() << "no PostgreSQL server to start";
  auto admin = open_postgres({cluster.url("public")}, OpenMode::create);
  admin->run("CREATE SCHEMA ended");
  const StoreLocation location{cluster.url("ended")};
  Ledger::open(location, OpenMode::create).create(census());
  unsigned random = 4321;
  for (int i = 0; i < 20; ++i) {
    const std::string key = "k" + std::to_string(i);
    random = random * 1103515245u + 12345u;
    std::thread killer([&, pause = random / 65536 % 4000] {
      usleep(pause);
      admin->run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
          "pg_backend_pid() AND backend_type = 'client backend'");
    });
    try {
      Ledger l = Ledger::open(location, OpenMode::write);
      l.charge(pure(0.01, key));
    } catch (const StorageError&) {
    }
    killer.join();
    Ledger::open(location, OpenMode::write).charge(pure(0.01, key));
  }
  Ledger l = Ledger::open(location, OpenMode::write);
  EXPECT_EQ(releases(l.entries("census")).size(), 20u);
  EXPECT_LE(l.accounts()[0].epsilon(), 0.2);
  verify(l);
}

TEST(PostgresFaults, AServerThatIsNotThereIsAStorageError) {
  EXPECT_THROW(Ledger::open({"postgresql:///x?host=/nowhere"}, OpenMode::write), StorageError);
}

}  // namespace sotto::ledger::faults_test
