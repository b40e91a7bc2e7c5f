#include "dre/data/split.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

const Context split_context{torch::kCPU, torch::kFloat64, 3};

Samples numbered_rows(int64_t rows, const Tensor& weight = {}) {
  return make_samples(torch::arange(rows, torch::kFloat64).unsqueeze(1), weight);
}

TEST(Split, PartsAreDisjointAndTogetherAll) {
  for (const int64_t rows : {2, 3, 10, 1001}) {
    for (const double share : {1e-6, 0.1, 0.5, 0.999}) {
      auto generator = split_context.generator("split");
      const Split parts = split(numbered_rows(rows), share, generator);
      const Tensor all = torch::cat({parts.train_rows, parts.held_out_rows});
      EXPECT_TRUE(torch::equal(std::get<0>(all.sort()), torch::arange(rows)));
      EXPECT_GE(parts.train.rows(), 1);
      EXPECT_GE(parts.held_out.rows(), 1);
      EXPECT_NEAR(static_cast<double>(parts.held_out.rows()), share * rows, 1);
      EXPECT_TRUE(torch::equal(parts.train.x.squeeze(1), parts.train_rows.to(torch::kFloat64)));
    }
  }
}

TEST(Split, EveryRowHasTheSameChance) {
  auto generator = split_context.generator("chance");
  const Tensor weight = torch::tensor({1.0, 1.0, 5.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  for (const Samples& samples : {numbered_rows(10), numbered_rows(10, weight)}) {
    Tensor count = torch::zeros({10}, torch::kFloat64);
    const int trials = 2000;
    for (int i = 0; i < trials; ++i)
      count.index_add_(0, split(samples, 0.3, generator).held_out_rows,
                       torch::ones({3}, torch::kFloat64));
    // Binomial, 0.3 of 2000: standard error 20.5; five of them.
    EXPECT_LT((count - 0.3 * trials).abs().max().item<double>(), 5 * 20.5);
  }
}

TEST(Split, HeavyRowsAreSpreadOverBothParts) {
  Tensor weight = torch::ones({1000}, torch::kFloat64);
  weight.slice(0, 0, 10).fill_(100);
  auto generator = split_context.generator("heavy");
  for (int i = 0; i < 20; ++i) {
    const Split parts = split(numbered_rows(1000, weight), 0.5, generator);
    EXPECT_EQ((parts.held_out_rows < 10).sum().item<int64_t>(), 5);
    EXPECT_NEAR(parts.held_out.weight.mean().item<double>(), 1, 1e-12);
  }
}

TEST(Split, AGeneratorDecidesIt) {
  auto first = split_context.generator("a"), second = split_context.generator("a"),
       third = split_context.generator("b");
  const Samples samples = numbered_rows(100);
  const Tensor rows = split(samples, 0.2, first).held_out_rows;
  EXPECT_TRUE(torch::equal(rows, split(samples, 0.2, second).held_out_rows));
  EXPECT_FALSE(torch::equal(rows, split(samples, 0.2, third).held_out_rows));
}

TEST(Split, WhatCannotBeSplitIsRefused) {
  auto generator = split_context.generator("split");
  EXPECT_THROW(split(numbered_rows(1), 0.5, generator), Error);
  EXPECT_THROW(split(numbered_rows(10), 0.0, generator), Error);
  EXPECT_THROW(split(numbered_rows(10), 1.0, generator), Error);
  const Tensor one = torch::tensor({1.0, 0.0, 0.0, 0.0});
  EXPECT_THROW(split(numbered_rows(4, one), 0.5, generator), Error);
}

}  // namespace
}  // namespace dre
