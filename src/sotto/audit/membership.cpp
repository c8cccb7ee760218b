#include "sotto/audit/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sotto/audit/detail/logistic.hpp"
#include "sotto/core/error.hpp"

namespace sotto::audit {
namespace {

constexpr double kLeast = 1e-12;         // of a probability
constexpr double kLeastSpread = 1e-6;    // of confidences
constexpr std::size_t kOwnSpreads = 64;  // shadow models that allow a spread for each record
constexpr double kMostScore = 1e100;     // scores are finite

constexpr std::array<std::pair<Attack, std::string_view>, 7> kNames = {
    {{Attack::loss, "loss"},
     {Attack::entropy, "entropy"},
     {Attack::shadow, "shadow"},
     {Attack::lira, "lira"},
     {Attack::lira_offline, "lira_offline"},
     {Attack::lira_offline_density, "lira_offline_density"},
     {Attack::rmia, "rmia"}}};

double finite(double x) { return std::isnan(x) ? 0 : std::clamp(x, -kMostScore, kMostScore); }

struct Moments {
  double count = 0, sum = 0, squares = 0;

  void add(double x) { count += 1, sum += x, squares += x * x; }
  double mean() const { return sum / count; }
  double deviations() const { return std::max(0.0, squares - sum * sum / count); }
};

// Of each record's confidence over the shadow models that had it, or that had not.
class Confidences {
 public:
  Confidences(const std::vector<SeenModel>& shadows, bool in) {
    records_.resize(shadows.front().sights.size());
    for (const SeenModel& model : shadows)
      for (std::size_t i = 0; i < records_.size(); ++i)
        if (model.members[i] == in) records_[i].add(model.sights[i].confidence);
    double deviations = 0, freedom = 0;
    for (const Moments& m : records_) {
      if (m.count == 0) continue;
      total_.add(m.mean());
      deviations += m.deviations();
      freedom += m.count - 1;
    }
    own_ = shadows.size() >= kOwnSpreads;
    spread_ = std::max(kLeastSpread, freedom > 0 ? std::sqrt(deviations / freedom) : 1);
  }
  bool has(std::size_t i) const { return records_[i].count > 0; }
  double overall() const { return total_.count > 0 ? total_.mean() : 0; }
  double mean(std::size_t i) const { return records_[i].mean(); }
  double spread(std::size_t i) const {
    const Moments& m = records_[i];
    if (!own_ || m.count < 2) return spread_;
    return std::max(kLeastSpread, std::sqrt(m.deviations() / (m.count - 1)));
  }

 private:
  std::vector<Moments> records_;
  Moments total_;
  double spread_ = 1;
  bool own_ = false;
};

double log_density(double x, double mean, double spread) {
  const double z = (x - mean) / spread;
  return -0.5 * z * z - std::log(spread);
}

// A record that was in every shadow model, or in none, borrows the usual difference.
double mean_of(std::size_t i, const Confidences& side, const Confidences& other) {
  if (side.has(i)) return side.mean(i);
  return other.mean(i) + side.overall() - other.overall();
}

std::vector<double> by_likelihood_ratio(Attack attack, const std::vector<Sight>& target,
                                        const std::vector<SeenModel>& shadows) {
  const Confidences in(shadows, true), out(shadows, false);
  std::vector<double> scores;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double phi = target[i].confidence, mean_out = mean_of(i, out, in),
                 spread_out = out.spread(i);
    double score = 0;
    switch (attack) {
      case Attack::lira:
        score = log_density(phi, mean_of(i, in, out), in.spread(i)) -
                log_density(phi, mean_out, spread_out);
        break;
      case Attack::lira_offline_density: score = -log_density(phi, mean_out, spread_out); break;
      default: score = (phi - mean_out) / spread_out;  // Φ of it has the same order, and ties
    }
    scores.push_back(finite(score));
  }
  return scores;
}

std::vector<double> features(const Sight& s) {
  const double confidence = std::tanh(s.confidence / 4);
  return {confidence, confidence * confidence, s.likelihood, std::tanh(s.entropy)};
}

std::vector<double> by_shadow_classifier(const std::vector<Sight>& target,
                                         const std::vector<SeenModel>& shadows) {
  std::map<std::uint32_t, std::vector<LogisticRow>> of_class;
  for (const SeenModel& model : shadows)
    for (std::size_t i = 0; i < target.size(); ++i)
      of_class[model.sights[i].label].push_back({features(model.sights[i]), model.members[i]});
  std::map<std::uint32_t, std::vector<double>> weights;
  for (const auto& [label, rows] : of_class)
    weights[label] = logistic_weights(rows, rows.front().features.size());
  std::vector<double> scores;
  for (const Sight& s : target)
    scores.push_back(finite(logistic_margin(weights.at(s.label), features(s))));
  return scores;
}

// p(x)/p̄(x), where the mean over models that had x and that had not is guessed from the latter.
std::vector<double> likelihood_ratios(const std::vector<Sight>& target,
                                      std::span<const SeenModel> references, double a) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < target.size(); ++i) {
    double sum = 0, count = 0;
    for (const SeenModel& model : references)
      if (!model.members[i]) sum += model.sights[i].likelihood, count += 1;
    const double out = count > 0 ? sum / count : 1;
    ratios.push_back(target[i].likelihood / std::max(kLeast, ((1 + a) * out + (1 - a)) / 2));
  }
  return ratios;
}

