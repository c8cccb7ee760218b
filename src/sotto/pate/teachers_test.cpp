#include "sotto/pate/teachers.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/data/matrix_table.hpp"
#include "sotto/learning/majority_family_test.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/student.hpp"
#include "sotto/pate/teacher_store.hpp"

namespace sotto::pate::teachers_test {

using test::MajorityModel;

// Counts classes without noise; cannot learn from a part with a record whose first column is 1.
class CountingPlan final : public TrainingPlan {
 public:
  explicit CountingPlan(const Facts& facts) : facts_(facts) {}
  std::optional<Event> event() const override { return std::nullopt; }
  Relation relation() const override { return facts_.relation; }
  Explanation explain() const override { return {.method = "none"}; }
  using TrainingPlan::run;
  TrainedModel run(Source& source, Rng&, RunControl&) override {
    const Table all = source.table();
    std::vector<double> counts(facts_.classes().size(), 0.0);
    for (std::size_t i = 0; i < all.rows(); ++i) {
      if (all.dense(i)[0] >= 1) throw DataError("this record cannot be learned from");
      counts[static_cast<std::size_t>(all.targets()[i])] += 1;
    }
    return finished(std::make_unique<MajorityModel>(std::move(counts), facts_));
  }

 private:
  Facts facts_;
};

Family counting_family() {
  Family family = test::majority_family();
  family.methods = {{"none", "no noise"}};
  family.options = {};
  family.plan = [](const Facts& facts, const TrainingRequest&) -> std::unique_ptr<TrainingPlan> {
    return std::make_unique<CountingPlan>(facts);
  };
  return family;
}

const TrainingRequest kRequest = {.kind = "majority", .method = "none"};

Facts facts_of(Relation relation) {
  return table_facts(matrix_schema(
      {.bounds = {Bounds(-1, 1), Bounds(-1, 1)}, .classes = 3, .relation = relation, .rows = 200}));
}

struct Records {
  std::vector<double> x, y;

  static Records made(std::size_t count) {
    Rng rng = Rng::insecure_seed(4);
    Records r;
    for (std::size_t i = 0; i < count; ++i) {
      for (int j = 0; j < 2; ++j)
        r.x.push_back(static_cast<double>(rng.next_u64() >> 11) * 0x1p-53 * 1.8 - .9);
      r.y.push_back(static_cast<double>(rng.next_u64() % 3));
    }
    return r;
  }
  Table table(const Facts& facts) const {
    return matrix_table(*facts.encoder, MatrixView{x.data(), y.size(), 2, 2, 1}, y);
  }
};

Teachers taught(const Facts& facts, const Records& records, std::uint64_t teachers) {
  Teachers result(teachers);
  TeacherControl control;
  control.keep = [&](std::size_t i, std::optional<TrainedModel> model) {
    if (model) result[i] = std::move(*model).value();
  };
  Rng rng = Rng::insecure_seed(1);
  train_teachers(counting_family(), facts, kRequest, records.table(facts), teachers, "key", rng,
                 control);
  return result;
}

TEST(Partition, AddingARecordMovesNoOther) {
  const Facts facts = facts_of(Relation::add_remove);
  Records a = Records::made(100), b = a;
  b.x.insert(b.x.begin() + 20, {.5, .25});
  b.y.insert(b.y.begin() + 10, 2);
  const auto of_a = partition(a.table(facts), facts, 7, "key");
  const auto of_b = partition(b.table(facts), facts, 7, "key");
  std::size_t grown = 0;
  for (std::size_t p = 0; p < 7; ++p) {
    std::vector<std::size_t> expected;
    for (const std::size_t row : of_b[p])
      if (row != 10) expected.push_back(row > 10 ? row - 1 : row);
    EXPECT_EQ(of_a[p], expected);
    grown += of_b[p].size() - of_a[p].size();
  }
  EXPECT_EQ(grown, 1U);
  EXPECT_NE(partition(a.table(facts), facts, 7, "another key"), of_a);
}

TEST(Partition, AReplacedRecordStaysInItsPart) {
  const Facts facts = facts_of(Relation::replace_one);
  Records a = Records::made(200), b = a;
  b.x[40] = -.123, b.y[20] = 2 - b.y[20];
  EXPECT_EQ(partition(a.table(facts), facts, 7, "key"), partition(b.table(facts), facts, 7, "key"));
}

TEST(Partition, UsersThatAreReplacedAreRefused) {
  Facts facts = facts_of(Relation::replace_one);
  facts.unit = Unit::user;
  EXPECT_THROW(check_partition(facts), Unsupported);
  facts.relation = Relation::add_remove;
  EXPECT_NO_THROW(check_partition(facts));
}

TEST(Teachers, OneRecordMovesAtMostOneVoteOfEachQuery) {
  const Facts facts = facts_of(Relation::add_remove);
  const Records a = Records::made(120), pool = Records::made(9);
  const Table asked = pool.table(facts);
  std::vector<std::size_t> queries(9);
  std::iota(queries.begin(), queries.end(), std::size_t{0});
  const Votes before = count_votes(taught(facts, a, 15), asked, queries, 3);
  bool moved = false;
  for (std::size_t i = 0; i < 120; ++i) {
    for (const bool hostile : {false, true}) {
      Records b = a;
      if (hostile) {
        b.x[2 * i] = 1;  // its teacher fails
      } else {
        b.x.erase(b.x.begin() + static_cast<std::ptrdiff_t>(2 * i),
                  b.x.begin() + static_cast<std::ptrdiff_t>(2 * i + 2));
        b.y.erase(b.y.begin() + static_cast<std::ptrdiff_t>(i));
      }
      const Votes after = count_votes(taught(facts, b, 15), asked, queries, 3);
      for (std::size_t q = 0; q < 9; ++q) {
        std::int64_t distance = 0, sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          distance += std::abs(before.row(q)[c] - after.row(q)[c]);
          sum += after.row(q)[c];
        }
        // A record that is replaced by content leaves one part and enters another.
        ASSERT_LE(distance, hostile ? 4 : 2);
        ASSERT_EQ(sum, 15);
        moved |= distance > 0;
      }
    }
  }
  EXPECT_TRUE(moved);
}

