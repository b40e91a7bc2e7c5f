/// Two distributions one can sample from, with their exact log density ratio
/// log r = log numerator - log denominator.
#pragma once

#include <optional>
#include <string>

#include "benchmarks/pairs/density.h"

namespace dre::pairs {

struct PairParts {
  DensityPtr numerator, denominator;
  std::optional<double> kl;          ///< KL(numerator || denominator), where a formula gives it
  DensityPtr test_numerator = {};    ///< where the numerator's half of the test rows comes from
  DensityPtr test_denominator = {};  ///< and the denominator's; by default the densities themselves
};

class Pair final {
 public:
  Pair(std::string name, PairParts parts);

  const std::string& name() const { return name_; }
  int64_t dimension() const { return parts_.numerator->dimension(); }
  const Density& numerator() const { return *parts_.numerator; }
  const Density& denominator() const { return *parts_.denominator; }

  /// KL(numerator || denominator) in nats, where a formula gives it; for a joint distribution over
  /// the product of its marginals, the mutual information.
  std::optional<double> kl() const { return parts_.kl; }

  /// -> [n, d] float64
  Tensor sample_numerator(int64_t n, at::Generator& generator) const;
  Tensor sample_denominator(int64_t n, at::Generator& generator) const;

  /// Rows to judge an estimate on, the two halves pooled; the truth is finite on all of them.
  /// -> [n, d] float64
  Tensor sample_test(int64_t n, at::Generator& generator) const;

  /// x: [n, d] float64 -> [n]
  Tensor log_ratio(const Tensor& x) const;

 private:
  std::string name_;
  PairParts parts_;
};

}  // namespace dre::pairs
