// The data-dependent ε, made fit to be seen.
//
// What       SanitisePlan computes what the answers cost given the votes, and releases it with
//            noise in proportion to its smooth sensitivity. A second, small release says how large
//            that noise was, so that the result has an upper bound at a stated confidence.
// Guarantee  event() is what both releases cost for any votes; the label plan's event comes on top.
//            `epsilon` is a statement about this data set: an estimate, with noise of mean 0, of an
//            ε at δ that these labels and this release cost against its neighbours. It is not a
//            guarantee for other data sets; with `confidence`, that ε is at most `epsilon_upper`.
// Method     GNSS: value + S·σ·N(0,1), S = max_d e^{−βd}·(local sensitivity at distance d), of
//            neighbours whose S differ by at most e^{±β}. Its Rényi divergence is that of two
//            normal laws of different widths, at its worst (gnss_renyi). The formula of the paper,
//            gnss_renyi_paper, is too small where 2αβ is large (docs/math/pate.md) and is here for
//            comparison only. ln S moves by at most β: it is released with noise σ'·β.
// Numerics   S rounds up, the value is rounded to 2^-20 after the noise. Standard normals come from
//            the exact discrete Gaussian of scale 2^40, divided by 2^40.
// Reference  [NRS07], [PSMRTE18]; docs/math/pate.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/pate/aggregator.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate {

// Rényi divergence of GNSS at an order; throws InvalidArgument where it is infinite.
double gnss_renyi(double beta, double sigma, double order);
double gnss_renyi_paper(double beta, double sigma, double order);  // comparison only

struct SanitiseOptions {
  double delta = 1e-5;
  Conversion conversion = Conversion::cks20;
  double order = 15;        // α, at which everything is counted
  double beta = .015;       // smoothness
  double sigma = 8;         // noise on the value, in smooth sensitivities
  double sigma_scale = 10;  // noise on ln S, in β
  double confidence = .95;  // of epsilon_upper
};

// The public rule: the parameters that make the expected `epsilon_upper` smallest if the share
// `agreement` of the queries had the share `agreement` of all votes for one class and the other
// queries were undecided between two.
SanitiseOptions designed(const LabelOptions& labels, double delta, Conversion conversion,
                         double agreement = .9);

struct Sanitised {
  double epsilon = 0, epsilon_upper = 0, confidence = 0;
};

class SanitisePlan {
 public:
  SanitisePlan(const LabelOptions& labels, const SanitiseOptions& options);

  Event event() const;
  Relation relation() const { return labels_.options().relation; }
  std::string describe() const;
  const SanitiseOptions& options() const { return options_; }

  Release<Sanitised> run(const Votes& votes, Rng& rng,
                         const std::vector<double>* student = nullptr) const;

  // NOT PRIVATE: before the noise.
  struct Private {
    double renyi = 0;               // of the answers
    double epsilon = 0;             // what `epsilon` is on average
    double smooth_sensitivity = 0;  // `epsilon` has σ times this as standard deviation
  };
  Private look(const Votes& votes, const std::vector<double>* student = nullptr) const;

 private:
  LabelPlan labels_;
  SanitiseOptions options_;
  double own_renyi_;  // of both releases at the order
};

}  // namespace sotto::pate
