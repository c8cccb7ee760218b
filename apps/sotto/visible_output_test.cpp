// Everything visible of every command that reads private data, on neighbouring files with one tape
// of randomness: exit code, both outputs, and the names, sizes, modes and contents of the files
// written. No noised query may move by more than it declares; the second run is given what the
// first released, so that all the rest has to be equal to the letter.
//
// SOTTO_NEIGHBOUR_PAIRS=200 tries so many pairs of files with every command and relation; a few are
// enough for every day. Of the many runs that trainings and evaluations offer, each pair then takes
// every eighth, another eighth than the pair before.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>

#include "visible_case_test.hpp"

namespace sotto::cli::visible {

TEST_P(VisibleOutput, OfReleases) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  const Words ages = {"--column", "age", "--missing-values", "seventeen,?"};
  const Words bounded = ages + Words{"--lower", "17", "--upper", "90"};
  std::vector<Words> all = {
      {"count"},
      {"count", "--column", "city"},
      {"count", "--column", "city", "--equals", "Turin"},
      {"histogram", "--column", "city", "--values", "Turin,Milan,caf", "--unknown", "ignore"},
      {"histogram", "--column", "city", "--values", "Turin,else", "--other", "else"}};
  for (const std::string name : {"sum", "mean", "variance", "quantile", "count"}) {
    if (nulls()) {
      all.push_back(Words{name} + bounded);
    } else {
      if (name != "count") all.push_back(Words{name} + bounded + Words{"--missing", "midpoint"});
      if (relation() == "add_remove" || name == "count")
        all.push_back(Words{name} + bounded + Words{"--missing", "skip"});
    }
  }
  const std::size_t columns = all.size();
  for (std::size_t i = 0; i < columns; ++i) {  // from a file of one column too
    if (std::find(all[i].begin(), all[i].end(), "city") == all[i].end())
      all.push_back(all[i] + Words{"ages"});
  }
  for (std::uint32_t seed = 1; seed <= pairs(4); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b),
                      one_a = write_ages("one_a.csv", n.a), one_b = write_ages("one_b.csv", n.b);
    for (Words words : all) {
      const bool one = words.back() == "ages";
      if (one) words.pop_back();
      for (const Words& budget : {Words{"--epsilon", "0.5"}, Words{"--rho", "0.1"},
                                  Words{"--epsilon", "0.5", "--delta", "1e-6"}}) {
        Words full = Words{"release"} + words + budget + Words{"--relation", relation()};
        if (budget.front() != "--rho") full = full + Words{"--certificate", path("made")};
        expect_same(full, one ? one_a : a, one ? one_b : b, seed);
      }
    }
  }
}

// What is common enough to be shown depends on the data, within delta; everything else must not.
TEST_P(VisibleOutput, OfUndeclaredCategories) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  for (std::uint32_t seed = 1; seed <= pairs(4); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    Outcome outcomes[2];
    for (int i = 0; i < 2; ++i) {
      Rng rng = Rng::insecure_seed(seed);
      outcomes[i] =
          run_words({"release", "histogram", "--column", "city", "--unknown-categories",
                     "--epsilon", "1", "--delta", "1e-6", "--relation", relation(), "--certificate",
                     path("made"), "--data", write("d.csv", i == 0 ? n.a : n.b)},
                    rng, path("made"));
      outcomes[i].out.clear();
      ++runs_;
    }
    EXPECT_EQ(outcomes[0].code, 0) << outcomes[0].err;
    EXPECT_EQ(outcomes[0], outcomes[1]);
  }
}

TEST_P(VisibleOutput, OfTraining) {
  const std::vector<Words> all = training_runs(schema());
  ASSERT_GE(all.size(), hosted().size());
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed, true);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (has_its_turn(i, seed)) expect_same(all[i], a, b, seed);
  }
}

