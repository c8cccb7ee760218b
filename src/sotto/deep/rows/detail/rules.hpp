// Detail: the table of rules. An operation on records runs only if a line here names it; everything
// else is refused.
//
// A rule looks at axes and whole-number arguments, never at values. It refuses, or says on which
// axis the results have the records.
// Each line is audited by machine (rule_audit_test.hpp): the call is repeated with all other
// records changed, and the row must not move.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/deep/rows/detail/call.hpp"

namespace sotto::deep::rows {

struct Family {
  const char* what;  // in words
  // Of operations, with or without overload; "abs" stands for all overloads and for abs_.
  const char* names;
  Rule rule;
};
std::span<const Family> families();
// The rule for "sum.dim_IntList", of base name "sum"; none when the table does not have it.
Rule rule_for(const std::string& full, const std::string& base);

// Operations that LibTorch makes of others: those come by one after the other. The list is closed,
// since a kernel could read memory itself
// (tensor_split does, when it is given a tensor of places).
std::vector<std::string> composites();
// Why an operation without a rule is refused, and what to do instead, by its base name.
struct Reason {
  const char *why, *hint;
};
Reason reason_without_rule(const std::string& base);

// The families; rules_*.cpp.
void element_wise(Call& call);
void loss(Call& call);
void reduction(Call& call);
void along_axis(Call& call);
void product(Call& call);
void sum_and_product(Call& call);
void linear_map(Call& call);
void convolution(Call& call);
void lookup(Call& call);
void layer_normalization(Call& call);
void group_normalization(Call& call);
void instance_normalization(Call& call);
void batch_normalization(Call& call);
void recurrent_layer(Call& call);
template <int kSpace>
void space(Call& call);
void joined(Call& call);
void stacked(Call& call);
void selected(Call& call);
void gathered(Call& call);
void scattered(Call& call);
void indexed(Call& call);
void class_loss(Call& call);
void padded(Call& call);
void repeated(Call& call);
void one_hot_classes(Call& call);
void shape_only(Call& call);
void triangle(Call& call);
void same_memory(Call& call);

}  // namespace sotto::deep::rows
