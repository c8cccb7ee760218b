// The rules of arithmetic, each overload called with arguments made after its schema.
#include <set>

#include "sotto/deep/rows/rule_audit_test.hpp"

namespace sotto::deep::rows::arithmetic_rules_test {

// Arguments after the schema: every tensor of one shape, axes the last one, no reduction.
Arguments usual(const c10::FunctionSchema& schema, c10::ScalarType type, RecordTensors& batch) {
  Arguments all;
  for (const auto& a : schema.arguments()) {
    const std::string& name = a.name();
    const auto kind = a.type()->kind();
    const auto base = kind == c10::TypeKind::OptionalType
                          ? a.type()->castRaw<c10::OptionalType>()->getElementType()->kind()
                          : kind;
    const bool bound = name == "min" || name == "max";
    if (name == "value" && kind == c10::TypeKind::TensorType) {
      all.emplace_back(torch::scalar_tensor(0.5));
    } else if (bound && base == c10::TypeKind::NumberType) {
      all.emplace_back(name == "min" ? 0.2 : 0.6);
    } else if (kind == c10::TypeKind::TensorType || (bound && base == c10::TypeKind::TensorType)) {
      Tensor t = name == "mask" || name == "condition" ? numbers({kRecords, 3, 4}).gt(0.5)
                 : type == torch::kFloat               ? numbers({kRecords, 3, 4})
                                                       : wholes({kRecords, 3, 4}).to(type);
      batch.emplace_back(t, 0);
      all.emplace_back(t);
    } else if (name == "dim" && base == c10::TypeKind::IntType) {
      all.emplace_back(std::int64_t{-1});
    } else if (name == "dim" || name == "dims") {
      all.emplace_back(c10::List<std::int64_t>({std::int64_t{1}, std::int64_t{-1}}).copy());
      if (name == "dims") all.back() = IValue(c10::List<std::int64_t>({std::int64_t{-1}}));
    } else if (name == "shifts") {
      all.emplace_back(c10::List<std::int64_t>({std::int64_t{1}}));
    } else if (name == "reduction") {
      all.emplace_back(std::int64_t{0});
    } else if (name == "train" || name == "training" || name == "stable") {
      all.emplace_back(true);
    } else if (base == c10::TypeKind::IntType && (name == "k" || name == "to" || name == "high")) {
      all.emplace_back(std::int64_t{name == "k" ? 2 : 9});
    } else if (base == c10::TypeKind::IntType && (name == "from" || name == "low")) {
      all.emplace_back(std::int64_t{1});
    } else if (a.default_value().has_value()) {
      all.push_back(*a.default_value());
    } else if (kind == c10::TypeKind::NumberType || kind == c10::TypeKind::FloatType) {
      type == torch::kFloat ? all.emplace_back(0.3) : all.emplace_back(std::int64_t{1});
    } else if (kind == c10::TypeKind::IntType) {
      all.emplace_back(std::int64_t{1});
    } else if (kind == c10::TypeKind::BoolType) {
      all.emplace_back(false);
    } else if (name == "rounding_mode") {
      all.emplace_back("floor");
    } else {
      all.emplace_back();
    }
  }
  return all;
}

// The overloads, in place and not, that a word of the table stands for.
std::vector<std::string> overloads(const std::string& word) {
  std::vector<std::string> all;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const std::string base = name.name.substr(6);
    const std::string full = base + (name.overload_name.empty() ? "" : "." + name.overload_name);
    if (full != word && base != word && base != word + "_") continue;
    if (name.overload_name.find("out") != std::string::npos ||
        name.overload_name.find("imname") != std::string::npos ||
        name.overload_name.starts_with("names") || name.overload_name.starts_with("values") ||
        name.overload_name.find("grad_input") != std::string::npos)
      continue;
    all.push_back(full);
  }
  return all;
}

TEST(RowRules, ArithmeticKeepsRecordsApart) {
  torch::manual_seed(1);
  std::set<std::string> still;
  int calls = 0;
  for (const Family& family : families()) {
    if (!is_usual(family)) continue;
    for (const std::string& word : words(family.names)) {
      const auto all = overloads(word);
      EXPECT_FALSE(all.empty()) << word << ": LibTorch has no such operation";
      bool any = false;
      for (const std::string& full : all) {
        const auto handle = operation(full);
        std::string error;
        for (const auto type : {torch::kFloat, torch::kLong, torch::kBool}) {
          RecordTensors batch;
          const Arguments arguments = usual(handle.schema(), type, batch);
          try {
            const Audit a = audit(handle, arguments, batch, true);
            EXPECT_EQ(a.said, "") << full;
            if (!a.moved) still.insert(full);
            ++calls;
            any = true;
            error.clear();
            break;
          } catch (const c10::Error& e) {
            error = e.what_without_backtrace();
          }
        }
        EXPECT_EQ(error, "") << full << " could not be called";
      }
      EXPECT_TRUE(any) << word << " was not audited";
    }
  }
  EXPECT_GT(calls, 200);
  for (const char* name : {"exp", "add.Tensor", "bernoulli", "sum.dim_IntList", "sort", "mse_loss"})
    EXPECT_FALSE(still.contains(name)) << name << ": the audit saw nothing move";
}

// An audit that cannot fail is none: what goes along the batch is caught when it is said to keep
// rows.
TEST(RowRules, TheAuditCatchesWhatMixesRows) {
  torch::manual_seed(4);
  const Tensor x = numbers({kRecords, 3});
  for (const auto& mixes : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& t) { return t.cumsum(0); }, [](const Tensor& t) { return t.flip(0); },
           [](const Tensor& t) { return t.softmax(0); },
           [](const Tensor& t) { return at::rrelu(t - 0.5, 0.1, 0.3, true); }}) {
    bool caught = false;
    for (std::int64_t record = 0; record < kRecords; ++record) {
      const Tensor own = places({0, 1, 1}, kRecords, record, true);
      torch::manual_seed(5);
      const Tensor a = mixes(x);
      torch::manual_seed(5);
      const Tensor b = mixes(with_others(x, 0, record));
      caught |= !torch::equal(a.index_select(0, own), b.index_select(0, own));
    }
    EXPECT_TRUE(caught);
  }
}

}  // namespace sotto::deep::rows::arithmetic_rules_test