TEST_P(VisibleOutput, OfTrainingOnUsers) {
  const std::vector<Words> all = training_runs(schema("max_contributions = 2\n", kUserColumn));
  if (all.empty() && in_guest_executable()) GTEST_SKIP() << "its families take no users";
  ASSERT_FALSE(all.empty());
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbouring_users(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (has_its_turn(i, seed)) expect_same(all[i], a, b, seed);
  }
}

TEST_P(VisibleOutput, OfEvaluation) {
  const std::string s = schema();
  std::vector<std::pair<std::string, Words>> models;  // made from public rows
  for (const auto& [place, words] : public_models(s)) {
    Rng rng = Rng::insecure_seed(1);
    const Outcome outcome =
        run_words(words + Words{"--data", write("public.csv", Writer(7).rows(kRows))}, rng);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    models.push_back({place, {}});
    if (std::find(words.begin(), words.end(), "--target") != words.end())
      models.push_back({place, {"--groups", "city"}});
  }
  for (std::uint32_t seed = 1; seed <= pairs(4); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (!has_its_turn(i, seed)) continue;
      const auto& [model, groups] = models[i];
      for (const Words& budget :
           {Words{"--epsilon", "1"}, Words{"--rho", "0.1", "--delta", "1e-6"}})
        expect_same(
            Words{"evaluate", "--model", model, "--certificate", path("made")} + groups + budget, a,
            b, seed);
    }
  }
}

TEST_P(VisibleOutput, OfSummaries) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  std::vector<Words> all = {{"--statistics",
                             "count,sum:age,mean:age,variance:cost,median:age,quantile:cost:0.9,"
                             "histogram:grade,correlation:age:cost"}};
  if (relation() == "add_remove")  // else refused: how many records a group has is private
    all.push_back({"--statistics", "count,mean:cost,median:cost", "--by-group", "grade", "--where",
                   "age>=30"});
  for (const bool users : {false, true}) {
    if (users && relation() != "add_remove") continue;  // refused
    const std::string s = users ? schema("max_contributions = 2\n", kUserColumn) : schema();
    for (std::uint32_t seed = 1; seed <= pairs(2); ++seed) {
      const Neighbours n =
          users ? neighbouring_users(relation(), seed) : neighbours(relation(), seed);
      const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
      for (const Words& words : all)
        for (const Words& budget : {Words{"--epsilon", "0.5"}, Words{"--rho", "0.1"},
                                    Words{"--epsilon", "0.5", "--delta", "1e-6"}})
          expect_same(Words{"release", "summary", "--schema", s} + words + budget, a, b, seed);
    }
  }
}

TEST_P(VisibleOutput, OfSyntheses) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  const std::string s = schema();
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (const Words& budget :
         {Words{"--epsilon", "2"}, Words{"--epsilon", "2", "--delta", "1e-3"}})
      expect_same(
          Words{"synthesize", "--schema", s, "--rows", "12", "--out", path("made")} + budget, a, b,
          seed);
  }
}

TEST_P(VisibleOutput, OfPipelines) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  const std::string s = schema();
  const std::string steps[] = {
      "[steps.scale]\n[steps.pca]\ncomponents = 2\n[steps.grade]\nmodel = \"logistic\"\n",
      "[steps.bounds]\n[steps.bins]\n[steps.grade]\nmodel = \"naive_bayes\"\n"};
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (const std::string& text : steps)
      expect_same({"train", "--schema", s, "--pipeline", file("steps.toml", text), "--target",
                   "grade", "--epsilon", "2", "--delta", "1e-3", "--out", path("made")},
                  a, b, seed);
  }
}

