#include "sotto/models/pca/detail/pca_training.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/learning/transform_plan.hpp"
#include "sotto/models/pca/detail/bingham.hpp"
#include "sotto/models/pca/detail/leading_eigen.hpp"
#include "sotto/models/pca/detail/pca_model.hpp"
#include "sotto/models/pca/detail/scatter.hpp"
#include "sotto/models/rows/detail/ball_sums.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostWidth = 4000;  // a matrix of 128 MB
constexpr double kMedian = 0.5;
constexpr double kReach = 4;  // standard deviations of a coordinate
constexpr double kSlack = 1 + 0x1p-40;

enum class Route { gauss, laplace, bingham, sulq, none };

Route parse_route(std::string_view text) {
  if (text == "gauss") return Route::gauss;
  if (text == "laplace") return Route::laplace;
  if (text == "bingham") return Route::bingham;
  return text == "sulq" ? Route::sulq : Route::none;
}
std::string_view name(Route route) {
  switch (route) {
    case Route::gauss: return "gauss";
    case Route::laplace: return "laplace";
    case Route::bingham: return "bingham";
    case Route::sulq: return "sulq";
    case Route::none: return "none";
  }
  invariant_broken("a route without a name");
}

double columns_of(const Facts& facts) {
  return static_cast<double>(facts.encoder->features().size());
}

struct Setting {
  Facts facts;
  Route route;
  std::size_t width, components;
  bool declared;  // centring about the middle of the bounds

  bool locates() const { return !declared && route != Route::sulq; }
  bool measures_radius() const { return route != Route::sulq; }
};

// The mechanisms for a budget: a pure ε or a ρ.
struct Mechanisms {
  std::optional<PointSumsPlan> location;
  std::optional<RadiusPlan> radius;
  std::optional<LatticeNoise> scatter;
  std::optional<BinghamPlan> direction;

  Mechanisms(const Setting& s, const Budget& budget);
  Event event(std::size_t components) const;
};

// Steps of the noised triangle, or of all entries, that one unit may move it by.
LatticeNoise scatter_noise(const Setting& s, const Budget& budget) {
  const double units = static_cast<double>(s.facts.contributions) * kSlack;
  const bool replaced = s.facts.relation == Relation::replace_one;
  if (s.route == Route::laplace) {
    const double l1 = (columns_of(s.facts) + 1) / 2 * (replaced ? 2 : 1) * units / kScatterStep;
    return {
        s.facts.relation, budget, kScatterStep, {.l1 = l1, .l2 = l1}, s.width * (s.width + 1) / 2};
  }
  const bool whole = s.route == Route::sulq;
  const double step = whole ? kScatterStep : kTriangleStep;
  const double l2 = (replaced ? std::sqrt(2.0) : 1) * units / step;
  return {s.facts.relation,
          budget,
          step,
          {.l1 = l2 * static_cast<double>(s.width), .l2 = l2},
          whole ? s.width * s.width : s.width * (s.width + 1) / 2};
}

Mechanisms::Mechanisms(const Setting& s, const Budget& budget) {
  double left = 1 - 0x1p-40;
  const auto take = [&](double share) {
    left -= share;
    return budget.part(share);
  };
  const bool gauss = s.route == Route::gauss;
  if (s.locates())
    location = location_plan(s.facts, take(gauss ? 0.10 : s.route == Route::laplace ? 0.2 : 0.15));
  if (s.measures_radius()) radius.emplace(s.facts, take(gauss ? 0.02 : 0.05));
  if (s.route == Route::bingham) {
    direction.emplace(s.facts.relation, s.facts.contributions,
                      budget.part(left / static_cast<double>(s.components)).pure_epsilon(),
                      s.width);
  } else {
    scatter = scatter_noise(s, budget.part(left));
  }
}

Event Mechanisms::event(std::size_t components) const {
  std::vector<Event> all;
  if (location) all.push_back(location->event());
  if (radius) all.push_back(radius->event());
  if (scatter) all.push_back(scatter->event());
  if (direction) all.push_back(repeat(direction->event(), components));
  return compose(std::move(all));
}

// Largest coordinate positive: the same components look the same.
void orient(Eigen::Ref<Eigen::VectorXd> v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  if (v[largest] < 0) v = -v;
}

class PcaTraining final : public TransformPlan {
 public:
  PcaTraining(Setting setting, std::string reason, std::optional<Budget> budget)
      : setting_(std::move(setting)), reason_(std::move(reason)) {
    // Without noise everything is computed as with it; a plan is made all the same.
    mechanisms_.emplace(noiseless(), budget.value_or(Budget::zcdp(1)));
    private_ = budget.has_value();
  }

  std::optional<Event> event() const override {
    if (!private_) return std::nullopt;
    return mechanisms_->event(setting_.components);
  }
  Relation relation() const override { return setting_.facts.relation; }

