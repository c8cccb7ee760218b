#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/naive_bayes/detail/class_statistics.hpp"
#include "sotto/models/naive_bayes/detail/naive_bayes_model.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"

namespace sotto::naive_bayes_test {

constexpr double kDelta = 1e-6;

Schema schema(const std::string& relation, const std::string& more = {}) {
  return Schema::from_toml("relation = \"" + relation + "\"\nrows = 400\n" + more +
                           "[columns.age]\ntype = \"numeric\"\nbounds = [0, 80]\n"
                           "[columns.pay]\ntype = \"numeric\"\nbounds = [0, 10]\n"
                           "[columns.job]\ntype = \"categorical\"\nvalues = [\"a\", \"b\", \"c\"]\n"
                           "[columns.owns]\ntype = \"boolean\"\n"
                           "[columns.kind]\ntype = \"categorical\"\nrole = \"target\"\n"
                           "values = [\"x\", \"y\", \"z\"]\n");
}

Facts facts_of(const Schema& schema, const TrainingRequest& request = {.kind = "naive_bayes"}) {
  return facts_for(naive_bayes_family(), schema, request);
}

// One record as its cells; the encoder decides what becomes of them.
struct Record {
  double age, pay;
  std::string job, owns, kind;
};

Table table_of(const std::vector<Record>& records, const Encoder& encoder) {
  Table table(encoder);
  for (const Record& r : records) {
    const std::string age = std::to_string(r.age), pay = std::to_string(r.pay);
    const std::vector<std::string_view> cells = {age, pay, r.job, r.owns};
    Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, column);
    table.add_target(encoder.encode_target(r.kind));
  }
  return table;
}

// Three kinds of people whose columns differ by kind.
std::vector<Record> people(std::size_t n, unsigned seed = 3) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<Record> records;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t kind = rng() % 3;
    const bool typical = rng() % 4 != 0;
    records.push_back({20.0 + 20 * static_cast<double>(kind) + 6 * normal(rng), 5 + normal(rng),
                       std::string(1, "abc"[typical ? kind : rng() % 3]),
                       (rng() % 3 == kind) ? "true" : "false", std::string(1, "xyz"[kind])});
  }
  return records;
}

// Adds a record whose cells are all missing, as a file would under zero_out.
void add_null(Table& table) {
  table.add_row().factor = std::numeric_limits<double>::quiet_NaN();
  table.add_target(0);
}

TrainedModel train(const std::vector<Record>& records, const Facts& facts,
                   const std::optional<Budget>& budget, const std::string& method, Rng& rng) {
  const TrainingRequest request{.kind = "naive_bayes", .method = method, .budget = budget};
  const Table table = table_of(records, *facts.encoder);
  return plan_training(naive_bayes_family(), facts, request)->run(*table_in_memory(table), rng);
}

double accuracy(const Model& model, const std::vector<Record>& records, const Facts& facts) {
  const Table table = table_of(records, *facts.encoder);
  return evaluate(true, model.score(table)).classification.accuracy;
}

TEST(NaiveBayes, LearnsNearlyWhatItWouldLearnWithoutNoise) {
  const Facts facts = facts_of(schema("add_remove"));
  const auto train_on = people(6000), test_on = people(3000, 4);
  Rng rng = Rng::insecure_seed(5);
  const TrainedModel exact = train(train_on, facts, {}, "none", rng);
  EXPECT_FALSE(exact.event());
  const double best = accuracy(*exact.value(), test_on, facts);
  EXPECT_GT(best, 0.85);
  for (const Budget& budget :
       {Budget::pure(1), Budget::approximate(1, kDelta), Budget::zcdp(.05)}) {
    const TrainedModel noisy = train(train_on, facts, budget, "auto", rng);
    EXPECT_TRUE(noisy.event());
    EXPECT_GT(accuracy(*noisy.value(), test_on, facts), best - 0.02);
  }
}

