#include "specs/instances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::specs {
namespace {

constexpr int kReach = 60;  // outputs of additive noise: −60 … 60, the ends take the rest

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double laplace_cdf(double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }

// Symmetric noise around a centre, as seen in cells of the given width; rounding an output is
// post-processing. A cell is a difference on the side where its ends are small: beside 1 a mass of
// 1e-30 would vanish, and with it a bound of the loss.
Law in_cells(const std::function<double(double)>& cdf, double centre, double width) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  Law law;
  for (int i = -kReach; i <= kReach; ++i) {
    const double from = i == -kReach ? -kAll : (i - 0.5) * width - centre,
                 to = i == kReach ? kAll : (i + 0.5) * width - centre;
    law.push_back(from > 0 ? cdf(-from) - cdf(-to) : cdf(to) - cdf(from));
  }
  return law;
}
Law gaussian(double sigma, double centre) {
  return in_cells([&](double x) { return normal_cdf(x / sigma); }, centre, sigma / 5);
}
Law laplace(double scale, double centre) {
  // Cells that end at the centres −1, 0, 1 when 1 is a multiple of the width.
  return in_cells([&](double x) { return laplace_cdf(x / scale); }, centre + 0.1, 0.2);
}
// Masses ∝ weight(|z|) on the integers, around a whole centre.
Law on_integers(const std::function<double(double)>& weight, int centre) {
  Law law(2 * kReach + 1);
  double total = 0;
  for (int z = -400; z <= 400; ++z) total += weight(std::abs(z));
  for (int z = -400; z <= 400; ++z) {
    const int place = std::clamp(z + centre, -kReach, kReach);
    law[static_cast<std::size_t>(place + kReach)] += weight(std::abs(z)) / total;
  }
  return law;
}
Law discrete_laplace(double scale, int centre) {
  return on_integers([&](double z) { return std::exp(-z / scale); }, centre);
}
Law discrete_gaussian(double sigma, int centre) {
  return on_integers([&](double z) { return std::exp(-z * z / (2 * sigma * sigma)); }, centre);
}

void add(Law& to, const Law& law, double weight) {
  if (to.empty()) to.resize(law.size());
  for (std::size_t i = 0; i < law.size(); ++i) to[i] += weight * law[i];
}

// ---- Samples of records with contributions −1, 0, 1; the sum of the sample is noised. ----

using Records = std::vector<int>;
using Noise = std::function<Law(int sum)>;

Law on_poisson_sample(const Records& records, double rate, const Noise& noise) {
  Law out;
  for (unsigned set = 0; set < 1u << records.size(); ++set) {
    double probability = 1;
    int sum = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool in = set >> i & 1;
      probability *= in ? rate : 1 - rate;
      if (in) sum += records[i];
    }
    add(out, noise(sum), probability);
  }
  return out;
}

Law on_fixed_sample(const Records& records, int size, bool replacement, const Noise& noise) {
  Law out;
  const int n = static_cast<int>(records.size());
  double ways = 0;
  std::vector<int> draw(static_cast<std::size_t>(size), 0);
  std::vector<std::pair<int, double>> sums;
  // All sequences of draws; without replacement those without a repetition, which makes every
  // subset equally likely.
  for (bool more = true; more;) {
    bool valid = true;
    int sum = 0;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < i && !replacement; ++j) valid = valid && draw[i] != draw[j];
      sum += records[static_cast<std::size_t>(draw[i])];
    }
    if (valid) ++ways, sums.push_back({sum, 1});
    more = false;
    for (int& d : draw) {
      if (++d < n) {
        more = true;
        break;
      }
      d = 0;
    }
  }
  for (const auto& [sum, weight] : sums) add(out, noise(sum), weight / ways);
  return out;
}

// Neighbours of a few records, one of which is changed as the relation says.
std::vector<std::pair<Records, Records>> neighbours(Relation relation, int others) {
  std::vector<std::pair<Records, Records>> out;
  for (const int rest : {-1, 0, 1}) {
    Records base(static_cast<std::size_t>(others), rest);
    const auto with = [&](int record) {
      Records r = base;
      r.push_back(record);
      return r;
    };
    switch (relation) {
      case Relation::add_remove:
        for (const int x : {-1, 1}) out.push_back({with(x), base});
        break;
      case Relation::zero_out:
        for (const int x : {-1, 1}) out.push_back({with(x), with(0)});
        break;
      case Relation::replace_one: out.push_back({with(1), with(-1)}); break;
    }
  }
  return out;
}

struct NoiseKind {
  std::string name;
  std::function<Event(Relation)> event;
  Noise noise;
  bool exact = false;  // no loss by cells
};