// Teachers, their noisy votes and a student of them. One record moves one vote of each query.
TEST_P(VisibleOutput, OfVotes) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  const std::string open = write("open.csv", Writer(7).rows(12));
  for (const bool users : {false, true}) {
    if (users && relation() == "replace_one") continue;  // refused
    const std::string s = users ? schema("max_contributions = 2\n", kUserColumn) : schema();
    for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
      const Neighbours n =
          users ? neighbouring_users(relation(), seed) : neighbours(relation(), seed);
      const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
      std::size_t run = 0;
      for (const std::string aggregator : {"lnmax", "gnmax", "confident_gnmax"})
        for (const std::string model : {"logistic", "naive_bayes", "tree"})
          if (has_its_turn(run++, seed))
            expect_same({"pate",         "run",      "--schema",   s,           "--target", "grade",
                         "--model",      model,      "--teachers", "5",         "--public", open,
                         "--queries",    "6",        "--sigma",    "2",         "--delta",  "1e-3",
                         "--aggregator", aggregator, "--out",      path("made")},
                        a, b, seed);
    }
  }
}

TEST_P(VisibleOutput, OfDrafts) {
  if (in_guest_executable()) GTEST_SKIP() << "no family in it";
  for (std::uint32_t seed = 1; seed <= pairs(4); ++seed) {
    const Neighbours n = neighbours(relation(), seed);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    const auto draft = [&](const std::string& data) {
      Words words = {"schema",         "draft",     data,     "--numeric",  "age,cost",
                     "--boolean",      "smoker",    "--text", "who",        "--ignore",
                     "city,ill,grade", "--epsilon", "1",      "--relation", relation(),
                     "--certificate",  path("made")};
      if (seed % 2 == 0) words.push_back("--json");
      return words;
    };
    ++runs_;
    EXPECT_EQ(difference(draft(a), draft(b), path("made"), seed), "")
        << relation() << " pair " << seed;
  }
}

TEST_P(VisibleOutput, OfPrivateSweeps) {
  const std::string s = schema(), test = write("public.csv", Writer(7).rows(kRows));
  std::vector<Words> all;
  for (const Family* family : hosted()) {
    for (const Kind& kind : family->kinds) {
      const std::string method = family->methods.front().name;
      std::string last;
      for (const Offer& offer : offers_of(*family, kind)) {
        if (offer.method != method || offer.target.empty() || offer.target == last) continue;
        last = offer.target;
        const Words words = {"sweep",     "--schema",   s,           "--model",   kind.name,
                             "--target",  offer.target, "--methods", method,      "--epsilons",
                             "1,3",       "--delta",    "1e-6",      "--repeats", "1",
                             "--private", "--test",     test,        "--out",     path("made")};
        Rng rng = Rng::insecure_seed(1);
        if (run_words(words + Words{"--data", "absent.csv", "--dry-run"}, rng).code == 0)
          all.push_back(words);
      }
    }
  }
  ASSERT_FALSE(all.empty());
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed, true);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (has_its_turn(i, seed)) expect_same(all[i], a, b, seed);
  }
}

// The same trials on neighbours: nothing but what was released may differ, with scores on public
// rows and with noisy ones.
TEST_P(VisibleOutput, OfTuning) {
  const std::string s = schema(), test = write("public.csv", Writer(7).rows(kRows)),
                    grid = path("grid.toml");
  std::ofstream(grid) << "[space.rule]\n";
  std::vector<Words> all;
  for (const Family* family : hosted()) {
    const Kind& kind = family->kinds.front();
    const std::vector<Offer> offers = offers_of(*family, kind);
    const auto offer = std::find_if(offers.begin(), offers.end(), [&](const Offer& o) {
      return o.method == family->methods.front().name && !o.target.empty();
    });
    if (offer == offers.end()) continue;
    for (const Words& score : {Words{"--validation", test}, Words{"--score-share", "0.3"}}) {
      const Words words = Words{"tune",          "--schema", s,
                                "--model",       kind.name,  "--target",
                                offer->target,   "--grid",   grid,
                                "--epsilon",     "2",        "--delta",
                                "1e-6",          "--out",    path("made"),
                                "--trials-mean", "2"} +
                          score;
      Rng rng = Rng::insecure_seed(1);
      if (run_words(words + Words{"--data", "absent.csv", "--dry-run"}, rng).code == 0)
        all.push_back(words);
    }
  }
  ASSERT_FALSE(all.empty());
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed, true);
    const std::string a = write("a.csv", n.a), b = write("b.csv", n.b);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (has_its_turn(i, seed)) expect_same(all[i], a, b, seed);
  }
}

