#include "sotto/audit/linkage.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace sotto::audit {
namespace {

using Classes = std::unordered_map<std::string, std::vector<std::size_t>>;

Classes classes_of(const std::vector<std::string>& keys) {
  Classes classes;
  for (std::size_t i = 0; i < keys.size(); ++i) classes[keys[i]].push_back(i);
  return classes;
}

std::size_t different(const std::vector<std::size_t>& records,
                      const std::vector<std::string>& secrets) {
  std::set<std::string> seen;
  for (const std::size_t i : records) seen.insert(secrets[i]);
  return seen.size();
}

}  // namespace

Anonymity anonymity(const std::vector<std::string>& keys, const std::vector<std::string>& secrets) {
  const Classes classes = classes_of(keys);
  Anonymity a{.records = keys.size(), .classes = classes.size(), .k = keys.size()};
  if (!secrets.empty()) a.l = keys.size(), a.same_secret = 0;
  for (const auto& [key, records] : classes) {
    const std::uint64_t size = records.size();
    a.k = std::min(a.k, size);
    if (size == 1) a.unique += 1;
    if (size < 5) a.below_5 += size;
    if (secrets.empty()) continue;
    const std::uint64_t kinds = different(records, secrets);
    a.l = std::min(*a.l, kinds);
    if (kinds == 1) *a.same_secret += size;
  }
  return a;
}

Linkage link(const std::vector<std::string>& released, const std::vector<std::string>& named,
             const std::vector<std::string>& secrets,
             const std::vector<std::string>& released_names,
             const std::vector<std::string>& names) {
  const Classes of_released = classes_of(released), of_named = classes_of(named);
  const bool checkable = !released_names.empty() && !names.empty();
  Linkage out{.records = released.size()};
  if (checkable) out.right = 0;
  for (const auto& [key, records] : of_released) {
    const auto candidates = of_named.find(key);
    if (candidates == of_named.end()) {
      out.unknown += records.size();
      continue;
    }
    const std::vector<std::size_t>& people = candidates->second;
    const bool found = records.size() == 1 && people.size() == 1;
    (found ? out.found : out.ambiguous) += records.size();
    if (found && checkable && released_names[records[0]] == names[people[0]]) *out.right += 1;
    if (!secrets.empty() && different(records, secrets) == 1) out.disclosed += people.size();
  }
  return out;
}

}  // namespace sotto::audit
