#include "sotto/core/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto::whole_file_test {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    std::string name = (fs::temp_directory_path() / "sotto-whole-file-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~WholeFile() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  fs::path folder_;
};

TEST_F(WholeFile, GivesEveryByte) {
  for (const std::size_t size : {0U, 1U, 4096U, 3'000'000U}) {
    std::string text(size, 'x');
    if (size > 1) text[size / 2] = '\0';
    write("a", text);
    EXPECT_EQ(read_whole_file(path("a"), 3'000'000), text);
  }
  EXPECT_FALSE(read_whole_file("/proc/self/status", 1 << 20).empty());  // has no size beforehand
}

TEST_F(WholeFile, RefusesWhatIsTooLong) {
  write("a", "12345");
  EXPECT_EQ(read_whole_file(path("a"), 5), "12345");
  EXPECT_THROW(read_whole_file(path("a"), 4), DataError);
  EXPECT_THROW(read_whole_file("/proc/self/status", 10), DataError);
  fs::resize_file(path("a"), std::uintmax_t{1} << 40);  // a hole of a terabyte
  EXPECT_THROW(read_whole_file(path("a"), std::size_t{8} << 30), DataError);
}

TEST_F(WholeFile, RefusesWhatIsNoRegularFileAndDoesNotWaitForIt) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", path("link"));
  for (const std::string& bad : {path("pipe"), path("link"), folder_.string(), path("absent"),
                                 std::string("/dev/zero"), std::string("/dev/tty")})
    EXPECT_THROW(read_whole_file(bad, 100), DataError) << bad;
}

// An artifact with a certificate as it is written, and one file replaced by something else.
class CertifiedPlace : public WholeFile {
 protected:
  CertifiedPlace() { write_certified(place(), {{"model.json", "{}"}}, Certificate{}); }
  std::string place() const { return path("artifact"); }
  void rename_in_certificate(const std::string& name) const {
    std::string text = read_whole_file(place() + "/certificate.json", 1 << 20);
    text.replace(text.find("model.json"), 10, name);
    std::ofstream(place() + "/certificate.json") << text;
  }
};

TEST_F(CertifiedPlace, RefusesSpecialFiles) {
  EXPECT_EQ(read_certified(place()).files.at("model.json"), "{}");
  for (const char* name : {"model.json", "certificate.json"}) {
    const fs::path file = fs::path(place()) / name, kept = path("kept");
    fs::rename(file, kept);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    EXPECT_THROW(read_certified(place()), DataError) << name;
    fs::remove(file);
    fs::create_symlink("/dev/zero", file);
    EXPECT_THROW(read_certified(place()), DataError) << name;
    fs::remove(file);
    fs::rename(kept, file);
  }
}

TEST_F(CertifiedPlace, RefusesNamesThatAreNoFileOfTheDirectory) {
  for (const char* name : {"..", ".", "a/b", "../x", "", "a\\u0000b", "a\\u001b[2J"}) {
    rename_in_certificate(name);
    EXPECT_THROW(read_certified(place()), DataError) << name;
    fs::remove_all(place());
    write_certified(place(), {{"model.json", "{}"}}, Certificate{});
  }
}

}  // namespace sotto::whole_file_test
