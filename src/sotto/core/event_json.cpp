#include "sotto/core/event_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMaximalDepth = 64;  // a hostile document must not exhaust the stack

// Reads the members of one event and remembers which were asked for, so that leftovers can be
// refused.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) throw DataError(fmt::format("{} must be an object", where_));
  }

  bool has(const char* key) const { return object_.contains(key); }

  const Json& at(const char* key) {
    seen_.push_back(key);
    auto it = object_.find(key);
    if (it == object_.end()) throw DataError(fmt::format("{} has no '{}'", where_, key));
    return *it;
  }

  double number(const char* key) { return as_number(at(key), where_ + "." + key); }
  double number_or(const char* key, double fallback) { return has(key) ? number(key) : fallback; }

  std::uint64_t integer(const char* key) {
    double v = number(key);
    if (!(v >= 0) || v != std::floor(v) || v > 9007199254740992.0) {
      throw DataError(
          fmt::format("{}.{} is {}; it must be a whole number from 0 to 2^53", where_, key, v));
    }
    return static_cast<std::uint64_t>(v);
  }
  std::uint64_t integer_or(const char* key, std::uint64_t fallback) {
    return has(key) ? integer(key) : fallback;
  }

  std::string text(const char* key) {
    const Json& v = at(key);
    if (!v.is_string()) throw DataError(fmt::format("{}.{} must be a string", where_, key));
    return v.get<std::string>();
  }

  std::vector<double> numbers(const char* key) {
    const Json& v = at(key);
    if (!v.is_array()) throw DataError(fmt::format("{}.{} must be a list of numbers", where_, key));
    std::vector<double> result;
    for (std::size_t i = 0; i < v.size(); ++i)
      result.push_back(as_number(v[i], fmt::format("{}.{}[{}]", where_, key, i)));
    return result;
  }

  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      bool known = false;
      for (const std::string& s : seen_) known = known || s == key;
      if (!known) throw DataError(fmt::format("{} has an unknown member '{}'", where_, key));
    }
  }

  const std::string& where() const { return where_; }

 private:
  static double as_number(const Json& v, const std::string& where) {
    if (v.is_string() && v.get<std::string>() == "?") {
      throw DataError(fmt::format("{} is \"?\", which only calibration can fill in", where),
                      "give a number, or use 'sotto calibrate'");
    }
    if (!v.is_number()) throw DataError(fmt::format("{} must be a number", where));
    return v.get<double>();
  }

  const Json& object_;
  std::string where_;
  std::vector<std::string> seen_;
};

Event parse(const Json& json, const std::string& where, int depth);

EventPtr parse_inner(Members& m, int depth) {
  return share(parse(m.at("event"), m.where() + ".event", depth + 1));
}

std::vector<Event> parse_list(const Json& json, const std::string& where, int depth) {
  if (!json.is_array()) throw DataError(fmt::format("{} must be a list of events", where));
  std::vector<Event> events;
  for (std::size_t i = 0; i < json.size(); ++i)
    events.push_back(parse(json[i], fmt::format("{}[{}]", where, i), depth + 1));
  return events;
}

SampledEvent parse_sampled(Members& m, int depth) {
  SampledEvent e;
  std::string scheme = m.text("scheme");
  if (scheme == "poisson") {
    e.scheme = Scheme::poisson;
    e.rate = m.number("rate");
  } else if (scheme == "without_replacement" || scheme == "with_replacement") {
    e.scheme =
        scheme == "without_replacement" ? Scheme::without_replacement : Scheme::with_replacement;
    e.size = m.integer("size");
    e.population = m.integer("population");
  } else {
    throw DataError(fmt::format(
        "{}.scheme is '{}'; it must be poisson, without_replacement or with_replacement", m.where(),
        scheme));
  }
  e.event = parse_inner(m, depth);
  return e;
}

PrivateSelectionEvent parse_selection(Members& m, int depth) {
  PrivateSelectionEvent e;
  std::string distribution = m.text("distribution");
  if (distribution == "truncated_negative_binomial") {
    e.distribution = SelectionDistribution::truncated_negative_binomial;
    e.shape = m.number("shape");
  } else if (distribution == "poisson") {
    e.distribution = SelectionDistribution::poisson;
    e.shape = 0;
  } else {
    throw DataError(
        fmt::format("{}.distribution is '{}'; it must be truncated_negative_binomial or poisson",
                    m.where(), distribution));
  }
  e.mean = m.number("mean");
  e.event = parse_inner(m, depth);
  return e;
}

