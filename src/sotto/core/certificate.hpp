// A certificate: what was guaranteed for an artifact, in terms that can be checked again.
//
// It quotes the events, from which anybody can recompute ε, and the digests of the files it speaks about. A certificate without
// events says that the artifact is NOT PRIVATE; one made with a fixed seed says INSECURE.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/spec.hpp"

namespace sotto {

struct Certificate {
  std::optional<Spec> spec;     // relation and events; absent: not private
  std::string unit = "record";  // whose data is protected
  double epsilon = 0, delta = 0;
  std::string accountant, conversion;
  std::map<std::string, double> epsilon_by;  // by accountant, for comparison
  std::string method, description;           // in words, from the plan
  std::vector<std::string>
      assumptions;      // public facts the guarantee rests on: declared rows, bounds, …
  std::string dataset;  // a label chosen by the user
  std::string version, generator;            // of the library; "aes256ctr" or "insecure_seed"
  std::map<std::string, std::string> files;  // name → SHA-256

  bool is_private() const { return spec.has_value(); }
  bool secure() const { return generator != "insecure_seed"; }
};

nlohmann::ordered_json to_json(const Certificate& certificate);
Certificate certificate_from_json(const nlohmann::ordered_json& json);  // throws DataError

}  // namespace sotto
