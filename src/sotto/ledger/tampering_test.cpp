// One changed byte anywhere in an SQLite store is detected: in the file, in the log that a killed
// process left, in the witness.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "sotto/core/error.hpp"
#include "sotto/ledger/backend/detail/sqlite_vfs.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::tampering_test {

using test::census;
using test::pure;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

struct Tampering : ::testing::Test {
  test::TemporaryDirectory directory;
  StoreLocation original{directory.file("budget.db")}, copy{directory.file("copy.db")};
  std::string file, log, head;  // what the store consists of

  // SOTTO_EVERY_BYTE=1 looks at each byte, which takes minutes; else at these steps, which meet
  // every offset within a page.
  static std::size_t step(std::size_t usual) {
    return std::getenv("SOTTO_EVERY_BYTE") == nullptr ? usual : 1;
  }

  // Three charges by a process that is gone without having closed the store.
  void charge_and_die() {
    Ledger::open(original, OpenMode::create).create(census());
    const pid_t child = fork();
    if (child == 0) {
      Ledger l = Ledger::open(original, OpenMode::write);
      for (int i = 0; i < 3; ++i) l.charge(pure(0.1, "k" + std::to_string(i)));
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    file = read(original.place), log = read(original.place + "-wal");
    head = read(original.place + "-head");
    ASSERT_GT(log.size(), 3u * kPageSize);
  }
  void charge_and_close() {
    Ledger l = Ledger::open(original, OpenMode::create);
    l.create(census());
    l.charge(pure(0.1, "k"));
    // The last to close brings the log into the file and removes it.
  }
  void put_copy() const {
    for (const char* part : {"", "-wal", "-shm", "-head"}) test::fs::remove(copy.place + part);
    write(copy.place, file);
    if (!log.empty()) write(copy.place + "-wal", log);
    if (!head.empty()) write(copy.place + "-head", head);
  }
  bool detected() const {
    put_copy();
    try {
      Ledger l = Ledger::open(copy, OpenMode::read);
      verify(l);
      return false;
    } catch (const Error& e) {
      return e.code() == ErrorCode::verification_failed || e.code() == ErrorCode::storage;
    }
  }
  void every_flip_is_detected(std::string& bytes, std::size_t step) {
    ASSERT_FALSE(detected());
    for (std::size_t i = 0; i < bytes.size(); i += i < 256 ? 1 : step) {
      const char bit = static_cast<char>(1 << (i % 8));
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
      ASSERT_TRUE(detected()) << "byte " << i << " of " << bytes.size();
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
    }
    ASSERT_FALSE(detected());
  }
};

TEST_F(Tampering, EveryChangedByteOfTheFileIsDetected) {
  charge_and_close();
  file = read(original.place), head = read(original.place + "-head");
  ASSERT_FALSE(test::fs::exists(original.place + "-wal"));
  every_flip_is_detected(file, step(97));
  const std::string whole = file;
  for (const std::string& other :
       {whole.substr(0, whole.size() - kPageSize), whole + std::string(kPageSize, '\0'),
        whole.substr(0, 1000), std::string("this is no database")}) {
    file = other;
    EXPECT_TRUE(detected());
  }
}

// In-process, so that each byte of the file is met in every run of the tests: verify() starts with
// this check.
TEST_F(Tampering, EveryChangedByteOfEveryPageIsDetectedByItsDigest) {
  charge_and_close();
  std::string bytes = read(original.place);
  write(copy.place, bytes);
  ASSERT_NO_THROW(check_pages(copy.place));
  std::fstream store(copy.place, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t i, char value) {
    store.seekp(static_cast<std::streamoff>(i));
    store.put(value).flush();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(i, static_cast<char>(bytes[i] ^ (1 << (i % 8))));
    ASSERT_THROW(check_pages(copy.place), VerificationFailed) << "byte " << i;
    put(i, bytes[i]);
  }
  EXPECT_NO_THROW(check_pages(copy.place));
}

TEST_F(Tampering, EveryChangedByteOfTheLogOfAKilledProcessIsDetected) {
  charge_and_die();
  every_flip_is_detected(log, step(397));
  log.resize(log.size() - 1);
  EXPECT_TRUE(detected());
  log.clear();
  EXPECT_TRUE(detected());
}

TEST_F(Tampering, EveryChangedByteOfTheWitnessIsDetected) {
  charge_and_close();
  file = read(original.place), head = read(original.place + "-head");
  every_flip_is_detected(head, 1);
  head += '\n';
  EXPECT_TRUE(detected());
}

TEST_F(Tampering, ALogThatLostAChargeIsNotChargedAgain) {
  charge_and_die();
  log[log.size() - 1] = static_cast<char>(log[log.size() - 1] ^ 1);  // the last of the last commit
  put_copy();
  Ledger l = Ledger::open(copy, OpenMode::write);
  EXPECT_THROW(l.charge(pure(0.1, "more")), VerificationFailed);
  EXPECT_THROW(l.quote(pure(0.1, "more")), VerificationFailed);
  EXPECT_THROW(l.accounts(), VerificationFailed);
}

TEST_F(Tampering, AnOldCopyThatIsPutBackIsDetectedByTheWitness) {
  charge_and_close();
  file = read(original.place);
  Ledger::open(original, OpenMode::write).charge(pure(0.1, "later"));
  head = read(original.place + "-head");
  EXPECT_TRUE(detected());
  head.clear();  // a copy without its witness is a ledger of its own; the next charge makes another
  EXPECT_FALSE(detected());
  Ledger::open(copy, OpenMode::write).charge(pure(0.1, "other"));
  EXPECT_FALSE(read(copy.place + "-head").empty());
}

TEST_F(Tampering, ALedgerThatIsGoneIsNotBegunAnew) {
  charge_and_close();
  test::fs::remove(original.place);
  EXPECT_THROW(Ledger::open(original, OpenMode::create), StorageError);
  test::fs::remove(original.place + "-head");
  EXPECT_NO_THROW(Ledger::open(original, OpenMode::create).create(census()));
}

TEST_F(Tampering, AWitnessThatIsBehindIsNoComplaint) {
  charge_and_close();
  const std::string before = read(original.place + "-head");
  Ledger::open(original, OpenMode::write).charge(pure(0.1, "later"));
  file = read(original.place), head = before;  // killed after the commit, before the witness
  EXPECT_FALSE(detected());
}

}  // namespace sotto::ledger::tampering_test
