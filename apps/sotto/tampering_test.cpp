// One changed byte anywhere in a signed model, its certificate or its signature is detected by
// sotto verify.
#include <nlohmann/json.hpp>

#include "command_case_test.hpp"
#include "sotto/core/certified_directory.hpp"

namespace sotto::cli::tampering_test {

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

// The same events twice, each paid for; then one certificate is given the other's entry.
TEST_F(Tampering, AnEntryOfTheLedgerPaysForOneResultOnly) {
  const Words ledger = {"--ledger", path("budget.db"), "--dataset", "people"};
  const auto release = [&](const std::string& name) {
    // A sum is not clamped, so two of them differ: equal results of equal events are one result.
    expect(0, Words{"release", "sum", "--data", path("people.csv"), "--column", "age", "--lower",
                    "0", "--upper", "100", "--epsilon", "0.1", "--certificate", path(name)} +
                  ledger);
  };
  release("first.json"), release("second.json");
  expect(0, Words{"train", "--data", path("people.csv"), "--schema", path("people.toml"), "--model",
                  "linear", "--epsilon", "1", "--delta", "1e-6", "--out", path("free")});
  const auto read = [](const std::string& place) {
    return certificate_from_json(
        nlohmann::ordered_json::parse(read_certificate_text(place).certificate));
  };
  const auto write = [](const std::string& place, const Certificate& c) {
    std::ofstream(place, std::ios::binary) << to_json(c).dump(2) << "\n";
  };
  const auto verify = [&](const std::string& place) {
    return code_of({"verify", path(place), "--ledger", path("budget.db")});
  };
  EXPECT_EQ(verify("first.json"), 0);
  EXPECT_EQ(verify("second.json"), 0);
  EXPECT_EQ(verify("model"), 0);
  EXPECT_EQ(verify("free"), 5);

  Certificate pasted = read(path("first.json"));
  pasted.ledger = read(path("second.json")).ledger;
  write(path("pasted.json"), pasted);
  EXPECT_EQ(code_of({"verify", path("pasted.json")}),
            0);  // by itself there is nothing wrong with it
  EXPECT_EQ(verify("pasted.json"), 5);

  pasted = read(path("free"));
  pasted.ledger = read(path("model")).ledger;
  write(path("free") + "/certificate.json", pasted);
  EXPECT_EQ(code_of({"verify", path("free")}), 0);
  EXPECT_EQ(verify("free"), 5);

  pasted = read(path("first.json"));
  pasted.unit = "user";  // a contradicting unit
  write(path("user.json"), pasted);
  EXPECT_EQ(verify("user.json"), 5);

  // A charge by hand says nothing about a result, so it stands behind none.
  pasted = read(path("second.json"));
  file("spec.json", to_json(*pasted.spec).dump());
  expect(0, {"ledger", "charge", "--store", path("budget.db"), "--dataset", "people", "--spec",
             path("spec.json"), "--key", "by hand", "-o", path("receipt"), "--json"});
  std::ifstream in(path("receipt"));
  const auto receipt = nlohmann::json::parse(in);
  pasted.ledger->entry = receipt.at("entry").get<std::int64_t>();
  pasted.ledger->head = receipt.at("head").get<std::string>();
  write(path("hand.json"), pasted);
  EXPECT_EQ(verify("hand.json"), 5);
}

TEST_F(Tampering, TheKeyThatSignedIsNamedAndComparedOnlyWhenAskedFor) {
  expect(0, {"key", "new", path("other.pem")});
  const auto answer = [&](const Words& more) {
    return nlohmann::json::parse(
        run_words(Words{"verify", path("model"), "--json"} + more, rng_).out);
  };
  const auto alone = answer({}), asked = answer({"--signed-by", path("key.pem.pub")});
  EXPECT_TRUE(alone.at("signed"));
  EXPECT_FALSE(alone.at("key_expected"));
  EXPECT_TRUE(asked.at("key_expected"));
  EXPECT_EQ(alone.at("key_fingerprint"), asked.at("key_fingerprint"));
  EXPECT_EQ(alone.at("key_fingerprint").get<std::string>().size(), 64u);
  EXPECT_EQ(code_of({"verify", path("model"), "--signed-by", path("other.pem.pub")}), 5);
  std::filesystem::remove(path("model") + "/certificate.sig");
  const auto unsigned_model = answer({});
  EXPECT_FALSE(unsigned_model.at("signed"));
  EXPECT_FALSE(unsigned_model.at("key_expected"));
  EXPECT_TRUE(unsigned_model.at("key_fingerprint").is_null());
}

TEST_F(Tampering, AFileThatIsMissingIsDetected) {
  std::filesystem::remove(path("model") + "/encoder.json");
  EXPECT_EQ(code_of({"verify", path("model")}), 5);
}

}  // namespace sotto::cli::tampering_test
