// Certificates of what the commands release.
#pragma once

#include <string>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/certificate.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::cli {

// Certificates are computed, and checked again, to this precision.
inline const AccountOptions kCertificateAccounting = {.tolerance = 1e-5};

// The version and the generator; an artifact without events is NOT PRIVATE.
Certificate uncertified(const Rng& rng);
// The event, what the accountants say it costs at δ (0: pure), the version and the generator. The rest is the caller's to fill in.
Certificate certify(const Event& event, Relation relation, double delta, const Rng& rng);

// One JSON document, whole or not at all.
void write_certificate(const std::string& path, const Certificate& certificate);

}  // namespace sotto::cli
