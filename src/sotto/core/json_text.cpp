#include "sotto/core/json_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

// Builds the document from the parser's events. Members are appended: the container's own insertion
// looks through all members, which makes an object of a million names take hours.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::size_t depth) : depth_(depth) {}

  bool null() override { return put(Json()); }
  bool boolean(bool v) override { return put(Json(v)); }
  bool number_integer(std::int64_t v) override { return put(Json(v)); }
  bool number_unsigned(std::uint64_t v) override { return put(Json(v)); }
  bool number_float(double v, const std::string&) override { return put(Json(v)); }
  bool string(std::string& v) override { return put(Json(std::move(v))); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& v) override {
    if (!open_.back().names.insert(v).second) return fail("holds a name twice in one object");
    name_ = std::move(v);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(fmt::format("is not valid JSON (at byte {})", position));
  }

  Json result() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> names;
  };

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  Json* append(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back().value;
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    auto& members = parent.get_ref<Json::object_t&>();
    members.push_back({std::move(name_), std::move(value)});
    return &members.back().second;
  }
  bool put(Json value) {
    append(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == depth_) return fail(fmt::format("is nested more than {} deep", depth_));
    // Stays where it is while it is open: its parent gets no other child meanwhile.
    open_.push_back({append(std::move(value)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t depth_;
  Json root_;
  std::vector<Open> open_;
  std::string name_, problem_;
};

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& what,
                                  const std::string& hint, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    throw DataError(fmt::format("{} is longer than {} bytes", what, limits.bytes));
  Builder builder(limits.depth);
  if (!Json::sax_parse(text, &builder))
    throw DataError(fmt::format("{} {}", what, builder.problem()), hint);
  return builder.result();
}

std::uint64_t json_count(const nlohmann::ordered_json& json, const std::string& what,
                         std::uint64_t most) {
  const bool whole = json.is_number_unsigned() || (json.is_number_integer() && json >= 0);
  if (!whole || json.get<std::uint64_t>() > most)
    throw DataError(fmt::format("{} must be a whole number from 0 to {}", what, most));
  return json.get<std::uint64_t>();
}

std::vector<std::uint32_t> json_counts(const nlohmann::ordered_json& json, const std::string& what,
                                       std::uint32_t most) {
  if (!json.is_array()) throw DataError(fmt::format("{} must be a list of whole numbers", what));
  std::vector<std::uint32_t> counts;
  for (const Json& one : json)
    counts.push_back(static_cast<std::uint32_t>(json_count(one, what, most)));
  return counts;
}

double json_number(const nlohmann::ordered_json& json, const std::string& what) {
  if (!json.is_number() || !std::isfinite(json.get<double>()))
    throw DataError(fmt::format("{} must be a finite number", what));
  return json.get<double>();
}

}  // namespace sotto
