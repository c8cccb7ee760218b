#include "sotto/audit/detail/output_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>

namespace sotto::audit {
namespace {

constexpr std::size_t kFields = 64;  // more are not looked at one by one

double field(const Output& output, std::size_t i) {
  return i < output.numbers.size() ? output.numbers[i] : 0;
}

// Zeros at the end of the binary form: what is left of a rounding.
double trailing_zeros(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x) & ((std::uint64_t{1} << 52) - 1);
  return bits == 0 ? 52 : std::countr_zero(bits);
}

std::vector<double> middle_and_spread(const std::vector<Output>& a, const std::vector<Output>& b,
                                      std::size_t i) {
  std::vector<double> values;
  for (const auto* side : {&a, &b})
    for (const Output& o : *side) values.push_back(field(o, i));
  const auto at = [&](double share) {
    const auto k = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + k, values.end());
    return values[static_cast<std::size_t>(k)];
  };
  const double middle = at(0.5), spread = at(0.84) - at(0.16);
  return {middle, spread > 0 && std::isfinite(spread) ? spread : 1};
}

// Logistic regression on squashed fields by gradient descent: outliers of heavy-tailed noise must
// not decide.
OutputScore classifier(const std::vector<Output>& a, const std::vector<Output>& b,
                       std::size_t fields) {
  std::vector<std::vector<double>> scale;
  for (std::size_t i = 0; i < fields; ++i) scale.push_back(middle_and_spread(a, b, i));
  const auto features = [scale](const Output& o) {
    std::vector<double> x;
    for (std::size_t i = 0; i < scale.size(); ++i)
      x.push_back(std::tanh((field(o, i) - scale[i][0]) / (2 * scale[i][1])));
    return x;
  };
  std::vector<std::pair<std::vector<double>, double>> rows;
  for (const Output& o : a) rows.push_back({features(o), 1});
  for (const Output& o : b) rows.push_back({features(o), 0});
  std::vector<double> weights(fields + 1);
  const auto margin = [](const std::vector<double>& w, const std::vector<double>& x) {
    double m = w.back();
    for (std::size_t i = 0; i < x.size(); ++i) m += w[i] * x[i];
    return m;
  };
  for (int step = 0; step < 200; ++step) {
    std::vector<double> gradient(weights.size());
    for (const auto& [x, y] : rows) {
      const double error = 1 / (1 + std::exp(-margin(weights, x))) - y;
      for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += error * x[i];
      gradient.back() += error;
    }
    const double rate = 4.0 / (1 + static_cast<double>(fields)) / static_cast<double>(rows.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradient[i];
  }
  return {"a linear classifier of all fields",
          [features, weights, margin](const Output& o) { return margin(weights, features(o)); }};
}

}  // namespace

Output parse_output(const std::string& line) {
  Output output{line, {}};
  const char *at = line.data(), *end = line.data() + line.size();
  while (at < end) {
    while (at < end && (*at == ' ' || *at == ',' || *at == '\t' || *at == ';')) ++at;
    if (at == end) break;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const bool whole = next == end || *next == ' ' || *next == ',' || *next == '\t' || *next == ';';
    if (error != std::errc() || !whole || !std::isfinite(value)) return {line, {}};
    output.numbers.push_back(value);
    at = next;
  }
  return output;
}

std::vector<OutputScore> output_scores(const std::vector<Output>& first,
                                       const std::vector<Output>& second) {
  std::map<std::string, std::pair<double, double>> seen;
  for (const Output& o : first) seen[o.text].first += 1;
  for (const Output& o : second) seen[o.text].second += 1;
  std::map<std::string, double> ratio;
  for (const auto& [text, n] : seen) ratio[text] = std::log((n.first + 0.5) / (n.second + 0.5));
  std::vector<OutputScore> scores = {{"how much oftener the text occurs", [ratio](const Output& o) {
                                        const auto it = ratio.find(o.text);
                                        return it == ratio.end() ? 0 : it->second;
                                      }}};
  std::size_t fields = 0;
  for (const auto* side : {&first, &second})
    for (const Output& o : *side) fields = std::max(fields, o.numbers.size());
  for (std::size_t i = 0; i < std::min(fields, kFields); ++i) {
    const double middle = middle_and_spread(first, second, i)[0];
    scores.push_back(
        {fmt::format("field {}", i + 1), [i](const Output& o) { return field(o, i); }});
    scores.push_back({fmt::format("distance of field {} from {:g}", i + 1, middle),
                      [i, middle](const Output& o) { return std::abs(field(o, i) - middle); }});
    scores.push_back({fmt::format("zeros that end field {} in binary", i + 1),
                      [i](const Output& o) { return trailing_zeros(field(o, i)); }});
  }
  // How many fields there are may tell, too.
  scores.push_back({"the number of fields",
                    [](const Output& o) { return static_cast<double>(o.numbers.size()); }});
  if (fields > 1) scores.push_back(classifier(first, second, std::min<std::size_t>(fields, 1024)));
  return scores;
}

}  // namespace sotto::audit
