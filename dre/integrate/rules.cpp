#include "dre/integrate/rules.h"

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/legendre.hpp>

#include "dre/base/error.h"

namespace dre {
namespace {

/// Boost lists the Kronrod nodes from 0 outwards; those of the odd Gauss rule are every second one.
template <int kronrod_points>
NestedRule kronrod() {
  using Gauss = boost::math::quadrature::gauss<double, (kronrod_points - 1) / 2>;
  using Kronrod = boost::math::quadrature::gauss_kronrod<double, kronrod_points>;
  std::vector<double> nodes, weights;
  for (const size_t first : {0, 1}) {
    for (size_t i = first; i < Kronrod::abscissa().size(); i += 2) {
      nodes.push_back(Kronrod::abscissa()[i]);
      weights.push_back(Kronrod::weights()[i]);
    }
  }
  const std::vector<double> gauss(Gauss::weights().begin(), Gauss::weights().end());
  // Kronrod's extension of n points has degree 3n + 1, and one more by symmetry for odd n.
  return nested_rule(nodes, {gauss, weights}, {kronrod_points - 2, 3 * kronrod_points / 2 + 1}, 2);
}

void append_pair(std::vector<double>& out, double node, double at_minus, double at_plus) {
  if (node != 0) out.push_back(at_minus);
  out.push_back(at_plus);
}

}  // namespace

NestedRule nested_rule(const std::vector<double>& nodes,
                       const std::vector<std::vector<double>>& weights,
                       const std::vector<int64_t>& degrees, size_t panel_levels) {
  NestedRule rule{{}, panel_levels};
  size_t seen = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    const auto& half = weights[k];
    RuleLevel level{{}, {}, degrees[k]};
    for (size_t i = 0; i < half.size(); ++i) {
      append_pair(level.weights, nodes[i], half[i], half[i]);
      if (i >= seen) append_pair(level.new_nodes, nodes[i], -nodes[i], nodes[i]);
    }
    seen = half.size();
    rule.levels.push_back(std::move(level));
  }
  return rule;
}

NestedRule kronrod15() { return kronrod<15>(); }
NestedRule kronrod31() { return kronrod<31>(); }

NestedRule legendre(int64_t nodes) {
  check(nodes >= 1 && nodes <= 1000, "a Gauss-Legendre rule has 1 to 1000 nodes, got ", nodes);
  const auto degree = static_cast<int>(nodes);
  const auto zeros = boost::math::legendre_p_zeros<double>(degree);
  std::vector<double> weights;
  for (const double x : zeros) {
    const double slope = boost::math::legendre_p_prime(degree, x);
    weights.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return nested_rule(zeros, {weights}, {2 * nodes - 1}, 1);
}

}  // namespace dre
