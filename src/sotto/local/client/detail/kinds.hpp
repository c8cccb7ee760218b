// Detail: the groups that the list of protocols is made of, one function a file.
#pragma once

#include "sotto/local/client/protocols.hpp"

namespace sotto::local::detail {

void add_frequency_kinds(std::vector<ProtocolKind>& kinds);
void add_longitudinal_kinds(std::vector<ProtocolKind>& kinds);
void add_number_kinds(std::vector<ProtocolKind>& kinds);
void add_tree_kinds(std::vector<ProtocolKind>& kinds);
void add_word_kinds(std::vector<ProtocolKind>& kinds);

// A parameter that was given, or the value it gets.
inline void settle_parameter(Declaration& d, const std::string& name, double value) {
  d.parameters.try_emplace(name, value);
}

}  // namespace sotto::local::detail
