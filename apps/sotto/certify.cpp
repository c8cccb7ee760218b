#include "certify.hpp"

#include <nlohmann/json.hpp>

#include "output_file.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/version.hpp"

namespace sotto::cli {

Certificate uncertified(const Rng& rng) {
  Certificate c;
  c.version = kVersion;
  c.generator = rng.kind();
  c.noise = "none";
  return c;
}

Certificate certify(const Event& event, Relation relation, double delta, const Rng& rng) {
  Certificate c = uncertified(rng);
  c.spec = Spec{relation, {event}};
  c.delta = delta;
  const Bound bound = guarantee(*c.spec, delta, kCertificateAccounting);
  c.epsilon = bound.upper;
  c.accountant = name(bound.accountant);
  c.conversion = bound.conversion;
  c.noise = noise_of(event);
  if (delta == 0) {  // both theorems say the same without a δ: the sum
    c.epsilon_by = {{"basic", bound.upper}, {"optimal", bound.upper}};
  } else {
    for (const Comparison& line : compare(*c.spec, Delta(delta))) {
      if (line.bound) c.epsilon_by[std::string(name(line.accountant))] = line.bound->upper;
    }
  }
  return c;
}

void write_certificate(const std::string& path, const Certificate& certificate) {
  write_file(path, to_json(certificate).dump(2) + "\n");
}

}  // namespace sotto::cli
