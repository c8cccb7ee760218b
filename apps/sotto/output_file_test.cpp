#include "shell/output_file.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "sotto/core/error.hpp"

namespace {

// What happens the moment a file has been made: a signal may come there.
std::function<void()>& after_creation() {
  static std::function<void()> act;
  return act;
}

}  // namespace

// Takes the place of the C library's, for this program.
extern "C" int mkostemp(char* name, int flags) noexcept {
  static const auto real = reinterpret_cast<int (*)(char*, int)>(::dlsym(RTLD_NEXT, "mkostemp"));
  const int descriptor = real(name, flags);
  if (after_creation()) after_creation()();
  return descriptor;
}

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    place_ = name;
  }
  void TearDown() override {
    after_creation() = nullptr;
    fs::remove_all(place_);
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(place_), fs::directory_iterator());
  }
  fs::path place_;
};

TEST_F(OutputFileTest, ASignalRightAfterItsCreationFindsItsName) {
  std::ptrdiff_t made = 0;
  after_creation() = [&] {
    made = files();
    remove_unfinished_files();  // what the handler does
  };
  const OutputFile file((place_ / "result").string());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, AFileThatCannotBeMadeIsForgotten) {
  // More often than there are places for names: none may stay taken.
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(OutputFile((place_ / "no" / "such" / "folder").string()), StorageError);
  }
  const OutputFile file((place_ / "result").string());
  EXPECT_EQ(files(), 1);
  remove_unfinished_files();
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace sotto::cli
