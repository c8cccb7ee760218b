// The list of protocols: what each takes, its options, and how its client is made.
//
// What       protocol_kinds() is the one list. Commands, help, documents and tests are made from
//            it. declare() makes a declaration from options, make_randomizer() a client from it.
// Guarantee  A declaration that make_randomizer() accepts has every parameter in range; whatever
//            does not fit is refused, never repaired.
// Method     Options are declared as data (core/option.hpp). What was left open is settled from ε
//            and the number of categories, and written into the declaration.
// Numerics   As each protocol says.
// Reference  docs/local.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/core/option.hpp"
#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

enum class Input { category, word, number, numbers };

struct ProtocolKind {
  std::string name;   // "oue"
  std::string title;  // a heading: "Frequencies of categories"
  std::string help;   // one line
  Input input = Input::category;
  bool one_time = true;          // false: keeps permanent answers for reports in many epochs
  bool listed = true;            // false: does not estimate the share of each category by itself
  bool derives_epsilon = false;  // it follows from the options; a declared one may only be larger
  std::vector<Option> options = {};        // numbers; those of all protocols are added
  void (*settle)(Declaration&) = nullptr;  // fills in what was not given
  std::unique_ptr<Randomizer> (*make)(const Declaration&) = nullptr;
};

const std::vector<ProtocolKind>& protocol_kinds();
// Throws InvalidArgument with the nearest name.
const ProtocolKind& protocol_kind(const std::string& name);

// The options of a kind and those that every protocol has: `epochs`.
std::vector<Option> protocol_options(const ProtocolKind& kind);

// `start` names protocol, epsilon (0 where it follows from the options), and values or domain.
// Throws InvalidArgument.
Declaration declare(Declaration start, const OptionValues& options);

// Throws DataError for a protocol or parameters that do not exist, and for values out of range.
std::unique_ptr<Randomizer> make_randomizer(const Declaration& declaration);

// What the reports of one client cost together, at most, when its value does not change: one
// report's ε for each epoch, or that of the permanent answer if smaller.
double epsilon_lifetime(const Randomizer& randomizer, const Declaration& declaration);

}  // namespace sotto::local