double separation(const std::vector<double>& scores, const std::vector<bool>& members) {
  std::vector<std::pair<double, bool>> order;
  for (std::size_t i = 0; i < scores.size(); ++i) order.push_back({scores[i], members[i]});
  std::ranges::sort(order);
  double beaten = 0, wins = 0;
  for (const auto& [score, member] : order) member ? wins += beaten : beaten += 1;
  return wins;
}

std::vector<double> by_pairwise_ratio(const std::vector<Sight>& target,
                                      const std::vector<SeenModel>& shadows) {
  // The guess is tuned where the truth is known: on a shadow model, against the others.
  double best_a = 0.3, best = -1;
  for (int step = 0; step <= 10; ++step) {
    const double a = 0.1 * step;
    const double found =
        separation(likelihood_ratios(shadows.front().sights, std::span(shadows).subspan(1), a),
                   shadows.front().members);
    if (found > best) best = found, best_a = a;
  }
  const std::vector<double> ratios = likelihood_ratios(target, shadows, best_a);
  std::vector<double> sorted = ratios, scores;
  std::ranges::sort(sorted);
  for (const double r : ratios)
    scores.push_back(static_cast<double>(std::ranges::upper_bound(sorted, r) - sorted.begin()) /
                     static_cast<double>(sorted.size()));
  return scores;
}

void check(Attack attack, std::size_t records, const std::vector<SeenModel>& shadows) {
  if (needs_shadows(attack) && shadows.size() < 2)
    throw InvalidArgument(
        fmt::format("the attack {} has {} shadow models", name(attack), shadows.size()),
        "it needs at least 2; 16 or more make it strong");
  for (const SeenModel& model : shadows)
    if (model.sights.size() != records || model.members.size() != records)
      throw InvalidArgument("a shadow model does not say something of every record");
}

}  // namespace

Sight sight_of_class(std::span<const double> probabilities, std::uint32_t truth) {
  double others = 0, entropy = 0;
  const auto bounded = [](double p) { return p > kLeast ? std::min(p, 1.0) : kLeast; };
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    if (k == truth) continue;
    const double p = bounded(probabilities[k]);
    others += p;
    entropy -= p * std::log(std::max(kLeast, 1 - p));
  }
  const double p = truth < probabilities.size() ? bounded(probabilities[truth]) : kLeast;
  entropy -= (1 - p) * std::log(p);
  return {std::log(p) - std::log(std::max(kLeast, others)), p, entropy, truth};
}

Sight sight_of_number(double residual) {
  const double size = std::isfinite(residual) ? std::min(std::abs(residual), 1e6) : 1e6;
  return {-size, std::exp(-0.5 * size * size), size, 0};
}

std::string_view name(Attack attack) {
  for (const auto& [value, text] : kNames)
    if (value == attack) return text;
  return "";
}

Attack parse_attack(std::string_view text) {
  for (const auto& [value, known] : kNames)
    if (known == text) return value;
  throw InvalidArgument(fmt::format("there is no attack '{}'", text),
                        "loss, entropy, shadow, lira, lira_offline, lira_offline_density or rmia");
}

bool needs_shadows(Attack attack) { return attack != Attack::loss && attack != Attack::entropy; }

std::vector<double> membership_scores(Attack attack, const std::vector<Sight>& target,
                                      const std::vector<SeenModel>& shadows) {
  check(attack, target.size(), shadows);
  std::vector<double> scores;
  switch (attack) {
    case Attack::loss:
      for (const Sight& s : target) scores.push_back(finite(s.confidence));
      return scores;
    case Attack::entropy:
      for (const Sight& s : target) scores.push_back(finite(-s.entropy));
      return scores;
    case Attack::shadow: return by_shadow_classifier(target, shadows);
    case Attack::rmia: return by_pairwise_ratio(target, shadows);
    default: return by_likelihood_ratio(attack, target, shadows);
  }
}

}  // namespace sotto::audit
