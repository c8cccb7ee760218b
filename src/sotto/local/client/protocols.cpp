#include "sotto/local/client/protocols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/record.hpp"

namespace sotto::local {
namespace {

constexpr double kMostEpochs = 1e9;

Option epochs_option() {
  return {.name = "epochs",
          .type = OptionType::whole,
          .value = "N",
          .help = "how many reports one client makes at most, one an epoch",
          .fallback = "1",
          .range = Range::between(1, kMostEpochs),
          .group = "Protocol"};
}

void check_input(const ProtocolKind& kind, const Declaration& d) {
  if (kind.input == Input::category) {
    if (d.domain < 2)
      throw InvalidArgument(fmt::format("{} needs two categories or more", kind.name),
                            "name them with `values`, or say how many with `domain`");
    if (d.domain > kMostCategories)
      throw InvalidArgument(fmt::format("{} categories are too many", d.domain),
                            "use a protocol for words, such as hcms");
  } else if (d.domain != 0) {
    throw InvalidArgument(fmt::format("{} has no declared categories", kind.name),
                          "leave out `values` and `domain`");
  }
}

std::unique_ptr<Randomizer> made_of(const Declaration& d) {
  const ProtocolKind& kind = protocol_kind(d.protocol);
  check_input(kind, d);
  const std::vector<Option> options = protocol_options(kind);
  nlohmann::ordered_json given = nlohmann::ordered_json::object();
  for (const auto& [name, value] : d.parameters) given[name] = value;
  const OptionValues checked = OptionValues::from_json(options, given);
  for (const Option& option : options)
    if (!checked.given(option.name))
      throw InvalidArgument(fmt::format("`{}` is not declared", option.name));
  std::unique_ptr<Randomizer> made = kind.make(d);
  if (made->report_bytes() > kMostReportBytes)
    throw InvalidArgument(fmt::format("a report would have {} bytes", made->report_bytes()),
                          "use a protocol with shorter reports, such as olh");
  if (!(made->epsilon() <= d.epsilon))
    invariant_broken("a protocol is less private than it was declared");
  return made;
}

}  // namespace

const std::vector<ProtocolKind>& protocol_kinds() {
  static const std::vector<ProtocolKind> kinds = [] {
    std::vector<ProtocolKind> all;
    detail::add_frequency_kinds(all);
    detail::add_longitudinal_kinds(all);
    detail::add_word_kinds(all);
    detail::add_number_kinds(all);
    detail::add_tree_kinds(all);
    return all;
  }();
  return kinds;
}

const ProtocolKind& protocol_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const ProtocolKind& kind : protocol_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw InvalidArgument(fmt::format("there is no protocol '{}'", name),
                        name_hint(name, names, "protocols"));
}

std::vector<Option> protocol_options(const ProtocolKind& kind) {
  std::vector<Option> options = kind.options;
  for (Option& option : options) option.group = "Protocol";
  options.push_back(epochs_option());
  return options;
}

Declaration declare(Declaration d, const OptionValues& given) {
  const ProtocolKind& kind = protocol_kind(d.protocol);
  if (!d.values.empty()) d.domain = d.values.size();
  check_input(kind, d);
  for (const Option& option : protocol_options(kind))
    if (const auto value = given.maybe_number(option.name)) d.parameters[option.name] = *value;
  if (kind.settle != nullptr) kind.settle(d);
  (void)made_of(d);
  return d;
}

std::unique_ptr<Randomizer> make_randomizer(const Declaration& d) {
  try {
    return made_of(d);
  } catch (const InvalidArgument& e) {
    throw DataError(e.what(), e.hint());
  }
}

double epsilon_lifetime(const Randomizer& randomizer, const Declaration& declaration) {
  const double epochs = declaration.parameter("epochs");
  // Reports of permanent answers are not independent: only the first is bounded by one report's ε.
  if (randomizer.epsilon_permanent() < kInfinity)
    return epochs == 1 ? randomizer.epsilon() : randomizer.epsilon_permanent();
  return multiply_up(epochs, randomizer.epsilon());
}

}  // namespace sotto::local
