#include "sotto/accounting/budget/odometer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {

Odometer::Odometer(Delta delta, Rho expected_rho, Relation relation)
    : delta_(delta.value()), expected_rho_(expected_rho.value()), relation_(relation) {}

void Odometer::spend(const Event& event) {
  ExactSum rho = rho_, own = own_delta_;
  for (const Run& run : run_lengths(event)) {
    const Concentrated c = concentrated_cost(run.event, relation_);
    rho.add(c.rho, run.count);
    own.add(c.delta, run.count);
  }
  rho_ = rho, own_delta_ = own;
}

double Odometer::epsilon() const {
  const double rho = rho_.upper();
  if (rho == 0) return 0;
  const double log_inverse = -std::log(delta_);
  // With variance proxy v = 2ρ, the bound at v is nearly smallest for γ = v/(2 ln(1/δ) + ln(1 + 2
  // ln(1/δ))).
  const double gamma = 2 * expected_rho_ / (2 * log_inverse + std::log1p(2 * log_inverse));
  const double v = 2 * rho + gamma;
  return widen_up(rho + std::sqrt(2 * v * (log_inverse + 0.5 * std::log(v / gamma))), 32 * kUlp);
}

double Odometer::delta() const { return add_up(delta_, own_delta_.upper()); }

nlohmann::ordered_json Odometer::to_json() const {
  return {{"schema", 1},
          {"odometer", "zcdp"},
          {"relation", name(relation_)},
          {"delta", delta_},
          {"expected_rho", expected_rho_},
          {"rho", rho_.hex()},
          {"own_delta", own_delta_.hex()}};
}

Odometer Odometer::from_json(const nlohmann::ordered_json& j) {
  try {
    if (j.at("schema") != 1 || j.at("odometer") != "zcdp")
      throw DataError("a stored odometer has an unknown schema");
    Odometer o(Delta(j.at("delta").get<double>()), Rho(j.at("expected_rho").get<double>()),
               parse_relation(j.at("relation").get<std::string>()));
    o.rho_ = ExactSum::from_hex(j.at("rho").get<std::string>());
    o.own_delta_ = ExactSum::from_hex(j.at("own_delta").get<std::string>());
    return o;
  } catch (const nlohmann::json::exception&) {
    throw DataError("a stored odometer lacks a field or has one of the wrong type");
  } catch (const InvalidArgument& e) {
    throw DataError(std::string("a stored odometer cannot be used: ") + e.what(), e.hint());
  }
}

}  // namespace sotto
