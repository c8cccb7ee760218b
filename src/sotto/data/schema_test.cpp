#include "sotto/data/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/draft.hpp"

namespace sotto::schema_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kContract = R"(relation = "add_remove"
rows = 32561
[columns.age]
type = "numeric"
bounds = [17, 90]
[columns.workclass]
type = "categorical"
values = ["Private", "State-gov"]
[columns.income]
type = "categorical"
role = "target"
values = ["<=50K", ">50K"]
)";

std::string error_of(const std::string& toml) {
  try {
    Schema::from_toml(toml, "s.toml");
  } catch (const DataError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}
// A schema with one good column and the lines given.
std::string with_top(const std::string& lines) {
  return "relation = \"add_remove\"\n" + lines +
         "[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n";
}
std::string with_column(const std::string& lines) {
  return "relation = \"add_remove\"\n[columns.x]\n" + lines;
}

TEST(Schema, ReadsTheContract) {
  const Schema schema = Schema::from_toml(kContract);
  EXPECT_EQ(schema.relation, Relation::add_remove);
  EXPECT_EQ(schema.rows, 32561U);
  EXPECT_EQ(schema.unit, Unit::record);
  EXPECT_THAT(schema.names(), ElementsAre("age", "workclass", "income"));
  EXPECT_EQ(schema.column("age").bounds, Bounds(17, 90));
  EXPECT_EQ(schema.column("age").missing, Missing::refuse);
  EXPECT_EQ(schema.column("workclass").missing, Missing::other);
  ASSERT_NE(schema.target(), nullptr);
  EXPECT_EQ(schema.target()->name, "income");
  EXPECT_EQ(schema.target()->missing, Missing::refuse);
}

TEST(Schema, KeepsTheOrderOfTheDocument) {
  const Schema schema = Schema::from_toml(
      "relation = \"replace_one\"\n[columns.z]\ntype = \"ignore\"\n[columns.a]\ntype = \"ignore\"\n"
      "[columns.\"m n\"]\ntype = \"ignore\"\n");
  EXPECT_THAT(schema.names(), ElementsAre("z", "a", "m n"));
}

TEST(Schema, SurvivesTomlAndJson) {
  Schema schema = Schema::from_toml(R"(
relation = "replace_one"
rows = 10
max_contributions = 3
feature_norm = 1.25
scaling = "unit"
missing_values = ["?", "N/A"]
[columns."odd \"name\"\n"]
type = "numeric"
bounds = [-1e300, 0.1]
missing = "midpoint"
invalid = "missing"
[columns.flag]
type = "boolean"
values = ["no way", "sure"]
[columns.who]
type = "text"
role = "user"
[columns.note]
type = "text"
[columns.junk]
type = "ignore"
[columns.y]
type = "numeric"
role = "target"
bounds = [0, 1e17]
[columns.g]
type = "categorical"
role = "group"
values = ["ä", "日本"]
missing = "refuse"
)");
  EXPECT_EQ(schema.unit, Unit::user);
  EXPECT_EQ(Schema::from_toml(schema.to_toml()), schema);
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
  EXPECT_EQ(schema_from_json(nlohmann::ordered_json::parse(to_json(schema).dump())), schema);
}

TEST(Schema, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of("relation = add_remove"), HasSubstr("s.toml, line 1: not valid TOML"));
  EXPECT_THAT(error_of("[columns.x]\ntype=\"ignore\"\n"), HasSubstr("has no relation"));
  EXPECT_THAT(error_of("relation = \"add_remove\"\n"), HasSubstr("has no columns"));
  EXPECT_THAT(error_of("relation = \"add_remove\"\n[columns]\n"), HasSubstr("columns is empty"));
  EXPECT_THAT(error_of("relation = \"add_remov\"\n"),
              AllOf(HasSubstr("line 1: relation is 'add_remov'; it must be one of add_remove"),
                    HasSubstr("did you mean 'add_remove'?")));
  EXPECT_THAT(error_of(with_top("row = 5\n")),
              AllOf(HasSubstr("line 2: row is not a key"), HasSubstr("did you mean 'rows'?")));
  EXPECT_THAT(error_of(with_top("rows = -5\n")), HasSubstr("rows must be a whole number"));
  EXPECT_THAT(error_of(with_top("rows = 0\n")), HasSubstr("rows must be a whole number"));
  EXPECT_THAT(error_of(with_top("rows = 1.5\n")), HasSubstr("rows must be a whole number"));
  EXPECT_THAT(error_of(with_top("feature_norm = 0\n")), HasSubstr("feature_norm must be at least"));
  EXPECT_THAT(error_of(with_top("feature_norm = inf\n")), HasSubstr("feature_norm must be finite"));
  EXPECT_THAT(error_of(with_top("scaling = \"unti\"\n")), HasSubstr("did you mean 'unit'?"));
  EXPECT_THAT(error_of(with_top("unit = \"user\"\n")), HasSubstr("no column has role = \"user\""));
  EXPECT_THAT(error_of(with_top("max_contributions = 2\n")), HasSubstr("needs a column with role"));
  EXPECT_THAT(error_of(with_top("missing_values = [1]\n")), HasSubstr("must be a list of strings"));
  EXPECT_THAT(error_of(with_top("rows = 2020-01-01\n")),
              HasSubstr("line 2: not valid TOML: dates and times have no place"));
  EXPECT_THAT(error_of("relation = \"add_remove\"\ncolumns = 3\n"), HasSubstr("must be a table"));
}