  Explanation explain() const override {
    Explanation e{.method = std::string(name(setting_.route)), .reason = reason_};
    e.words = fmt::format("{} principal components of {} coordinates", setting_.components,
                          setting_.width);
    if (mechanisms_->location && private_) e.words += ", about a noisy mean";
    if (setting_.declared) e.words += ", about the middle of the bounds";
    if (private_) {
      e.words += "; ";
      e.words += mechanisms_->direction ? mechanisms_->direction->describe()
                                        : mechanisms_->scatter->describe();
    }
    if (mechanisms_->direction && private_) e.assumptions = {"there are at most 2^26 records"};
    e.figures = {{"components", setting_.components}};
    return e;
  }

  std::vector<OutputColumn> outputs() const override {
    return component_columns(std::vector<double>(setting_.components, 1.0));
  }

  TrainedModel run(Source& source, Rng& rng, RunControl&) override {
    const EncodedRows rows(source, *setting_.facts.encoder);
    return finished(pca_model(fit(rows, rng), setting_.facts));
  }

 private:
  Setting noiseless() const {
    Setting s = setting_;
    if (s.route == Route::none) s.route = Route::gauss;
    return s;
  }

  Components fit(const EncodedRows& rows, Rng& rng) const {
    const double bound = setting_.facts.encoder->norm_bound();
    Location where{std::vector<double>(setting_.width), 1};
    if (mechanisms_->location) where = locate(*mechanisms_->location, rows, bound, private_, rng);
    if (setting_.route == Route::sulq) return from_entries(rows, bound, rng);
    // laplace: about 0 where there are categories, which keeps records sparse.
    std::vector<double> about = where.mean;
    if (setting_.route == Route::laplace)
      for (std::size_t j = 0; j < about.size(); ++j)
        if (!is_dense(j)) about[j] = 0;
    double square = 0;
    for (const double m : about) square += m * m;
    const double largest = bound + std::sqrt(square);
    // Without noise nothing is gained by shortening records.
    const double radius =
        private_ ? mechanisms_->radius->run(rows, about, largest, kMedian, true, rng) : largest;
    if (setting_.route == Route::laplace) return from_moments(rows, where, about, radius, rng);
    const std::vector<int128> sums = scatter_of(rows, where.mean, radius);
    if (setting_.route == Route::bingham)
      return from_directions(weighted(sums), std::move(where.mean), radius, rng);
    std::vector<int128> triangle = weighted(sums);
    if (private_) triangle = mechanisms_->scatter->add(triangle, rng);
    return leading(symmetric(triangle, setting_.width, kTriangleStep,
                             kTriangleStep * kDiagonal / kOffDiagonal),
                   std::move(where.mean), where.count, radius);
  }

  // Times 128 on the diagonal, 181 off it.
  std::vector<int128> weighted(std::vector<int128> triangle) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < setting_.width; ++i)
      for (std::size_t j = i; j < setting_.width; ++j)
        triangle[at++] *= i == j ? kDiagonal : kOffDiagonal;
    return triangle;
  }

  bool is_dense(std::size_t coordinate) const {
    const auto dense = setting_.facts.encoder->dense_positions();
    return std::find(dense.begin(), dense.end(), coordinate) != dense.end();
  }

  Components from_moments(const EncodedRows& rows, Location& where,
                          const std::vector<double>& about, double radius, Rng& rng) const {
    const std::vector<int128> triangle =
        mechanisms_->scatter->add(scatter_of(rows, about, radius), rng);
    Eigen::MatrixXd moments = symmetric(triangle, setting_.width, kScatterStep, kScatterStep);
    const Encoder& encoder = *setting_.facts.encoder;
    for (std::size_t f = 0; f < encoder.features().size(); ++f) {
      const Encoder::Run run = encoder.run(f);  // two values of one category do not meet
      for (std::size_t i = run.first; i < run.first + run.width; ++i)
        for (std::size_t j = run.first; j < run.first + run.width; ++j)
          if (i != j) moments(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = 0;
    }
    if (mechanisms_->location) {  // what is left of the mean: of the categories
      Eigen::VectorXd mean(static_cast<Eigen::Index>(setting_.width));
      for (std::size_t j = 0; j < setting_.width; ++j)
        mean[static_cast<Eigen::Index>(j)] = (where.mean[j] - about[j]) / radius;
      moments -= where.count * (mean * mean.transpose());
    }
    return leading(moments, std::move(where.mean), where.count, radius);
  }

  Components from_entries(const EncodedRows& rows, double bound, Rng& rng) const {
    const std::size_t d = setting_.width;
    const std::vector<int128> triangle = scatter_of(rows, std::vector<double>(d), bound);
    std::vector<int128> entries(d * d);
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = i; j < d; ++j) entries[i * d + j] = entries[j * d + i] = triangle[at++];
    const std::vector<int128> noisy = mechanisms_->scatter->add(entries, rng);
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(d));
    for (std::size_t i = 0; i < d * d; ++i)
      matrix.data()[i] = static_cast<double>(noisy[i]) * kScatterStep;
    return leading((matrix + matrix.transpose()) / 2, std::vector<double>(d), 1, bound);
  }

  // The leading eigenvectors of a scatter in units of the radius.
  Components leading(const Eigen::MatrixXd& scatter, std::vector<double> mean, double count,
                     double radius) const {
    const LeadingEigen eigen =
        leading_eigen(scatter, static_cast<Eigen::Index>(setting_.components));
    Components found{Matrix(setting_.components, setting_.width), std::move(mean), {}};
    for (std::size_t c = 0; c < setting_.components; ++c) {
      const auto at = static_cast<Eigen::Index>(c);
      Eigen::VectorXd v = eigen.vectors.col(at);
      orient(v);
      std::copy_n(v.data(), setting_.width, found.directions.row(c).begin());
      const double variance = std::max(0.0, eigen.values[at] / count);
      found.reach.push_back(
          std::clamp(kReach * radius * std::sqrt(variance), 0.01 * radius, 2 * radius));
    }
    return found;
  }

  Components from_directions(const std::vector<int128>& triangle, std::vector<double> mean,
                             double radius, Rng& rng) const {
    const auto d = static_cast<Eigen::Index>(setting_.width);
    const Eigen::MatrixXd scatter = symmetric(triangle, setting_.width, kTriangleStep,
                                              kTriangleStep * kDiagonal / kOffDiagonal);
    Components found{Matrix(setting_.components, setting_.width), std::move(mean), {}};
    Eigen::MatrixXd chosen(d, 0), basis = Eigen::MatrixXd::Identity(d, d);
    for (std::size_t c = 0; c < setting_.components; ++c) {
      Eigen::VectorXd v =
          mechanisms_->direction->run(scatter, triangle, kTriangleStep, basis, rng).value;
      // Released: from here on public. Orthogonal to those before, and of length one.
      v -= chosen * (chosen.transpose() * v);
      v = v.norm() > 1e-3 ? Eigen::VectorXd(v.normalized()) : Eigen::VectorXd(basis.col(0));
      v -= chosen * (chosen.transpose() * v);
      v.normalize();
      orient(v);
      chosen.conservativeResize(d, chosen.cols() + 1);
      chosen.col(chosen.cols() - 1) = v;
      const Eigen::HouseholderQR<Eigen::MatrixXd> qr(chosen);
      const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(d, d);
      basis = q.rightCols(d - chosen.cols());
      std::copy_n(v.data(), setting_.width, found.directions.row(c).begin());
      found.reach.push_back(radius);
    }
    return found;
  }

  Setting setting_;
  std::string reason_;
  std::optional<Mechanisms> mechanisms_;
  bool private_ = false;
};