TEST(NaiveBayes, MeansAndVariancesAreThoseOfTheColumnsAsNoiseVanishes) {
  const Facts facts = facts_of(schema("add_remove"));
  const Encoder& encoder = *facts.encoder;
  const ClassStatistics statistics(encoder, 3);
  const auto records = people(5000);
  const Table table = table_of(records, encoder);
  std::vector<int128> sums(statistics.size());
  statistics.add(table, sums);
  std::vector<double> natural;
  for (const int128 s : sums)
    natural.push_back(static_cast<double>(s) * ClassStatistics::kGranularity);
  const NaiveBayesModel model = NaiveBayesModel::from_sums(natural, statistics, encoder, 0);
  for (std::size_t c = 0; c < 3; ++c) {
    double n = 0, sum = 0, square = 0, owners = 0;
    for (const Record& r : records) {
      if (r.kind[0] != "xyz"[c]) continue;
      const double x = std::clamp(r.age, 0.0, 80.0) / 40 - 1;
      n += 1, sum += x, square += x * x, owners += r.owns == "true" ? 1 : 0;
    }
    EXPECT_NEAR(model.classes[c].share, n / 5000, 1e-9);
    EXPECT_NEAR(model.classes[c].normal[0].mean, sum / n, 1e-5);
    EXPECT_NEAR(model.classes[c].normal[0].variance, square / n - sum * sum / n / n, 1e-5);
    const std::size_t owns = encoder.run(3).first;
    EXPECT_NEAR(model.classes[c].probability[owns], owners / n, 2e-3);
  }
}

// All records of a small domain with every corner of it, in pairs.
TEST(NaiveBayes, NoPairOfRecordsMovesTheSumsFurtherThanTheSensitivity) {
  const Facts facts = facts_of(schema("replace_one"));
  const Encoder& encoder = *facts.encoder;
  const ClassStatistics statistics(encoder, 3);
  std::vector<std::vector<int128>> contributions;
  for (const double age : {-1e9, 0.0, 1e-7, 13.3, 40.0, 55.0, 80.0, 1e300}) {
    for (const double pay : {0.0, 2.5, 5.0, 7.7, 10.0}) {
      for (const char* job : {"a", "c"}) {
        for (const char* owns : {"true", "false"}) {
          for (const char* kind : {"x", "z"}) {
            std::vector<int128> sums(statistics.size());
            statistics.add(table_of({{age, pay, job, owns, kind}}, encoder), sums);
            contributions.push_back(std::move(sums));
          }
        }
      }
    }
  }
  const auto norms = [](const std::vector<int128>& a, const std::vector<int128>* b) {
    long double l1 = 0, square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const long double d = static_cast<long double>(a[i] - (b ? (*b)[i] : 0));
      l1 += std::abs(d), square += d * d;
    }
    return std::pair(l1, std::sqrt(square));
  };
  const Distance alone = statistics.distance(Relation::add_remove, 1),
                 pair = statistics.distance(Relation::replace_one, 1);
  long double worst1 = 0, worst2 = 0, pair1 = 0, pair2 = 0;
  for (const auto& a : contributions) {
    const auto [l1, l2] = norms(a, nullptr);
    worst1 = std::max(worst1, l1), worst2 = std::max(worst2, l2);
    for (const auto& b : contributions) {
      const auto [d1, d2] = norms(a, &b);
      pair1 = std::max(pair1, d1), pair2 = std::max(pair2, d2);
    }
  }
  EXPECT_LE(worst1, alone.l1);
  EXPECT_LE(worst2, alone.l2);
  EXPECT_LE(pair1, pair.l1);
  EXPECT_LE(pair2, pair.l2);
  // Attained, so nothing is wasted.
  EXPECT_GT(worst1, alone.l1 * 0.9999);
  EXPECT_GT(worst2, alone.l2 * 0.9999);
  EXPECT_GT(pair1, pair.l1 * 0.9999);
  EXPECT_GT(pair2, pair.l2 * 0.9999);
}

