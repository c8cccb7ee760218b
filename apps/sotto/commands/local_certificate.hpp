// The certificate of an estimate from local reports: what is claimed, and whom the claim trusts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "commands.hpp"
#include "sotto/local/client/declaration.hpp"

namespace sotto::cli {

// --certificate, --trust, --sign. Of all reports of a client, trusting nobody; or of first reports
// that a trusted shuffler or collector has mixed.
void certify_estimate(const Arguments& arguments, const local::Declaration& declaration,
                      std::uint64_t reports, const nlohmann::ordered_json& estimates,
                      Context& context);

}  // namespace sotto::cli
