// The parts of the command line: parsing, rounding, ticks, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "documents/documents.hpp"
#include "options/help.hpp"
#include "options/parse.hpp"
#include "shell/output.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli::cli_test {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string refusal(const std::vector<std::string>& words) {
  try {
    (void)parse(table(), words).arguments();
  } catch (const InvalidArgument& e) {
    return for_command_line(std::string(e.what()) + " | " + e.hint());
  }
  return "";
}

TEST(Parse, FindsTheCommandAndItsOptions) {
  const Call call =
      parse(table(), {"noise", "--scale=2", "--count", "1e3", "-q", "--distribution", "laplace"});
  EXPECT_EQ(call.title(), "sotto noise");
  const Arguments arguments = call.arguments();
  EXPECT_EQ(arguments.number("scale"), 2);
  EXPECT_EQ(arguments.whole("count"), 1000u);
  EXPECT_TRUE(arguments.flag("quiet"));
  EXPECT_EQ(arguments.text("color"), "auto");
}

TEST(Parse, TakesNegativeNumbersAndGlobalOptionsBeforeTheCommand) {
  const Call call = parse(table(), {"--color", "never", "release", "mean", "--lower", "-5",
                                    "--upper", "5", "--data", "-", "--column", "-x"});
  const Arguments arguments = call.arguments();
  EXPECT_EQ(arguments.number("lower"), -5);
  EXPECT_EQ(arguments.text("column"), "-x");
  EXPECT_EQ(arguments.text("color"), "never");
}

TEST(Parse, FileNamedLikeACommandIsAFile) {
  EXPECT_EQ(parse(table(), {"account", "noise", "--delta", "1e-5"}).positionals,
            std::vector<std::string>{"noise"});
  EXPECT_EQ(parse(table(), {"account", "-", "--delta", "1e-5"}).positionals,
            std::vector<std::string>{"-"});
  EXPECT_EQ(parse(table(), {"account", "--delta", "1e-5", "--", "--odd"}).positionals,
            std::vector<std::string>{"--odd"});
}

TEST(Parse, SuggestsButNeverGuesses) {
  EXPECT_THAT(refusal({"relaese"}), HasSubstr("did you mean 'sotto release'?"));
  EXPECT_THAT(refusal({"noise", "--scal", "2"}), HasSubstr("did you mean --scale?"));
  EXPECT_THAT(refusal({"rel"}), HasSubstr("is not a command"));  // no abbreviations
  EXPECT_THAT(refusal({"noise", "--distribution", "laplac", "--scale", "1", "--count", "1"}),
              HasSubstr("did you mean 'laplace'?"));
}

TEST(Parse, AnOptionWithoutItsValueIsNamed) {
  EXPECT_THAT(refusal({"noise", "--scale", "--count", "1"}),
              HasSubstr("--scale needs a value; it is followed by the option --count"));
  EXPECT_THAT(refusal({"noise", "--count", "1", "--scale"}), HasSubstr("--scale needs a value"));
}

TEST(Parse, RefusesValuesOutOfRangeByOptionValueAndRange) {
  const std::vector<std::string> start = {"noise", "--distribution", "laplace", "--count",
                                          "1",     "--scale"};
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e999", "two", "", "1x"}) {
    auto words = start;
    words.push_back(bad);
    EXPECT_THAT(refusal(words), HasSubstr("--scale is '" + bad + "'; it must be a number above 0"))
        << bad;
  }
  EXPECT_THAT(refusal({"noise", "--distribution", "laplace", "--scale", "1", "--count", "1.5"}),
              HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"noise", "--distribution", "laplace", "--scale", "1"}),
              HasSubstr("needs --count N"));
  EXPECT_THAT(refusal({"noise", "--scale", "1", "--scale", "2", "--distribution", "laplace",
                       "--count", "1"}),
              HasSubstr("given 2 times"));
  EXPECT_THAT(refusal({"noise", "--scale"}), HasSubstr("--scale"));
}

TEST(Table, EveryCommandHasSummaryAndEveryLeafRunsAndHasAnExample) {
  for_each_command({&table()}, [](const std::vector<const Command*>& path) {
    const Command& command = *path.back();
    EXPECT_FALSE(command.summary.empty()) << title(path);
    EXPECT_FALSE(command.examples.empty()) << title(path);
    EXPECT_EQ(command.commands.empty(), command.run != nullptr) << title(path);
    for (const Option& option : command.options) {
      EXPECT_FALSE(option.help.empty()) << title(path) << " --" << option.name;
      EXPECT_EQ(option.type == Type::flag, option.value.empty())
          << title(path) << " --" << option.name;
      EXPECT_EQ(option.type == Type::choice, !option.choices.empty())
          << title(path) << " --" << option.name;
      EXPECT_EQ(find_option(command, option.name), &option)
          << "declared twice: " << title(path) << " --" << option.name;
    }
  });
}

TEST(Help, ShowsExamplesBeforeOptions) {
  const std::string help = help_text({&table()});
  EXPECT_LT(help.find("Examples"), help.find("Usage"));
  EXPECT_LT(help.find("Usage"), help.find("Common options"));
}

TEST(ExitCodes, AreThoseOfTheErrorTypes) {
  for (ErrorCode code : {ErrorCode::internal, ErrorCode::usage, ErrorCode::bad_input,
                         ErrorCode::budget_refused, ErrorCode::verification_failed,
                         ErrorCode::storage, ErrorCode::not_built, ErrorCode::interrupted}) {
    bool listed = false;
    for (const auto& [number, meaning] : exit_codes()) listed = listed || number == exit_code(code);
    EXPECT_TRUE(listed) << name(code);
  }
}

TEST(Rounding, NeverCrossesTheValue) {
  for (double v :
       {0.1, 1.0 / 3, 6.18771999, 1e-5, 9.999999999, 123456.789, 1e-300, 0.5000000000000001}) {
    EXPECT_GE(std::stod(round_up(v)), v);
    EXPECT_LE(std::stod(round_down(v)), v);
    EXPECT_LE(std::stod(round_up(v)), v * (1 + 1.1e-5));
  }
  EXPECT_EQ(round_up(0.5), "0.5");
  EXPECT_EQ(round_up(6.187701), "6.18771");
  EXPECT_EQ(round_down(6.187719), "6.18771");
  EXPECT_EQ(round_up(0), "0");
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("sotto_cli_test_" + std::to_string(::getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  static std::string content(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  fs::path directory_;
};

TEST_F(Files, AppearWholeAndAlone) {
  write_file(directory_ / "a.txt", "first");
  write_file(directory_ / "a.txt", "second");
  EXPECT_EQ(content(directory_ / "a.txt"), "second");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, LeaveNothingBehindWhenTheWriterGivesUp) {
  write_file(directory_ / "a.txt", "old");
  try {
    OutputFile file(directory_ / "a.txt");
    file.write("half of the ne");
    throw std::runtime_error("the computation failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(content(directory_ / "a.txt"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, OnAFullDeviceAreAStorageError) {
  EXPECT_THROW(write_file("/dev/full", "x"), StorageError);
  EXPECT_THROW(write_file(directory_ / "missing" / "a.txt", "x"), StorageError);
}

TEST(OutputStream, TellsWhenTheReaderIsGone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  Output out(descriptor_sink(ends[1], "standard output"));
  out.write("x");
  EXPECT_THROW(out.flush(), StorageError);
  EXPECT_NO_THROW(out.flush());  // the lost bytes are not tried again
  std::signal(SIGPIPE, previous);
  ::close(ends[1]);
}

}  // namespace sotto::cli::cli_test
