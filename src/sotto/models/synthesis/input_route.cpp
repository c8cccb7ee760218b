#include "sotto/models/synthesis/input_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sotto/core/error.hpp"
#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

namespace sotto {
namespace {

constexpr const char* kInput = "input";
constexpr const char* kNone = "none";
// Records cost no privacy: where few are declared, more are drawn, until what drawing adds to the
// error is small beside what the noise does.
std::uint64_t records_to_draw(std::uint64_t declared) {
  constexpr std::uint64_t kFewest = 1 << 11, kPlenty = 1 << 14, kMost = 1 << 20;
  if (declared >= kPlenty) return std::min(declared, kMost);
  return std::clamp(8 * declared, kFewest, kPlenty);
}

// Records as texts, encoded like those of a file.
class DrawnTable {
 public:
  DrawnTable(const Encoder& encoder, const std::vector<std::string>& header)
      : encoder_(encoder), table_(encoder) {
    std::unordered_map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < header.size(); ++i) at[header[i]] = i;
    for (const Encoder::Input& input : encoder.inputs())
      inputs_.push_back(at.at(input.column.name));
    if (encoder.has_target()) target_ = at.at(encoder.target().column().name);
    for (const ColumnEncoder& group : encoder.groups())
      groups_.push_back(at.at(group.column().name));
  }

  void add(const std::vector<std::string>& cells) {
    std::vector<std::string_view> read;
    for (const std::size_t i : inputs_) read.emplace_back(cells[i]);
    const Table::Sink sink = table_.add_row();
    std::size_t column = 0;
    sink.factor =
        encoder_.encode(std::span<const std::string_view>(read), sink.dense, sink.hot, column);
    if (target_) table_.add_target(encoder_.encode_target(std::string_view(cells[*target_])));
    for (std::size_t g = 0; g < groups_.size(); ++g)
      table_.add_group(g, encoder_.groups()[g].index(std::string_view(cells[groups_[g]])));
  }

  const Table& table() const { return table_; }

 private:
  const Encoder& encoder_;
  Table table_;
  std::vector<std::size_t> inputs_, groups_;
  std::optional<std::size_t> target_;
};

// The same records for the generator: numbers as they are, which is how tables keep them whatever
// the basis.
Facts generator_facts(const Facts& facts) {
  if (!facts.encoder) throw Unsupported("synthetic records are made of tables only");
  Schema schema = facts.encoder->schema();
  schema.basis = NumericBasis::linear;
  Facts own = table_facts(std::move(schema));
  own.rows = facts.rows;
  own.unit = facts.unit;
  own.contributions = facts.contributions;
  return own;
}

class InputTraining final : public TrainingPlan {
 public:
  InputTraining(const Family& family, const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        kind_(request.kind),
        records_(records_to_draw(facts.declared_rows())),
        generator_facts_(generator_facts(facts)) {
    const Family synthesis = synthesis_family();
    const std::string& kind = synthesis.kinds.front().name;
    generator_ = plan_training(synthesis, generator_facts_,
                               {.kind = kind,
                                .method = synthesis.methods.front().name,
                                .budget = required_budget(request),
                                .delta = request.delta,
                                .options = OptionValues(options_of(synthesis, kind), {})});
    TrainingRequest plain = request;
    plain.method = kNone;
    plain.budget.reset();
    trainer_ = family.plan(facts_, plain);
  }

  std::optional<Event> event() const override { return generator_->event(); }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e = generator_->explain();
    e.method = kInput;
    e.words =
        fmt::format("{}; {} of them train an ordinary {} without noise", e.words, records_, kind_);
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    const TrainedModel made = generator_->run(source, rng, control);
    const auto& generator = dynamic_cast<const Generator&>(*made.value());
    DrawnTable drawn(*facts_.encoder, generator.header());
    generator.draw(records_, rng, [&](const std::vector<std::string>& cells) { drawn.add(cells); });
    const std::unique_ptr<Source> records = table_in_memory(drawn.table());
    return finished(trainer_->run(*records, rng, control).value());
  }

 private:
  Facts facts_;
  std::string kind_;
  std::uint64_t records_;
  Facts generator_facts_;
  std::unique_ptr<TrainingPlan> generator_, trainer_;
};

}  // namespace

Family with_input(Family family) {
  const Method* none = find_method(family, kNone);
  const auto plain = [](const Kind& kind) {
    return std::none_of(kind.tasks.begin(), kind.tasks.end(), [](Task task) {
      return task == Task::transform || task == Task::generate;
    });
  };
  if (none == nullptr || !family.plan || family.kinds.empty() ||
      !std::all_of(family.kinds.begin(), family.kinds.end(), plain))
    return family;
  const bool own = find_method(family, kInput) != nullptr;
  const Family before = family;
  family.plan = [before, own](const Facts& facts,
                              const TrainingRequest& request) -> std::unique_ptr<TrainingPlan> {
    if (request.method != kInput) return before.plan(facts, request);
    if (own) {
      try {
        return before.plan(facts, request);
      } catch (const Unsupported&) {
        // Too many columns for it.
      }
    }
    return std::make_unique<InputTraining>(before, facts, request);
  };
  if (!own) {
    const auto at = std::find_if(family.methods.begin(), family.methods.end(),
                                 [](const Method& m) { return m.name == kNone; });
    family.methods.insert(
        at, {kInput, "synthetic records, then the model without noise on them", at->options});
  }
  return family;
}

}  // namespace sotto
