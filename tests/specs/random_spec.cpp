#include "specs/random_spec.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto::specs {

using Json = nlohmann::ordered_json;

double Dice::between(double low, double high) {
  const double x = std::exp(std::log(low) + unit() * std::log(high / low));
  if (!chance(0.3)) return x;
  // Two digits: lattices, equal parts and exact quotients are met only by round numbers.
  const double scale = std::pow(10, std::floor(std::log10(x)) - 1);
  return std::clamp(std::round(x / scale) * scale, low, high);
}

std::uint64_t Dice::whole(std::uint64_t low, std::uint64_t high) {
  const double x = between(static_cast<double>(low), static_cast<double>(high) + 0.999);
  return std::clamp(static_cast<std::uint64_t>(x), low, high);
}

namespace {

class Generator {
 public:
  Generator(Dice& dice, Relation relation) : dice_(dice), relation_(relation) {}

  Event event(int depth) {
    if (depth == 0 || dice_.chance(0.45)) return dice_.chance(0.72) ? noise() : guarantee();
    switch (dice_.below(9)) {
      case 0:
      case 1:
      case 2: return sampled(depth);
      case 3: return population_ == kUnknown ? sampled(depth) : shuffled();
      case 4:
      case 5: return RepeatEvent{count(), share(event(depth - 1))};
      case 6: return list<ComposeEvent>(depth);
      case 7: return list<ParallelEvent>(depth);
      default: return selection(depth);
    }
  }

 private:
  // Now and then from the whole range, else from where releases and trainings live.
  double wide(double low, double usual_low, double usual_high, double high) {
    return dice_.chance(0.35) ? dice_.between(low, high) : dice_.between(usual_low, usual_high);
  }
  double epsilon() { return wide(1e-6, 0.01, 5, 1e4); }
  double noise_scale() { return wide(1e-3, 0.3, 30, 1e6); }
  double rate() { return dice_.chance(0.05) ? 1 : wide(1e-9, 1e-4, 0.5, 1); }
  std::uint64_t count() {
    return dice_.chance(0.1) ? dice_.whole(1, 1'000'000'000) : dice_.whole(1, 20'000);
  }
  double sensitivity() { return dice_.chance(0.5) ? 1 : dice_.between(0.01, 100); }

  Event noise() {
    switch (dice_.below(8)) {
      case 0:
        return dice_.chance(0.6) ? GaussianEvent::from_multiplier(noise_scale())
                                 : GaussianEvent{noise_scale(), sensitivity(), Basis::exact};
      case 1:
        return dice_.chance(0.6) ? LaplaceEvent::from_multiplier(noise_scale())
                                 : LaplaceEvent{noise_scale(), sensitivity(), Basis::exact};
      case 2: {
        const auto [width, reach, step] = lattice();
        return DiscreteGaussianEvent{width, reach, step, dimension()};
      }
      case 3: {
        const auto [width, reach, step] = lattice();
        return DiscreteLaplaceEvent{width, reach, step, dimension()};
      }
      case 4: return mixture();
      case 5: return RandomizedResponseEvent{epsilon(), dice_.whole(2, 1000)};
      case 6: return ExponentialEvent{epsilon()};
      default:
        if (dice_.chance(0.5)) return GnmaxEvent{wide(1e-3, 1, 200, 1e6)};
        return LnmaxEvent{wide(1e-3, 1, 200, 1e6)};
    }
  }

  struct Lattice {
    double width, reach, step;
  };
  Lattice lattice() {
    const double reach = sensitivity();
    // A sensitivity below, at and far above the lattice step; whole multiples more often than not.
    double step = reach / static_cast<double>(dice_.whole(1, 40));
    if (dice_.chance(0.3)) step = reach * dice_.between(1e-4, 3);
    return {reach * noise_scale(), reach, step};
  }
  std::uint64_t dimension() { return dice_.chance(0.5) ? 1 : dice_.whole(1, 1'000'000); }

  Event mixture() {
    GaussianMixtureEvent e{noise_scale(), {}, {}};
    const std::size_t parts = 1 + dice_.below(4);
    double total = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      e.sensitivities.push_back(dice_.chance(0.3) ? 0 : dice_.between(0.1, 4));
      e.probabilities.push_back(dice_.between(1e-6, 1));
      total += e.probabilities.back();
    }
    for (double& p : e.probabilities) p /= total;
    return e;
  }

  Event guarantee() {
    switch (dice_.below(5)) {
      case 0: return PureEvent{epsilon()};
      case 1: return ApproximateEvent{epsilon(), dice_.between(1e-300, 1e-3)};
      case 2: return ZcdpEvent{wide(1e-9, 1e-4, 5, 1e4)};
      case 3: return TcdpEvent{wide(1e-9, 1e-4, 5, 1e4), 1 + wide(1e-3, 0.5, 1e3, 1e6)};
      default: return GdpEvent{wide(1e-6, 0.01, 5, 100)};
    }
  }