TEST(NaiveBayes, EventCostsTheBudgetAndIsKnownBeforeData) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    const Facts facts = facts_of(schema(relation));
    for (const double epsilon_asked : {0.1, 1.0, 8.0}) {
      const TrainingRequest request{.kind = "naive_bayes",
                                    .method = "gaussian",
                                    .budget = Budget::approximate(epsilon_asked, kDelta)};
      const auto plan = plan_training(naive_bayes_family(), facts, request);
      const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
      EXPECT_LE(bound.upper, epsilon_asked * (1 + 1e-9));
      EXPECT_GT(bound.upper, epsilon_asked * 0.98);
    }
  }
}

TEST(NaiveBayes, ReplayOnNeighboursStaysWithinTheSensitivity) {
  const auto records = people(60);
  for (const char* relation : {"add_remove", "replace_one"}) {
    for (const std::string more : {"", "scaling = \"unit\"\n"}) {
      const Facts facts = facts_of(schema(relation, more));
      for (const char* method : {"laplace", "gaussian"}) {
        for (std::size_t i = 0; i < 6; ++i) {
          auto neighbour = records;
          if (facts.relation == Relation::add_remove) {
            neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            neighbour[i] = {i % 2 ? 1e12 : -3, i % 3 ? 0.0 : 1e12, "b", "true", "z"};
          }
          const auto on = [&](const std::vector<Record>& data) {
            return [&](Rng& rng) {
              return train(data, facts, Budget::approximate(1, kDelta), method, rng).event();
            };
          };
          EXPECT_EQ(replay::check_neighbours(on(records), on(neighbour)), "");
        }
      }
    }
  }
}

TEST(NaiveBayes, TinyBudgetsAndDegenerateDataGiveProbabilities) {
  const Facts facts = facts_of(schema("add_remove"));
  const std::vector<std::vector<Record>> hard = {
      {}, {{1, 1, "a", "true", "x"}}, std::vector<Record>(50, {80, 10, "c", "false", "z"})};
  for (const auto& data : hard) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Rng rng = Rng::insecure_seed(seed);
      const TrainedModel trained = train(data, facts, Budget::pure(0.01), "auto", rng);
      const Table table = table_of(people(20), *facts.encoder);
      for (const ScoredRow& row : trained.value()->score(table)) {
        double total = 0;
        for (const double p : row.probabilities) {
          EXPECT_TRUE(p >= 0 && p <= 1);
          total += p;
        }
        EXPECT_NEAR(total, 1, 1e-9);
      }
    }
  }
}

TEST(NaiveBayes, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  Facts facts = facts_of(schema("add_remove"));
  Rng rng = Rng::insecure_seed(2);
  const auto data = people(300);
  const TrainedModel trained = train(data, facts, Budget::pure(1), "auto", rng);
  const Files files = trained.value()->files();
  const auto loaded = load_naive_bayes(files, facts);
  EXPECT_EQ(accuracy(*loaded, data, facts), accuracy(*trained.value(), data, facts));
  const std::string text = files.at("model.json");
  for (const std::string& broken :
       {std::string("{}"), std::string("[1"), text.substr(0, text.size() / 2),
        std::string(R"({"schema":1,"type":"naive_bayes","classes":[]})")}) {
    EXPECT_THROW(load_naive_bayes({{"model.json", broken}}, facts), DataError);
  }
  std::string negative = text;
  const std::size_t at = negative.find("\"variance\": ");
  negative.insert(at + 12, "-");
  EXPECT_THROW(load_naive_bayes({{"model.json", negative}}, facts), DataError);
}

TEST(NaiveBayes, ANullRecordContributesNothing) {
  const Facts facts = facts_of(schema("zero_out"));
  const ClassStatistics statistics(*facts.encoder, 3);
  Table table = table_of(people(20), *facts.encoder);
  std::vector<int128> without(statistics.size()), with(statistics.size());
  statistics.add(table, without);
  add_null(table);
  statistics.add(table, with);
  EXPECT_EQ(with, without);
}

TEST(NaiveBayes, RefusesGaussianNoiseForAPureEpsilon) {
  const Facts facts = facts_of(schema("add_remove"));
  Rng rng = Rng::insecure_seed(2);
  EXPECT_THROW(train({}, facts, Budget::pure(1), "gaussian", rng), InvalidArgument);
}

}  // namespace sotto::naive_bayes_test