TEST(Schema, SaysWhatIsWrongWithAColumn) {
  EXPECT_THAT(error_of(with_column("bounds = [0, 1]\n")),
              HasSubstr("line 2: columns.x has no type"));
  EXPECT_THAT(error_of(with_column("type = \"numerc\"\n")),
              AllOf(HasSubstr("line 3: columns.x.type is 'numerc'"), HasSubstr("mean 'numeric'?")));
  EXPECT_THAT(
      error_of(with_column("type = \"numeric\"\nbound = [0, 1]\n")),
      AllOf(HasSubstr("columns.x.bound is not a key"), HasSubstr("did you mean 'bounds'?")));
  EXPECT_THAT(error_of(with_column("type = \"numeric\"\n")), HasSubstr("has no bounds"));
  for (const std::string bounds :
       {"[1, 0]", "[1, 1]", "[0, inf]", "[nan, 1]", "[-1.7e308, 1.7e308]", "[0, 5e-324]"}) {
    EXPECT_THAT(error_of(with_column("type = \"numeric\"\nbounds = " + bounds + "\n")),
                HasSubstr("line 4: columns.x.bounds is ["));
  }
  for (const std::string bounds : {"[1]", "3", "[\"a\", 1]", "[0, 1, 2]"}) {
    EXPECT_THAT(error_of(with_column("type = \"numeric\"\nbounds = " + bounds + "\n")),
                HasSubstr("must be two numbers"));
  }
  EXPECT_THAT(error_of(with_column("type = \"categorical\"\n")), HasSubstr("has no values"));
  EXPECT_THAT(error_of(with_column("type = \"categorical\"\nvalues = []\n")),
              HasSubstr("not be empty"));
  EXPECT_THAT(error_of(with_column("type = \"categorical\"\nvalues = [\"a\", \"a\"]\n")),
              HasSubstr("holds 'a' twice"));
  EXPECT_THAT(error_of(with_column("type = \"categorical\"\nvalues = [\"\"]\n")),
              HasSubstr("holds an empty string"));
  EXPECT_THAT(
      error_of(with_column("type = \"categorical\"\nvalues = [\"a\"]\nrole = \"target\"\n")),
      HasSubstr("at least two entries"));
  EXPECT_THAT(error_of(with_column("type = \"categorical\"\nvalues = [1, 2]\n")),
              HasSubstr("write numbers in quotes"));
  EXPECT_THAT(error_of(with_column("type = \"boolean\"\nvalues = [\"a\"]\n")),
              HasSubstr("two entries"));
  EXPECT_THAT(error_of(with_column("type = \"boolean\"\nbounds = [0, 1]\n")),
              HasSubstr("numeric columns and dates only"));
  EXPECT_THAT(error_of(with_column("type = \"numeric\"\nbounds = [0, 1]\nvalues = [\"a\"]\n")),
              HasSubstr("categorical and boolean columns only"));
  EXPECT_THAT(error_of(with_column("type = \"numeric\"\nbounds = [0, 1]\nmissing = \"other\"\n")),
              HasSubstr("a numeric column with role feature allows: refuse, midpoint"));
  EXPECT_THAT(
      error_of(with_column("type = \"categorical\"\nvalues = [\"a\"]\nmissing = \"midpoint\"\n")),
      HasSubstr("a categorical column with role feature allows: other, refuse"));
  EXPECT_THAT(error_of(with_column("type = \"text\"\nrole = \"target\"\n")),
              HasSubstr("text column cannot"));
  EXPECT_THAT(error_of(with_column("type = \"ignore\"\nrole = \"feature\"\n")),
              HasSubstr("the type is 'ignore'"));
  EXPECT_THAT(error_of(with_column("type = \"numeric\"\nbounds = [0, 1]\nrole = \"group\"\n")),
              HasSubstr("numeric column cannot have"));
  EXPECT_THAT(error_of(with_column("type = \"text\"\nrole = \"user\"\n")),
              HasSubstr("no max_contributions"));
  EXPECT_THAT(error_of(with_column("type = \"boolean\"\nrole = \"target\"\n[columns.y]\ntype = "
                                   "\"boolean\"\nrole = \"target\"\n")),
              HasSubstr("has 2 columns with role target: x, y"));
}

TEST(Schema, EveryProblemIsFoundInOneReading) {
  const auto problems = schema_problems(
      "relation = \"add_remov\"\nrow = 5\n[columns.a]\ntype = \"numerc\"\n[columns.b]\n"
      "type = \"numeric\"\nbounds = [5, 1]\nvalues = [\"x\"]\n[columns.c]\ntype = \"ignore\"\n");
  std::vector<unsigned> lines;
  for (const SchemaProblem& p : problems) lines.push_back(p.line);
  EXPECT_EQ(lines, (std::vector<unsigned>{1, 2, 4, 7, 8}));
  EXPECT_EQ(problems[3].where, "columns.b.bounds");
  EXPECT_EQ(problems[3].column, 1u);
  EXPECT_TRUE(schema_problems(with_column("type = \"ignore\"\n")).empty());
  EXPECT_EQ(schema_problems("relation = \n").size(), 1u);
  EXPECT_EQ(schema_problems("# \xff\n").size(), 1u);
}