// Under replace_one a record moves the sum from 1 to −1.
double reach(Relation relation) { return relation == Relation::replace_one ? 2 : 1; }

std::vector<NoiseKind> noises() {
  std::vector<NoiseKind> out;
  for (const double s : {0.7, 3.0}) {
    out.push_back({"gaussian", [s](Relation) { return GaussianEvent::from_multiplier(s); },
                   [s](int sum) { return gaussian(s, sum); }});
    out.push_back({"laplace", [s](Relation) { return LaplaceEvent::from_multiplier(s); },
                   [s](int sum) { return laplace(s, sum); }});
    out.push_back({"discrete_laplace",
                   [s](Relation r) {
                     return DiscreteLaplaceEvent{s, reach(r), 1, 1};
                   },
                   [s](int sum) { return discrete_laplace(s, sum); }, true});
    out.push_back({"discrete_gaussian",
                   [s](Relation r) {
                     return DiscreteGaussianEvent{s, reach(r), 1, 1};
                   },
                   [s](int sum) { return discrete_gaussian(s, sum); }, true});
    // The same noise under the names of its guarantees.
    out.push_back({"gdp", [s](Relation r) { return GdpEvent{reach(r) / s}; },
                   [s](int sum) { return gaussian(s, sum); }});
    out.push_back({"zcdp", [s](Relation r) { return ZcdpEvent{reach(r) * reach(r) / (2 * s * s)}; },
                   [s](int sum) { return gaussian(s, sum); }});
    out.push_back({"tcdp",
                   [s](Relation r) {
                     return TcdpEvent{reach(r) * reach(r) / (2 * s * s), 50};
                   },
                   [s](int sum) { return discrete_gaussian(s, sum); }});
    out.push_back({"pure", [s](Relation r) { return PureEvent{reach(r) / s}; },
                   [s](int sum) { return laplace(s, sum); }});
    out.push_back({"approximate",
                   [s](Relation r) {
                     return ApproximateEvent{reach(r) / s, 1e-9};
                   },
                   [s](int sum) { return discrete_laplace(s, sum); }});
  }
  return out;
}

void add_noises(std::vector<Instance>& out) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const NoiseKind& kind : noises()) {
      const Event event = kind.event(relation);
      const auto add_as = [&](const std::string& how, const Event& e, bool worst,
                              const std::function<Law(const Records&)>& run, int others) {
        Instance i{how + kind.name, {relation, {e}}, {}, worst};
        for (const auto& [a, b] : neighbours(relation, others)) i.pairs.push_back({run(a), run(b)});
        Instance twice{"two of " + i.name, {relation, {repeat(e, 2)}}, {}, false};
        for (const Pair& p : i.pairs) twice.pairs.push_back(product(p, p));
        out.push_back(std::move(i));
        out.push_back(std::move(twice));
      };
      const auto sum_of = [&](const Records& r) {
        int sum = 0;
        for (int x : r) sum += x;
        return kind.noise(sum);
      };
      add_as("", event, kind.exact, sum_of, 0);
      for (const double rate : {0.02, 0.4}) {
        add_as(
            "poisson sample of ", poisson_sampled(event, rate),
            kind.exact && relation != Relation::replace_one,
            [&](const Records& r) { return on_poisson_sample(r, rate, kind.noise); }, 2);
      }
      if (relation == Relation::add_remove) continue;  // the number of records is public
      for (const auto& [size, others] : {std::pair{1, 3}, {2, 3}, {3, 4}}) {
        for (const bool replacement : {false, true}) {
          const SampledEvent e{replacement ? Scheme::with_replacement : Scheme::without_replacement,
                               1, static_cast<std::uint64_t>(size),
                               static_cast<std::uint64_t>(others + 1), share(event)};
          add_as(
              replacement ? "drawn with replacement " : "drawn without replacement ", e, false,
              [&, size = size](const Records& r) {
                return on_fixed_sample(r, size, replacement, kind.noise);
              },
              others);
        }
      }
    }
  }
}

// ---- Responses ----

Law response(double epsilon, int categories, int truth) {
  Law law(static_cast<std::size_t>(categories), 1 / (std::exp(epsilon) + categories - 1));
  law[static_cast<std::size_t>(truth)] *= std::exp(epsilon);
  return law;
}

// The number of reports of each of two kinds, from the probability of the first kind for every
// user.
Law counts(const std::vector<double>& first) {
  Law law{1};
  for (const double p : first) {
    Law next(law.size() + 1);
    for (std::size_t i = 0; i < law.size(); ++i) {
      next[i] += (1 - p) * law[i];
      next[i + 1] += p * law[i];
    }
    law = std::move(next);
  }
  return law;
}

