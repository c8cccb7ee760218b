// Any text as what a tuning reads: a grid of candidates, or, from the first brace on, the state
// that a run is resumed from ("plan" is put in: whoever makes up a state can compute it).
// Candidates that the options take and a run that goes on, or an error of the input.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/tuning.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"

namespace {

using namespace sotto;

void check_grid(std::string_view text) {
  static const std::vector<Family> families = {linear_family(), naive_bayes_family(),
                                               boosting_family()};
  for (const Family& family : families) {
    try {
      const OptionValues given(family.options, {});
      const auto candidates =
          read_search_space(text, "grid", family, family.kinds.front().name, given);
      require(!candidates.empty() && candidates.size() <= kMostCandidates, "a bounded number");
      for (const Candidate& c : candidates)
        (void)OptionValues(family.options, c.options);  // each is an option with a value it takes
    } catch (const DataError&) {
    }
  }
}

class Resumed {
 public:
  Resumed() {
    const std::filesystem::path memory = "/dev/shm";
    const auto place =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = (place / ("sotto_tuning_fuzz_" + std::to_string(::getpid()))).string();
    RunControl control;
    control.checkpoints = Checkpoints{.path = path_};
    Rng rng = Rng::insecure_seed(1);
    TuningPlan plan(request());
    plan.prepare(control, rng);
    std::ifstream in(path_);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    digest_ = parse_json(text, "it").at("plan").get<std::string>();
    plan_ = std::make_unique<TuningPlan>(request());
  }
  ~Resumed() { std::filesystem::remove(path_); }
  Resumed(const Resumed&) = delete;
  Resumed& operator=(const Resumed&) = delete;

  void check(std::string_view text) {
    auto json = parse_json(text, "it");
    if (json.is_object() && json.contains("plan")) json["plan"] = digest_;
    std::ofstream(path_) << json.dump();
    RunControl control;
    control.checkpoints = Checkpoints{.path = path_, .resume = true};
    Rng rng = Rng::insecure_seed(1);
    plan_->prepare(control, rng);
    (void)plan_->chosen_facts();
    (void)plan_->explain();
  }

 private:
  TuningRequest request() {
    TuningRequest r;
    r.family = &family_;
    r.base.kind = family_.kinds.front().name;
    r.base.method = family_.methods.front().name;
    r.base.options = OptionValues(family_.options, {});
    r.candidates = {{}, {}};
    const Facts facts = table_facts(Schema::from_toml(
        "relation = \"add_remove\"\nrows = 60\n[columns.x]\ntype = \"categorical\"\n"
        "values = [\"a\", \"b\"]\n[columns.y]\ntype = \"categorical\"\nvalues = [\"no\", \"yes\"]\n"
        "role = \"target\"\n"));
    r.facts = [facts](const TrainingRequest&) { return facts; };
    r.public_score = [](const Model&, const Facts&) { return 0.0; };
    return r;
  }
  Family family_ = naive_bayes_family();
  std::string path_, digest_;
  std::unique_ptr<TuningPlan> plan_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Resumed resumed;
  if (size > 1 << 14) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with('{'))
      resumed.check(text);
    else
      check_grid(text);
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