TEST(Teachers, PartsWithoutRecordsVoteTheSameWhateverTheDataIs) {
  const Facts facts = facts_of(Relation::add_remove);
  Records none, bad;
  bad.x = {1, 0}, bad.y = {2};
  const Table asked = Records::made(2).table(facts);
  for (const Records* records : {&none, &bad}) {
    const Votes votes =
        count_votes(taught(facts, *records, 6), asked, std::vector<std::size_t>{0, 1}, 3);
    EXPECT_EQ(votes.counts, (std::vector<std::int64_t>{2, 2, 2, 2, 2, 2}));
  }
}

TEST(Teachers, ADirectoryIsPrivateAndTakenUp) {
  const std::string place = testing::TempDir() + "/teachers-" + std::to_string(::getpid());
  std::filesystem::remove_all(place);
  const Facts facts = facts_of(Relation::add_remove);
  const Records records = Records::made(60);
  const Table table = records.table(facts);
  const std::vector<Family> families = {counting_family()};
  const auto open = [&](std::uint64_t teachers, const Table& data, const std::string& key) {
    return TeacherStore::open(place,
                              {.teachers = teachers,
                               .family = "majority",
                               .kind = "majority",
                               .facts = facts,
                               .key = key},
                              data);
  };
  Rng rng = Rng::insecure_seed(1);
  const TeacherStore store = open(4, table, "first");
  int trained = 0;
  const auto teach = [&](const TeacherStore& s) {
    TeacherControl control;
    control.has = [&](std::size_t i) { return s.has(i); };
    control.keep = [&](std::size_t i, std::optional<TrainedModel> model) {
      ++trained;
      s.keep(i, model, rng);
    };
    train_teachers(families[0], facts, kRequest, table, 4, s.catalogue().key, rng, control);
  };
  teach(store);
  EXPECT_EQ(trained, 4);
  struct stat status {};
  ASSERT_EQ(::stat(place.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  const Votes before = count_votes(store.load(families), table, std::vector<std::size_t>{0}, 3);
  std::filesystem::remove_all(place + "/0002");
  EXPECT_THROW(store.load(families), DataError);
  const TeacherStore again = open(4, table, "second");
  EXPECT_EQ(again.catalogue().key, "first");
  teach(again);
  EXPECT_EQ(trained, 5);
  EXPECT_EQ(count_votes(again.load(families), table, std::vector<std::size_t>{0}, 3).counts,
            before.counts);
  EXPECT_THROW(open(5, table, "x"), InvalidArgument);
  EXPECT_THROW(open(4, Records::made(61).table(facts), "x"), InvalidArgument);
  std::filesystem::remove_all(place);
}

TEST(Teachers, ARequestThatCannotBePlannedIsRefusedAtOnce) {
  const Facts facts = facts_of(Relation::add_remove);
  TrainingRequest wrong = kRequest;
  wrong.method = "laplace";
  Rng rng = Rng::insecure_seed(1);
  EXPECT_THROW(train_teachers(counting_family(), facts, wrong, Records::made(3).table(facts), 2,
                              "key", rng, {}),
               InvalidArgument);
}

TEST(Student, LearnsFromReleasedLabelsOnly) {
  const Facts facts = facts_of(Relation::add_remove);
  const Records records = Records::made(30);
  const Table pool = matrix_table(*facts.encoder, MatrixView{records.x.data(), 30, 2, 2, 1});
  Labels labels;
  labels.labels = {{Origin::teachers, 2}, {Origin::none, 0}, {Origin::teachers, 2}};
  Rng rng = Rng::insecure_seed(1);
  const std::vector<std::size_t> queries = {3, 4, 5};
  const auto student =
      train_student(counting_family(), facts, kRequest, pool, queries, labels, nullptr, rng);
  EXPECT_EQ(student->apply(Block(pool))[0], 2);
  const features::NeighbourGraph graph(points_of(pool), 4);
  const auto helped =
      train_student(counting_family(), facts, kRequest, pool, queries, labels, &graph, rng);
  EXPECT_EQ(helped->apply(Block(pool))[0], 2);
  labels.labels.assign(3, {});
  EXPECT_THROW(
      train_student(counting_family(), facts, kRequest, pool, queries, labels, nullptr, rng),
      InvalidArgument);
  labels.labels.assign(3, {Origin::teachers, 0});
  EXPECT_THROW(train_student(counting_family(), facts, kRequest, records.table(facts), queries,
                             labels, nullptr, rng),
               InvalidArgument);
}

}  // namespace sotto::pate::teachers_test