TEST(Schema, CharactersBeyondAsciiNeedQuotes) {
  EXPECT_THAT(error_of(with_top("größe = 1\n")),
              HasSubstr("s.toml, line 2: not valid TOML: a name is expected"));
  EXPECT_THAT(error_of(with_column("type = ä\n")), HasSubstr("line 3: not valid TOML: a value"));
  EXPECT_THAT(error_of(with_column("type = 'ä'\n")), HasSubstr("line 3: columns.x.type is 'ä'"));
  for (const std::string bytes : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_THAT(error_of(with_column("type = \"" + bytes + "\"\n")),
                HasSubstr("line 3: the text is not UTF-8"));
  }
  const Schema schema = Schema::from_toml(
      "\xef\xbb\xbf# größe\nrelation = \"add_remove\"\n[columns.\"größe\"]\ntype = "
      "\"categorical\"\n"
      "values = [\"ä\", \"\\\"日\", \"\"\"😀\\\n  é\"\"\", 'c:\\x', 'ü'] # ß\n");
  EXPECT_THAT(schema.column("größe").values, ElementsAre("ä", "\"日", "😀é", "c:\\x", "ü"));
}

TEST(Schema, AnotherTargetCanBeChosen) {
  const Schema schema = Schema::from_toml(kContract).with_target("workclass");
  EXPECT_EQ(schema.target()->name, "workclass");
  EXPECT_EQ(schema.column("income").role, Role::feature);
  EXPECT_THROW(schema.with_target("wrkclass"), DataError);
}

TEST(Schema, TenThousandCategoriesAndColumnsAreNoProblem) {
  std::string toml = "relation = \"add_remove\"\n[columns.x]\ntype = \"categorical\"\nvalues = [";
  for (int i = 0; i < 10'000; ++i) toml += "\"c" + std::to_string(i) + "\",";
  toml += "]\n";
  for (int i = 0; i < 2'000; ++i)
    toml += "[columns.c" + std::to_string(i) + "]\ntype = \"boolean\"\n";
  const Schema schema = Schema::from_toml(toml);
  EXPECT_EQ(schema.column("x").values.size(), 10'000U);
  EXPECT_EQ(schema.columns.size(), 2'001U);
}

TEST(Draft, ReadsNothingFromTheData) {
  const std::string header = "age,sex,income,is_member,comment,target\n";
  const CsvReader one = CsvReader::from_text(header + "30,M,100,yes,hello,1\n");
  const CsvReader two = CsvReader::from_text(header + "x,y,z,u,v,w\n1,2,3,4,5,6\n");
  const std::string draft = draft_schema(one.columns());
  EXPECT_EQ(draft, draft_schema(two.columns()));
  EXPECT_THAT(draft, HasSubstr("[columns.age]\ntype = \"numeric\""));
  EXPECT_THAT(draft, HasSubstr("[columns.sex]\ntype = \"categorical\""));
  EXPECT_THAT(draft, HasSubstr("[columns.is_member]\ntype = \"boolean\""));
  EXPECT_THAT(draft, HasSubstr("[columns.comment]\ntype = \"text\""));
  EXPECT_THAT(
      draft,
      HasSubstr(
          "[columns.target]\ntype = \"categorical\"   # guessed from the name\nrole = \"target\""));
  EXPECT_THAT(error_of(draft), HasSubstr("columns.age is numeric and has no bounds"));
}

TEST(Draft, FromAPublicFileIsAValidSchema) {
  CsvReader sample = CsvReader::from_text(
      "age,sex,member,score,note,empty,target\n30,M,0,1.5,aa,,0\n40,F,1,,bb,,2\n50,\"F, "
      "x\",0,-2,cc,,1\n");
  const std::vector<std::string> columns = sample.columns();
  const Schema schema = Schema::from_toml(
      draft_schema(columns, sample, {.rows = 100, .target = "", .max_categories = 2 + 1}));
  EXPECT_EQ(schema.rows, 100U);
  EXPECT_EQ(schema.column("age").bounds, Bounds(30, 50));
  EXPECT_THAT(schema.column("sex").values, ElementsAre("F", "F, x", "M"));
  EXPECT_EQ(schema.column("member").type, ColumnType::boolean);
  EXPECT_EQ(schema.column("score").missing, Missing::midpoint);
  EXPECT_EQ(schema.column("empty").type, ColumnType::ignore);
  EXPECT_THAT(schema.target()->values, ElementsAre("0", "1", "2"));
}

TEST(Draft, RefusesATargetThatIsNoColumn) {
  const std::vector<std::string> columns = {"age", "income"};
  EXPECT_THROW(draft_schema(columns, {.rows = {}, .target = "incme"}), DataError);
}

}  // namespace sotto::schema_test