  // Everything inside works on the sample: its size is the population there, and nobody's knowledge
  // if it is random.
  Event sampled(int depth) {
    SampledEvent e;
    const bool poisson = population_ == kUnknown ||
                         (relation_ == Relation::add_remove && dice_.chance(0.9)) ||
                         dice_.below(3) == 0;
    if (poisson) {
      e.rate = rate();
    } else {
      e.scheme = dice_.chance(0.5) ? Scheme::without_replacement : Scheme::with_replacement;
      e.population = population_ == kAny ? dice_.whole(1, 1'000'000) : population_;
      e.size = dice_.whole(1, e.population);
    }
    const std::uint64_t outside = std::exchange(population_, poisson ? kUnknown : e.size);
    // Most samples are of one mechanism; compositions and guarantees inside are rarer.
    e.event = share(dice_.chance(0.7) ? noise() : event(depth - 1));
    population_ = outside;
    return e;
  }

  Event shuffled() {
    Event local = dice_.chance(0.2) ? noise()
                  : dice_.chance(0.6)
                      ? Event(RandomizedResponseEvent{epsilon(), dice_.whole(2, 50)})
                      : Event(PureEvent{epsilon()});
    return ShuffledEvent{population_ == kAny ? dice_.whole(1, 10'000'000) : population_,
                         share(std::move(local))};
  }

  Event selection(int depth) {
    PrivateSelectionEvent e;
    e.event = share(event(depth - 1));
    if (dice_.chance(0.4)) {
      e.distribution = SelectionDistribution::poisson;
      e.mean = dice_.between(0.01, 1000);
    } else {
      e.shape = dice_.chance(0.2) ? 0 : dice_.between(0.01, 10);
      e.mean = dice_.chance(0.1) ? 1 : dice_.between(1, 1e5);
    }
    return e;
  }

  template <class Kind>
  Event list(int depth) {
    Kind e;
    const std::size_t parts = 1 + dice_.below(4);
    // How the records of a sample fall into parts is random too.
    const std::uint64_t outside = population_;
    if (std::is_same_v<Kind, ParallelEvent> && population_ != kAny) population_ = kUnknown;
    for (std::size_t i = 0; i < parts; ++i) e.events.push_back(event(depth - 1));
    population_ = outside;
    return e;
  }

  static constexpr std::uint64_t kAny = 0, kUnknown = ~std::uint64_t{0};

  Dice& dice_;
  Relation relation_;
  std::uint64_t population_ = kAny;  // what the next event works on
};

// How a number of the document moves when the cost must not fall.
std::optional<bool> rises(const std::string& key) {
  for (const char* up : {"sensitivity", "epsilon", "delta", "rho", "mu", "rate", "count", "size"})
    if (key == up) return true;
  for (const char* down : {"noise_multiplier", "sigma", "scale", "omega"})
    if (key == down) return false;
  return std::nullopt;
}

void numbers_in(const Json& json, const Json::json_pointer& at,
                std::vector<Json::json_pointer>& out) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (value.is_number() && rises(key)) out.push_back(at / key);
      numbers_in(value, at / key, out);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) numbers_in(json[i], at / i, out);
  }
}

// Less noise on a lattice that is coarse beside it may cost less: tails that δ did not cover are
// rarer then (σ = g/22 at δ = e⁻²⁹⁶ costs 1980, σ = g/28 costs 1606).
bool is_coarse_lattice(const Json& changed, const Json::json_pointer& where) {
  const Json::json_pointer parent = where.parent_pointer();
  if (where.back() != "sigma" || parent.back() != "discrete_gaussian") return false;
  const Json& event = changed[parent];
  return event["sigma"].get<double>() < 20 * event.value("granularity", 1.0);
}

}  // namespace

Question random_question(std::uint64_t seed) {
  Dice dice(seed);
  Question q;
  const Relation relations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
  q.spec.relation = relations[dice.below(3)];
  q.delta = dice.chance(0.35) ? dice.between(1e-300, 0.999) : dice.between(1e-12, 1e-2);
  Generator generator(dice, q.spec.relation);
  const std::size_t events = dice.chance(0.7) ? 1 : 1 + dice.below(3);
  for (std::size_t i = 0; i < events; ++i) q.spec.events.push_back(generator.event(3));
  return q;
}

std::vector<Costlier> costlier_than(const Spec& spec, Dice& dice, int how_many) {
  std::vector<Costlier> out;
  const Json json = to_json(spec);
  std::vector<Json::json_pointer> numbers;
  numbers_in(json, Json::json_pointer(), numbers);
  for (int i = 0; i < how_many; ++i) {
    if (numbers.empty() || dice.chance(0.25)) {
      Spec more = spec;
      const std::uint64_t times = dice.whole(2, 50);
      more.events = {repeat(spec.event(), times)};
      out.push_back({std::move(more), "all of it " + std::to_string(times) + " times"});
      continue;
    }
    const Json::json_pointer& where = numbers[dice.below(numbers.size())];
    Json changed = json;
    Json& number = changed[where];
    const double factor = dice.between(1.01, 10);
    const std::string old = number.dump();
    if (number.is_number_integer()) {
      number = static_cast<std::uint64_t>(std::ceil(number.get<double>() * factor));
    } else if (where.back() == "omega") {
      number = 1 + (number.get<double>() - 1) / factor;
    } else {
      number = *rises(where.back()) ? number.get<double>() * factor : number.get<double>() / factor;
    }
    if (is_coarse_lattice(changed, where)) continue;
    try {
      out.push_back(
          {spec_from_json(changed), where.to_string() + ": " + old + " to " + number.dump()});
    } catch (const Error&) {
      // Out of range there (a rate above 1, a size above the population): nothing to compare with.
    }
  }
  return out;
}

}  // namespace sotto::specs