// What the ledger is told must be the same, too: entries, spends, refusals.
TEST_P(VisibleOutput, OfChargedRuns) {
  const std::string s = schema();
  std::vector<Words> all = {
      {"release", "count", "--epsilon", "0.5", "--relation", relation()},
      {"release", "count", "--epsilon", "5", "--relation", relation()}};  // refused
  for (const Family* family : hosted()) {
    const Offer offer = offers_of(*family, family->kinds.front()).front();
    all.push_back(offer.train(s, path("made")));
  }
  for (std::uint32_t seed = 1; seed <= pairs(1); ++seed) {
    const Neighbours n = neighbours(relation(), seed, true);
    const std::string data[] = {write("a.csv", n.a), write("b.csv", n.b)};
    for (std::size_t run = 0; run < all.size(); ++run) {
      if (!has_its_turn(run, seed)) continue;
      const Words& words = all[run];
      Outcome outcomes[2];
      std::string told[2];
      for (int i = 0; i < 2; ++i) {
        Rng rng = Rng::insecure_seed(seed);
        std::filesystem::remove_all(path("store"));
        std::filesystem::create_directory(path("store"));
        const Words store = {"--store", path("store/budget.db")};
        run_words(Words{"ledger", "create", "--dataset", "people", "--epsilon", "2", "--delta",
                        "1e-5", "--relation", relation()} +
                      store,
                  rng);
        outcomes[i] =
            run_words(words + Words{"--data", data[i], "--ledger", path("store/budget.db"),
                                    "--dataset", "people", "--key", "k", "--quiet"},
                      rng, path("made"));
        outcomes[i].out.clear();  // noisy values; other tests compare them
        outcomes[i].files.clear();
        const Outcome shown = run_words(
            Words{"ledger", "show", "--dataset", "people", "--entries", "9"} + store, rng);
        told[i] =
            std::regex_replace(shown.out + shown.err, std::regex("[0-9a-f]{64}|[-0-9T:. ]+Z"), "");
        std::size_t bytes = 0;
        for (const auto& entry : std::filesystem::directory_iterator(path("store"))) {
          told[i] += entry.path().filename().string() + " ";
          bytes += entry.file_size();
        }
        told[i] += std::to_string(bytes);
        ++runs_;
      }
      EXPECT_EQ(outcomes[0], outcomes[1]) << testing::PrintToString(words) << outcomes[1].err;
      EXPECT_EQ(told[0], told[1]) << testing::PrintToString(words);
    }
  }
}

TEST_P(VisibleOutput, CatchesFilesThatAreNoNeighbours) {
  Rows a = Writer(3).rows(kRows), b = a;
  for (std::string& row : a) row = "z,17,Turin,0,no,0,A";
  for (std::string& row : b) row = "z,90,Milan,1,yes,1000,B";
  const Words words = {"release", "sum", "--column",  "age", "--lower",    "17",
                       "--upper", "90",  "--epsilon", "1",   "--relation", relation()};
  EXPECT_THAT(difference(words + Words{"--data", write("a.csv", a)},
                         words + Words{"--data", write("b.csv", b)}),
              testing::HasSubstr("moved by"));
  b.push_back("z,text,Turin,0,no,0,A");  // a failure that depends on a row
  EXPECT_THAT(difference(words + Words{"--data", write("a.csv", a)},
                         words + Words{"--data", write("b.csv", b)}),
              testing::HasSubstr("exit codes differ"));
}

INSTANTIATE_TEST_SUITE_P(Relations, VisibleOutput,
                         testing::Values("add_remove", "replace_one", "zero_out"),
                         [](const auto& relation) { return std::string(relation.param); });

}  // namespace sotto::cli::visible