void add_responses(std::vector<Instance>& out) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const double e : {0.2, 2.0, 6.0}) {
      for (const int k : {2, 5}) {
        const RandomizedResponseEvent event{e, static_cast<std::uint64_t>(k)};
        const Pair one{response(e, k, 0), response(e, k, 1)};
        out.push_back({"response", {relation, {event}}, {one}, true});
        out.push_back({"three responses",
                       {relation, {repeat(event, 3)}},
                       {product(one, product(one, one))},
                       true});
      }
      const Pair two{response(e, 2, 0), response(e, 2, 1)};
      out.push_back({"pure response", {relation, {PureEvent{e}}}, {two}, true});
      out.push_back({"different guarantees",
                     {relation, {PureEvent{e}, PureEvent{e / 2}, PureEvent{e / 3}}},
                     {product(two, product({response(e / 2, 2, 0), response(e / 2, 2, 1)},
                                           {response(e / 3, 2, 0), response(e / 3, 2, 1)}))},
                     true});
      // Reveals everything with probability δ.
      const double d = 1e-4;
      const Law a = response(e, 2, 0), b = response(e, 2, 1);
      const Pair failing{{d, (1 - d) * a[0], (1 - d) * a[1], 0},
                         {0, (1 - d) * b[0], (1 - d) * b[1], d}};
      out.push_back({"approximate", {relation, {ApproximateEvent{e, d}}}, {failing}, true});
      out.push_back({"two approximate",
                     {relation, {repeat(ApproximateEvent{e, d}, 2)}},
                     {product(failing, failing)},
                     true});
      if (relation == Relation::add_remove) continue;
      for (const int n : {1, 2, 20}) {
        const double truth = std::exp(e) / (1 + std::exp(e));
        std::vector<double> users(static_cast<std::size_t>(n), 1 - truth), changed = users;
        changed[0] = truth;
        out.push_back(
            {"shuffled responses",
             {relation,
              {ShuffledEvent{static_cast<std::uint64_t>(n), share(RandomizedResponseEvent{e, 2})}}},
             {{counts(users), counts(changed)}},
             false});
        if (relation != Relation::zero_out) continue;
        // Every input is ε from the null one, so two inputs may be 2ε apart: the others hold the
        // opposite of the one.
        users.assign(static_cast<std::size_t>(n), 0.5 * std::exp(-e));
        changed = users;
        users[0] = 0.5;
        changed[0] = 1 - 0.5 * std::exp(-e);
        out.push_back(
            {"shuffled guarantees",
             {relation, {ShuffledEvent{static_cast<std::uint64_t>(n), share(PureEvent{e})}}},
             {{counts(users), counts(changed)}},
             false});
      }
    }
  }
}

// ---- Exponential mechanisms, votes, mixtures ----

void add_choices(std::vector<Instance>& out) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const double e : {0.3, 2.0}) {
      std::vector<Pair> pairs, twice;
      // Weights of two candidates; a record moves the logarithms of some by up to ε.
      for (const double w : {0.001, 0.03, 0.2, 0.5, 0.8, 0.97}) {
        const double moved = w * std::exp(e), rest = 1 - w;
        pairs.push_back({{w, rest}, {moved / (moved + rest), rest / (moved + rest)}});
      }
      for (const Pair& a : pairs)
        for (const Pair& b : pairs) twice.push_back(product(a, product(a, b)));
      out.push_back({"exponential", {relation, {ExponentialEvent{e}}}, pairs, false});
      out.push_back(
          {"three exponential", {relation, {repeat(ExponentialEvent{e}, 3)}}, twice, false});
    }
    for (const double s : {0.8, 5.0}) {
      std::vector<Pair> gaussian_votes, laplace_votes;
      for (int lead = -6; lead <= 6; ++lead) {
        const auto both = [](double p, double q) { return Pair{{p, 1 - p}, {q, 1 - q}}; };
        gaussian_votes.push_back(both(normal_cdf(lead / (s * std::sqrt(2.0))),
                                      normal_cdf((lead + 2) / (s * std::sqrt(2.0)))));
        // The difference of two Laplace variables: 1 − e^{−x}(2 + x)/4 for x ≥ 0.
        const auto difference = [&](double x) {
          const double a = std::abs(x) / s, tail = std::exp(-a) * (2 + a) / 4;
          return x < 0 ? tail : 1 - tail;
        };
        laplace_votes.push_back(both(difference(lead), difference(lead + 2)));
      }
      out.push_back({"gnmax", {relation, {GnmaxEvent{s}}}, gaussian_votes, false});
      out.push_back({"lnmax", {relation, {LnmaxEvent{s}}}, laplace_votes, false});
    }
    if (relation == Relation::replace_one) continue;
    for (const double s : {0.5, 2.0}) {
      Law mixed;
      for (const auto& [c, w] : {std::pair{0.0, 0.7}, {1.0, 0.2}, {2.0, 0.1}})
        add(mixed, gaussian(s, c), w);
      out.push_back({"gaussian_mixture",
                     {relation, {GaussianMixtureEvent{s, {0, 1, 2}, {0.7, 0.2, 0.1}}}},
                     {{mixed, gaussian(s, 0)}},
                     false});
    }
  }
}