struct Choice {
  Route route;
  std::string reason = {};
};

Choice choose(const Facts& facts, const TrainingRequest& request, std::size_t components) {
  if (request.method != "auto") return {parse_route(request.method)};
  const Budget& budget = required_budget(request);
  if (!budget.is_pure()) return {Route::gauss, "a Gaussian for this budget"};
  const double wanted = 20 * (columns_of(facts) + 1) * (columns_of(facts) + 1) /
                        (budget.pure_epsilon() * static_cast<double>(components));
  if (facts.rows && static_cast<double>(*facts.rows) > wanted)
    return {Route::laplace, "pure epsilon, and rows enough for noise on all moments"};
  return {Route::bingham, "pure epsilon, and few rows for so many coordinates"};
}

}  // namespace

std::unique_ptr<TrainingPlan> pca_training(const Facts& facts, const TrainingRequest& request) {
  const std::size_t width = facts.encoder->width();
  if (width > kMostWidth)
    throw Unsupported(fmt::format("the encoded records have {} coordinates; pca takes at most {}",
                                  width, kMostWidth),
                      "leave columns out, or group values in the schema");
  const auto components = static_cast<std::size_t>(
      request.options.maybe_whole("components").value_or(std::min<std::size_t>(2, width)));
  if (components > width)
    throw InvalidArgument(fmt::format("`components` is {}; the encoded records have {} coordinates",
                                      components, width));
  const Choice choice = choose(facts, request, components);
  Setting setting{facts, choice.route, width, components,
                  request.options.text("centring") == "declared"};
  if (choice.route == Route::none)
    return std::make_unique<PcaTraining>(std::move(setting), "", std::nullopt);
  const Budget& budget = required_budget(request);
  const bool wants_pure = choice.route == Route::laplace || choice.route == Route::bingham;
  if (wants_pure != budget.is_pure())
    throw InvalidArgument(
        fmt::format("the method {} needs {}", name(choice.route),
                    wants_pure ? "a pure epsilon" : "a delta, or a rho"),
        wants_pure ? "leave out the delta, or use `method` gauss"
                   : "give a delta as well, e.g. 1e-6, or use `method` laplace or bingham");
  if (choice.route == Route::bingham &&
      static_cast<double>(facts.rows.value_or(0)) > BinghamPlan::kMostPoints)
    throw Unsupported("the method bingham takes at most 2^26 records", "use `method` laplace");
  const Budget share = confirmed(budget, facts.relation, [&](const Budget& b) {
    return Mechanisms(setting, b).event(components);
  });
  return std::make_unique<PcaTraining>(std::move(setting), choice.reason, share);
}

}  // namespace sotto
