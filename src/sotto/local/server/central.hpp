// The central guarantee of local reports that nobody sees one by one: amplification by shuffling.
//
// What       central_guarantee: (ε, δ) of everything made from n reports without their order,
//            sender and time, such as estimates, for whoever sees nothing else.
// Guarantee  Holds under replace_one, if every one of the n reports is an honest client's and each
//            client has made one. It rests on whoever shuffles or collects not looking at single
//            reports, nor passing them on: with less trust, only the local ε holds.
// Method     The event is shuffled(n, randomized_response) for GRR and shuffled(n, pure ε) for
//            other protocols, evaluated by the accountant: of GRR both sides, which meet as n
//            grows; of others the bound for any protocol of their ε. Their lower is what two
//            concrete answers cost, found by asking whether a report supports them (unary
//            encodings, subsets, hashing, Hadamard response, single bits; 0 for others).
// Numerics   upper is rounded up, lower down.
// Reference  [FMT21]; docs/math/amplification.md.
#pragma once

#include "sotto/accounting/bound.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/values.hpp"
#include "sotto/local/client/declaration.hpp"

namespace sotto::local {

// The event of one client's report, and of all reports that a client may make in its life.
Event local_event(const Declaration& declaration);
Event lifetime_event(const Declaration& declaration);
// The event of all first reports together, for whoever sees them shuffled.
Event shuffled_event(const Declaration& declaration, std::uint64_t reports);
Bound central_guarantee(const Declaration& declaration, std::uint64_t reports, Delta delta);

// In words, for estimates and certificates.
inline constexpr const char* kShufflerTrust =
    "the central guarantee rests on trust: whoever collects or shuffles the reports drops their "
    "order, sender and time and shows no single one, every counted report is an honest client's, "
    "and each client has made one; without this trust the local guarantee holds";

}  // namespace sotto::local