// ---- The best of K runs ----

// The output of the best run, from the generating function of K; the last output is "no run at
// all".
Law best_of(const Law& one, const std::function<double(double)>& generating) {
  Law out;
  double below = 0, before = generating(0);
  for (const double p : one) {
    below += p;
    const double upto = generating(std::min(1.0, below));
    out.push_back(upto - before);
    before = upto;
  }
  out.push_back(generating(0));
  return out;
}

void add_selections(std::vector<Instance>& out) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const double e : {0.3, 2.0}) {
      const Event event = RandomizedResponseEvent{e, 2};
      const Pair one{response(e, 2, 0), response(e, 2, 1)};
      for (const double mean : {0.1, 0.5, 1.0, 4.0, 30.0}) {
        const auto poisson = [&](double x) { return std::exp(mean * (x - 1)); };
        out.push_back(
            {"poisson selection",
             {relation,
              {PrivateSelectionEvent{SelectionDistribution::poisson, 1, mean, share(event)}}},
             {{best_of(one.p, poisson), best_of(one.q, poisson)}},
             false});
        if (mean <= 1) continue;
        for (const double shape : {0.0, 0.5, 1.0, 3.0}) {
          // γ from the mean, by bisection on the derivative of the generating function at 1.
          const auto f = [&](double g, double x) {
            if (shape == 0) return std::log1p(-(1 - g) * x) / std::log(g);
            return (std::pow(1 - (1 - g) * x, -shape) - 1) / (std::pow(g, -shape) - 1);
          };
          double low = 1e-9, high = 1 - 1e-9;
          for (int i = 0; i < 200; ++i) {
            const double g = std::sqrt(low * high), h = 1e-6 * g;
            ((f(g, 1) - f(g, 1 - h)) / h > mean ? low : high) = g;
          }
          const auto generating = [&](double x) { return f(low, x); };
          out.push_back({"selection",
                         {relation,
                          {PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial,
                                                 shape, mean, share(event)}}},
                         {{best_of(one.p, generating), best_of(one.q, generating)}},
                         false});
        }
      }
    }
  }
}

// ---- Disjoint parts ----

void add_parts(std::vector<Instance>& out) {
  for (const auto& [a, b] : {std::pair{0.9, 3.0}, {2.0, 2.0}}) {
    // A count in each part; a record counts in one of them.
    const std::vector<Event> parts = {DiscreteLaplaceEvent{a, 1, 1, 1},
                                      DiscreteLaplaceEvent{b, 1, 1, 1}};
    const Pair left{discrete_laplace(a, 1), discrete_laplace(a, 0)},
        right{discrete_laplace(b, 0), discrete_laplace(b, 1)};
    const Event event = ParallelEvent{parts};
    for (const Relation relation : {Relation::add_remove, Relation::zero_out})
      out.push_back({"parallel", {relation, {event}}, {left, right}, false});
    // A replaced record leaves one part and enters the other.
    out.push_back({"parallel", {Relation::replace_one, {event}}, {product(left, right)}, false});
  }
}

}  // namespace

double hockey_stick(const Pair& pair, double epsilon) {
  double forward = 0, backward = 0;
  const double odds = std::exp(epsilon);
  for (std::size_t i = 0; i < pair.p.size(); ++i) {
    forward += std::max(0.0, pair.p[i] - odds * pair.q[i]);
    backward += std::max(0.0, pair.q[i] - odds * pair.p[i]);
  }
  return std::max(forward, backward);
}

Pair product(const Pair& a, const Pair& b) {
  Pair out;
  for (std::size_t i = 0; i < a.p.size(); ++i) {
    for (std::size_t j = 0; j < b.p.size(); ++j) {
      out.p.push_back(a.p[i] * b.p[j]);
      out.q.push_back(a.q[i] * b.q[j]);
    }
  }
  return out;
}

std::vector<Instance> instances() {
  std::vector<Instance> out;
  add_noises(out);
  add_responses(out);
  add_choices(out);
  add_selections(out);
  add_parts(out);
  return out;
}

}  // namespace sotto::specs
