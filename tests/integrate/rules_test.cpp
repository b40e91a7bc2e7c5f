#include "dre/integrate/rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

struct Flat {
  std::vector<double> nodes, weights;
  int64_t degree;
};

/// Every rule of the sequence with all of its nodes.
std::vector<Flat> flatten(const NestedRule& rule) {
  std::vector<Flat> out;
  std::vector<double> nodes;
  for (const auto& level : rule.levels) {
    nodes.insert(nodes.end(), level.new_nodes.begin(), level.new_nodes.end());
    out.push_back({nodes, level.weights, level.degree});
  }
  return out;
}

double monomial_error(const Flat& rule, int64_t degree) {
  double sum = 0;
  for (size_t i = 0; i < rule.nodes.size(); ++i)
    sum += rule.weights[i] * std::pow(rule.nodes[i], static_cast<double>(degree));
  return std::abs(sum - (degree % 2 == 0 ? 2.0 / static_cast<double>(degree + 1) : 0.0));
}

void expect_degree(const NestedRule& rule) {
  for (const Flat& flat : flatten(rule)) {
    SCOPED_TRACE(flat.nodes.size());
    for (int64_t degree = 0; degree <= flat.degree; ++degree)
      EXPECT_LT(monomial_error(flat, degree), 2e-15) << "degree " << degree;
    for (const double weight : flat.weights) EXPECT_GT(weight, 0);
    for (const double node : flat.nodes) EXPECT_LT(std::abs(node), 1);
  }
}

TEST(Rules, PattersonIsNestedAndExactToItsDegreesOnly) {
  expect_degree(patterson());
  const auto rules = flatten(patterson());
  const std::vector<size_t> points = {3, 7, 15, 31};
  const std::vector<int64_t> degrees = {5, 11, 23, 47};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rules[i].nodes.size(), points[i]);
    EXPECT_EQ(rules[i].degree, degrees[i]);
  }
  EXPECT_GT(monomial_error(rules[0], 6), 1e-2);
  EXPECT_GT(monomial_error(rules[1], 12), 1e-4);
  EXPECT_GT(monomial_error(rules[2], 24), 1e-9);
}

TEST(Rules, KronrodPairsExtendTheirGaussRules) {
  expect_degree(kronrod15());
  expect_degree(kronrod31());
  EXPECT_EQ(flatten(kronrod15())[1].degree, 23);
  EXPECT_EQ(flatten(kronrod31())[1].degree, 47);
  EXPECT_EQ(flatten(kronrod15())[0].nodes.size(), 7u);
  EXPECT_EQ(flatten(kronrod31())[1].nodes.size(), 31u);
}

TEST(Rules, LegendreOfAnySize) {
  for (const int64_t nodes : {1, 2, 5, 20, 64, 201}) {
    expect_degree(legendre(nodes));
    EXPECT_EQ(legendre(nodes).levels[0].new_nodes.size(), static_cast<size_t>(nodes));
  }
  EXPECT_GT(monomial_error(flatten(legendre(5))[0], 10), 1e-4);
  EXPECT_THROW(legendre(0), Error);
  EXPECT_THROW(legendre(1001), Error);
}

}  // namespace
}  // namespace dre
