#include "dre/apps/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/files.h"

namespace dre::testing {
namespace {

TEST(Gates, ReadConditions) {
  CompareResult result;
  result.divergences.kl_numerator_denominator.value = 0.2;
  result.test.p_value = 0.03;
  result.divergences.chi_square.value = std::nan("");
  EXPECT_TRUE(Gate("kl > 0.1").fails(result));
  EXPECT_FALSE(Gate("kl > 0.2").fails(result));
  EXPECT_TRUE(Gate("kl >= 0.2").fails(result));
  EXPECT_TRUE(Gate("p_value < 0.05 and kl > 0.1").fails(result));
  EXPECT_FALSE(Gate("p_value < 0.01 and kl > 0.1").fails(result));
  EXPECT_TRUE(Gate("chi2 > 7").fails(result));  // not finite is beyond every bound
  const Tensor equal = torch::zeros({100}, torch::kFloat64);
  result.weights = check_weights(equal, torch::ones_like(equal), 0);
  EXPECT_TRUE(result.weights.reliable);
  EXPECT_FALSE(Gate("pareto_k > 0.7").fails(result));  // equal weights have no tail
  EXPECT_TRUE(Gate("kl>0.1 and p_value<=0.03").fails(result));
  EXPECT_EQ(Gate("kl > 0.1 and chi2 > 7").measured(result),
            "kl = 0.2, chi2 could not be computed, which counts as failed");
  EXPECT_EQ(Gate(" kl>0.1 ").text(), "kl>0.1");
  result.divergences.kl_numerator_denominator.value = 0.1 + 0.2;
  EXPECT_EQ(Gate("kl > 0.1").measured(result), "kl = 0.3");
  EXPECT_EQ(Gate("kl > 0.3").measured(result), "kl = 0.30000000000000004");
  result.divergences.kl_numerator_denominator.value = 0.2;
  result.apart = {"age"};  // a column that one side lacks fails everything
  EXPECT_TRUE(Gate("kl > 0.2").fails(result));
  expect_contains(Gate("kl > 0.2").measured(result), {"age"});
  CompareResult stopped;
  stopped.interrupted = true;
  EXPECT_TRUE(Gate("kl > 0.2").fails(stopped));
  expect_contains(Gate("kl > 0.2").measured(stopped), {"was stopped", "counts as failed"});
  EXPECT_THROW(to_json(stopped), Error);
  for (const char* bad : {"", "kl", "kl >", "kl > x", "kl = 1", "kl > 1 or tv > 2", "kl > 1 and"})
    EXPECT_THROW(Gate{bad}, Error) << bad;
  expect_contains(message_of([] { Gate("kl == 0"); }, Error::Kind::usage), {"'kl == 0'", ">="});
  expect_contains(message_of([] { Gate("k1 > 2"); }, Error::Kind::usage), {"k1", "kl_reverse"});
}

}  // namespace
}  // namespace dre::testing
