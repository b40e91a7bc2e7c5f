/// Quadrature rules as data: nodes and weights on [-1, 1].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dre {

/// One rule of a nested sequence: the nodes it adds to those of the rules before it.
struct RuleLevel {
  std::vector<double> new_nodes;
  std::vector<double> weights;  ///< one for each node so far, in the order in which they came
  int64_t degree;               ///< polynomials up to this degree are integrated exactly
};

/// A sequence of rules, each of which keeps every node of the one before, so that no evaluation is
/// lost when a rule turns out too coarse.
struct NestedRule {
  std::vector<RuleLevel> levels;
  size_t panel_levels;  ///< how many of them are tried on a panel of a bisected interval
};

/// From symmetric tables: `nodes` are the nonnegative ones in order of use, and the k-th table of
/// weights belongs to the first weights[k].size() of them.
NestedRule nested_rule(const std::vector<double>& nodes,
                       const std::vector<std::vector<double>>& weights,
                       const std::vector<int64_t>& degrees, size_t panel_levels);

/// 3, 7, 15 and 31 points, exact to degree 5, 11, 23 and 47.
NestedRule patterson();

/// Gauss 7 and Kronrod 15, exact to degree 13 and 23.
NestedRule kronrod15();

/// Gauss 15 and Kronrod 31, exact to degree 29 and 47.
NestedRule kronrod31();

/// The Gauss-Legendre rule of `nodes` points as a sequence of one, exact to degree 2 nodes - 1.
NestedRule legendre(int64_t nodes);

}  // namespace dre
