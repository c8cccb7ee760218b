#include "sotto/audit/linkage.hpp"

#include <gtest/gtest.h>

namespace sotto::audit::linkage_test {

const std::vector<std::string> kKeys = {"a", "a", "b", "b", "b", "c"},
                               kSecrets = {"flu", "flu", "flu", "cold", "cold", "gout"};

TEST(Linkage, CountsClassesAndTheirSecrets) {
  const Anonymity a = anonymity(kKeys, kSecrets);
  EXPECT_EQ(a.records, 6u);
  EXPECT_EQ(a.classes, 3u);
  EXPECT_EQ(a.k, 1u);
  EXPECT_EQ(a.unique, 1u);
  EXPECT_EQ(a.below_5, 6u);
  EXPECT_EQ(a.l, 1u);
  EXPECT_EQ(a.same_secret, 3u);  // both of a, and c
  EXPECT_EQ(anonymity({"a", "a", "b", "b"}, {}).k, 2u);
  EXPECT_FALSE(anonymity({"a"}, {}).l.has_value());
  EXPECT_EQ(anonymity({}, {}).k, 0u);
}

TEST(Linkage, OneRecordAndOneCandidateAreAMatch) {
  // c has one record and one candidate; a has two records; b has two candidates.
  const Linkage l = link(kKeys, {"a", "b", "b", "c", "d"}, kSecrets, {"A", "B", "C", "D", "E", "F"},
                         {"A", "C", "D", "F", "G"});
  EXPECT_EQ(l.records, 6u);
  EXPECT_EQ(l.found, 1u);
  EXPECT_EQ(l.ambiguous, 5u);
  EXPECT_EQ(l.unknown, 0u);
  EXPECT_EQ(l.disclosed, 2u);  // of a and of c the secret is known, whichever record is theirs
  EXPECT_EQ(l.right, 1u);
  EXPECT_EQ(link(kKeys, {"c"}, {}, {"A", "B", "C", "D", "E", "F"}, {"X"}).right, 0u);
  EXPECT_EQ(link(kKeys, {"c"}, {}, {}, {}).unknown, 5u);
}

}  // namespace sotto::audit::linkage_test