using Parser = std::function<Event(Members&, int depth)>;

const std::vector<std::pair<std::string_view, Parser>>& parsers() {
  static const std::vector<std::pair<std::string_view, Parser>> table = {
      {"gaussian",
       [](Members& m, int) -> Event {
         if (m.has("noise_multiplier"))
           return GaussianEvent::from_multiplier(m.number("noise_multiplier"));
         return GaussianEvent{m.number("sigma"), m.number("sensitivity"), Basis::exact};
       }},
      {"laplace",
       [](Members& m, int) -> Event {
         if (m.has("noise_multiplier"))
           return LaplaceEvent::from_multiplier(m.number("noise_multiplier"));
         return LaplaceEvent{m.number("scale"), m.number("sensitivity"), Basis::exact};
       }},
      {"discrete_gaussian",
       [](Members& m, int) -> Event {
         return DiscreteGaussianEvent{m.number("sigma"), m.number("sensitivity"),
                                      m.number_or("granularity", 1), m.integer_or("dimension", 1)};
       }},
      {"discrete_laplace",
       [](Members& m, int) -> Event {
         return DiscreteLaplaceEvent{m.number("scale"), m.number("sensitivity"),
                                     m.number_or("granularity", 1), m.integer_or("dimension", 1)};
       }},
      {"gaussian_mixture",
       [](Members& m, int) -> Event {
         return GaussianMixtureEvent{m.number("sigma"), m.numbers("sensitivities"),
                                     m.numbers("probabilities")};
       }},
      {"randomized_response",
       [](Members& m, int) -> Event {
         return RandomizedResponseEvent{m.number("epsilon"), m.integer_or("categories", 2)};
       }},
      {"exponential",
       [](Members& m, int) -> Event { return ExponentialEvent{m.number("epsilon")}; }},
      {"pure", [](Members& m, int) -> Event { return PureEvent{m.number("epsilon")}; }},
      {"approximate",
       [](Members& m, int) -> Event {
         return ApproximateEvent{m.number("epsilon"), m.number("delta")};
       }},
      {"zcdp", [](Members& m, int) -> Event { return ZcdpEvent{m.number("rho")}; }},
      {"tcdp",
       [](Members& m, int) -> Event {
         return TcdpEvent{m.number("rho"), m.number("omega")};
       }},
      {"gdp", [](Members& m, int) -> Event { return GdpEvent{m.number("mu")}; }},
      {"gnmax", [](Members& m, int) -> Event { return GnmaxEvent{m.number("sigma")}; }},
      {"lnmax", [](Members& m, int) -> Event { return LnmaxEvent{m.number("scale")}; }},
      {"sampled", [](Members& m, int depth) -> Event { return parse_sampled(m, depth); }},
      {"shuffled",
       [](Members& m, int depth) -> Event {
         return ShuffledEvent{m.integer("population"), parse_inner(m, depth)};
       }},
      {"repeat",
       [](Members& m, int depth) -> Event {
         return RepeatEvent{m.integer("count"), parse_inner(m, depth)};
       }},
      {"private_selection",
       [](Members& m, int depth) -> Event { return parse_selection(m, depth); }},
  };
  return table;
}

Event parse(const Json& json, const std::string& where, int depth) {
  if (depth > kMaximalDepth)
    throw DataError(fmt::format("{} is nested more than {} deep", where, kMaximalDepth));
  if (!json.is_object() || json.size() != 1) {
    throw DataError(fmt::format("{} must be an object with one key, the kind of event", where),
                    R"(for example {"gaussian": {"noise_multiplier": 1.1}})");
  }
  const std::string& key = json.begin().key();
  const std::string inside = where + "." + key;
  try {
    if (key == "compose") return ComposeEvent{parse_list(json.front(), inside, depth)};
    if (key == "parallel") return ParallelEvent{parse_list(json.front(), inside, depth)};
    for (const auto& [kind, parser] : parsers()) {
      if (kind != key) continue;
      Members members(json.front(), inside);
      Event event = parser(members, depth);
      members.finish();
      return event;
    }
  } catch (const InvalidArgument& e) {  // a value out of range is the document's fault here
    throw DataError(fmt::format("{}: {}", where, e.what()), e.hint());
  }
  throw DataError(fmt::format("{} has the unknown kind '{}'", where, key),
                  "docs/events.md lists every kind");
}

