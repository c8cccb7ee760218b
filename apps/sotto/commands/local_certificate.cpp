#include "local_certificate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/central.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;

Certificate claimed(const Arguments& arguments, const Declaration& d, std::uint64_t reports,
                    const Rng& rng) {
  const auto randomizer = make_randomizer(d);
  const std::string report = round_up(randomizer->epsilon()),
                    lifetime = round_up(epsilon_lifetime(*randomizer, d));
  Certificate c;
  if (arguments.text("trust") == "shuffler") {
    if (d.whole("epochs") > 1)
      throw Unsupported(
          "clients may report in several epochs: mixing one report of each says nothing of several",
          "certify with --trust nobody");
    c = certify(shuffled_event(d, reports), Relation::replace_one, arguments.number("delta"), rng);
    c.assumptions = {kShufflerTrust,
                     fmt::format("without this trust: epsilon = {} for each report", report)};
  } else {
    c = certify(lifetime_event(d), Relation::replace_one, 0, rng);
    c.assumptions = {
        "nobody is trusted but each client's own program and generator",
        fmt::format("epsilon = {} for one report, {} for all that a client may make in {} epochs",
                    report, lifetime, d.whole("epochs"))};
  }
  c.assumptions.emplace_back("every client has used the declared protocol");
  return c;
}

}  // namespace

void certify_estimate(const Arguments& arguments, const Declaration& d, std::uint64_t reports,
                      const nlohmann::ordered_json& estimates, Context& context) {
  const std::string key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
  Certificate c = claimed(arguments, d, reports, context.rng());
  c.unit = "client";
  c.method = "local " + d.protocol;
  c.description = fmt::format("estimates from {} reports, each noised by its client", reports);
  // The coins were the clients'.
  if (d.insecure) c.generator = "insecure_seed";
  c.files = {{"value", sha256(estimates.dump())}};
  const std::string path = arguments.text("certificate");
  write_certificate(path, c);
  if (!key.empty())
    write_file(path + ".sig", certificate_signature(to_json(c).dump(2) + "\n", key));
}

}  // namespace sotto::cli
