// One changed byte anywhere in a signed model, its certificate or its signature is detected by sotto verify.
#include "command_case_test.hpp"

namespace sotto::cli {
namespace {

class Tampering : public CommandCase {
 protected:
  void SetUp() override {
    CommandCase::SetUp();
    file("people.csv", "age,income\n30,100\n40,200\n50,300\n");
    file("people.toml",
         "relation = \"add_remove\"\nrows = 3000\n[columns.age]\ntype = \"numeric\"\nbounds = [0, "
         "100]\n"
         "[columns.income]\ntype = \"numeric\"\nbounds = [0, 1000]\nrole = \"target\"\n");
    expect(0, {"key", "new", path("key.pem")});
    expect(0, {"ledger", "create", "--store", path("budget.db"), "--dataset", "people", "--epsilon",
               "2", "--delta", "1e-5"});
    expect(0, {"train", "--data", path("people.csv"), "--schema", path("people.toml"), "--model",
               "linear", "--epsilon", "1", "--delta", "1e-6", "--ledger", path("budget.db"),
               "--dataset", "people", "--sign", path("key.pem"), "--out", path("model")});
  }
  int code_of(const Words& words) { return run_words(words, rng_).code; }
  void expect(int code, const Words& words) {
    const Outcome outcome = run_words(words, rng_);
    ASSERT_EQ(outcome.code, code) << outcome.err;
  }
  void every_flip_is_detected(const std::string& place, const Words& words) {
    std::string bytes;
    {
      std::ifstream in(place, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    ASSERT_EQ(code_of(words), 0);
    const auto write = [&] { std::ofstream(place, std::ios::binary) << bytes; };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const char whole = bytes[i];
      // One bit each, and the lowest two: a digit that becomes another one.
      for (const int flip : {1 << (i % 8), 3}) {
        bytes[i] = static_cast<char>(whole ^ flip);
        write();
        const int code = code_of(words);
        ASSERT_TRUE(code == 5 || code == 6) << "byte " << i << " of " << place << ": " << code;
      }
      bytes[i] = whole;
    }
    write();
    ASSERT_EQ(code_of(words), 0);
  }
  Rng rng_;
};

TEST_F(Tampering, EveryChangedByteOfASignedModelIsDetected) {
  for (const char* name : {"certificate.json", "certificate.sig", "model.json", "encoder.json"}) {
    every_flip_is_detected(path("model") + "/" + name, {"verify", path("model")});
  }
}

TEST_F(Tampering, EveryChangedByteOfTheCertificateOfAReleaseIsDetected) {
  expect(0, {"release", "count", "--data", path("people.csv"), "--epsilon", "0.5", "--certificate",
             path("count.json")});
  every_flip_is_detected(path("count.json"), {"verify", path("count.json")});
}

TEST_F(Tampering, AFileThatIsMissingIsDetected) {
  std::filesystem::remove(path("model") + "/encoder.json");
  EXPECT_EQ(code_of({"verify", path("model")}), 5);
}

}  // namespace
}  // namespace sotto::cli