Json number(double v) { return v; }

struct Writer {
  Json operator()(const GaussianEvent& e) const {
    if (e.basis == Basis::contribution) return {{"noise_multiplier", e.sigma / e.sensitivity}};
    return {{"sigma", e.sigma}, {"sensitivity", e.sensitivity}};
  }
  Json operator()(const LaplaceEvent& e) const {
    if (e.basis == Basis::contribution) return {{"noise_multiplier", e.scale / e.sensitivity}};
    return {{"scale", e.scale}, {"sensitivity", e.sensitivity}};
  }
  Json operator()(const DiscreteGaussianEvent& e) const {
    return lattice({{"sigma", e.sigma}, {"sensitivity", e.sensitivity}}, e.granularity,
                   e.dimension);
  }
  Json operator()(const DiscreteLaplaceEvent& e) const {
    return lattice({{"scale", e.scale}, {"sensitivity", e.sensitivity}}, e.granularity,
                   e.dimension);
  }
  Json operator()(const GaussianMixtureEvent& e) const {
    return {
        {"sigma", e.sigma}, {"sensitivities", e.sensitivities}, {"probabilities", e.probabilities}};
  }
  Json operator()(const RandomizedResponseEvent& e) const {
    return {{"epsilon", e.epsilon}, {"categories", e.categories}};
  }
  Json operator()(const ExponentialEvent& e) const { return {{"epsilon", e.epsilon}}; }
  Json operator()(const PureEvent& e) const { return {{"epsilon", e.epsilon}}; }
  Json operator()(const ApproximateEvent& e) const {
    return {{"epsilon", e.epsilon}, {"delta", e.delta}};
  }
  Json operator()(const ZcdpEvent& e) const { return {{"rho", e.rho}}; }
  Json operator()(const TcdpEvent& e) const { return {{"rho", e.rho}, {"omega", e.omega}}; }
  Json operator()(const GdpEvent& e) const { return {{"mu", e.mu}}; }
  Json operator()(const GnmaxEvent& e) const { return {{"sigma", e.sigma}}; }
  Json operator()(const LnmaxEvent& e) const { return {{"scale", e.scale}}; }
  Json operator()(const SampledEvent& e) const {
    Json j = {{"scheme", name(e.scheme)}};
    if (e.scheme == Scheme::poisson) {
      j["rate"] = number(e.rate);
    } else {
      j["size"] = e.size;
      j["population"] = e.population;
    }
    j["event"] = to_json(*e.event);
    return j;
  }
  Json operator()(const ShuffledEvent& e) const {
    return {{"population", e.population}, {"event", to_json(*e.event)}};
  }
  Json operator()(const RepeatEvent& e) const {
    return {{"count", e.count}, {"event", to_json(*e.event)}};
  }
  Json operator()(const ComposeEvent& e) const { return list(e.events); }
  Json operator()(const ParallelEvent& e) const { return list(e.events); }
  Json operator()(const PrivateSelectionEvent& e) const {
    Json j = {{"distribution", name(e.distribution)}};
    if (e.distribution == SelectionDistribution::truncated_negative_binomial) j["shape"] = e.shape;
    j["mean"] = e.mean;
    j["event"] = to_json(*e.event);
    return j;
  }

 private:
  static Json lattice(Json j, double granularity, std::uint64_t dimension) {
    if (granularity != 1) j["granularity"] = granularity;
    if (dimension != 1) j["dimension"] = dimension;
    return j;
  }
  static Json list(const std::vector<Event>& events) {
    Json j = Json::array();
    for (const Event& e : events) j.push_back(to_json(e));
    return j;
  }
};

}  // namespace

nlohmann::ordered_json to_json(const Event& event) {
  Json j = Json::object();
  j[std::string(event.name())] = std::visit(Writer{}, event.kind());
  return j;
}

Event event_from_json(const nlohmann::ordered_json& json, const std::string& where) {
  return parse(json, where, 0);
}

}  // namespace sotto
