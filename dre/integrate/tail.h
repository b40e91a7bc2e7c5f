/// How wrong a quadrature rule is, from the tail of the integrand's Legendre series.
///
/// A rule of degree D gives the coefficients c_j of the series up to m = D/2 for free. Let `high`
/// be the norm of the last quarter of them, `low` that of the quarter that ends at m/2, `middle`
/// that of the quarter between, r = high / low <= 1, and b how many make a quarter. Where a
/// derivative jumps, the error of the integral is about high / (30 b) and rarely above high / (6
/// b); the slower the decay, the nearer to high itself:
///     high min(3 r, (1 + 8 r^2) / (6 b)).
/// Where the series decays geometrically, the error is of the size of c_2m, about high r^2, and
///     high 4 r^2
/// is enough. Geometric is what falls from the middle to the high band about as fast as it did
/// from the low to the middle one, high / middle <= 1.3 middle / low; powers of j fall slower.
/// Bands of fewer than four coefficients are too short to tell. The constants were set on random
/// ELU, tanh and SiLU networks: there the errors that rows of the nested rule end with exceed the
/// true one in 93 to 100 % of rows. Unlike the difference of two rules, a whole band of
/// coefficients is not small by accident.
#pragma once

#include <torch/types.h>

#include <vector>

#include "dre/base/context.h"

namespace dre {

/// Turns samples of an integrand at the nodes of one rule into its integral and its tail.
class TailRule final {
 public:
  /// nodes and weights on [-1, 1], in the order of the samples; exact to `degree`.
  TailRule(const std::vector<double>& nodes, const std::vector<double>& weights, int64_t degree,
           const torch::TensorOptions& options);

  struct Sums {
    Tensor value;     ///< [m] integral over a panel
    Tensor absolute;  ///< [m] ∫|f|
    Tensor tail;      ///< [m] the estimate above; infinite where the rule has under 5 nodes
    Tensor smooth;    ///< [m] what a geometric decay would leave, the least that can be hoped for
  };

  /// samples: [m, nodes], half: [m] half the (signed) length of each panel
  Sums operator()(const Tensor& samples, const Tensor& half) const;

 private:
  int64_t band_;    ///< how many coefficients make a band
  Tensor columns_;  ///< [nodes, 1 + 3 band]: the weights, then the three bands
};

}  // namespace dre
