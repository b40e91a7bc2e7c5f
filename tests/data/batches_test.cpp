#include "dre/data/batches.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

const Context batch_context{torch::kCPU, torch::kFloat64, 3};

Samples numbered(int64_t rows, const Tensor& weight = {}) {
  return make_samples(torch::arange(rows, torch::kFloat64).unsqueeze(1), weight);
}

Tensor counts(const Tensor& rows, int64_t n) {
  return torch::bincount(rows, {}, n).to(torch::kFloat64);
}

/// Weights from none to half of all.
Tensor uneven(int64_t rows) {
  auto generator = batch_context.generator("weights");
  Tensor weight = uniform({rows}, torch::kFloat64, generator).pow(4);
  weight[0] = weight.sum();
  weight[1] = 0;
  weight[-1] = 0;
  return weight;
}

TEST(SystematicRows, CountsAreTheWeightsRoundedUpOrDown) {
  const Samples samples = numbered(100, uneven(100));
  for (const int64_t n : {1, 7, 100, 1000})
    for (const double offset : {0.0, 0.3, 0.999999999999999}) {
      const Tensor rows = systematic_rows(samples, n, offset);
      const Tensor expected = samples.weight * (n / 100.0);
      const Tensor difference = (counts(rows, 100) - expected).abs();
      EXPECT_EQ(rows.size(0), n);
      EXPECT_LT(difference.max().item<double>(), 1 + 1e-9);
      EXPECT_EQ(counts(rows, 100)[1].item<double>(), 0);
      EXPECT_EQ(counts(rows, 100)[99].item<double>(), 0);
    }
}

TEST(SystematicRows, AreUnbiasedOverTheOffset) {
  const Samples samples = numbered(20, uneven(20));
  Tensor total = torch::zeros({20}, torch::kFloat64);
  const int offsets = 1000;
  for (int i = 0; i < offsets; ++i)
    total += counts(systematic_rows(samples, 20, (i + 0.5) / offsets), 20);
  // A grid of offsets misses each row's exact share by at most two of its cells.
  EXPECT_LE((total / offsets - samples.weight).abs().max().item<double>(), 2.0 / offsets + 1e-9);
}

TEST(Batches, EqualWeightsGiveEveryRowOnceAnEpoch) {
  Batches batches(numbered(12), 4, batch_context.generator("batches"));
  Tensor previous;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Tensor rows =
        torch::cat({batches.next(), batches.next(), batches.next()}).squeeze(1).to(torch::kInt64);
    EXPECT_TRUE(torch::equal(std::get<0>(rows.sort()), torch::arange(12)));
    EXPECT_FALSE(previous.defined() && torch::equal(rows, previous));
    previous = rows;
  }
}

TEST(Batches, WeightedRowsAppearByWeight) {
  const Samples samples = numbered(60, uneven(60));
  Batches batches(samples, 20, batch_context.generator("batches"));
  for (int epoch = 0; epoch < 5; ++epoch) {
    const Tensor rows = torch::cat({batches.next_rows(), batches.next_rows(), batches.next_rows()});
    EXPECT_LT((counts(rows, 60) - samples.weight).abs().max().item<double>(), 1 + 1e-9);
    // Half of the weight is in row 0: it must not come in one block.
    EXPECT_GT((rows.slice(0, 0, 20) == 0).sum().item<int64_t>(), 0);
    EXPECT_LT((rows.slice(0, 0, 20) == 0).sum().item<int64_t>(), 20);
  }
}

TEST(Batches, ABatchMayBeLargerThanAnEpoch) {
  Batches batches(numbered(5), 12, batch_context.generator("batches"));
  const Tensor rows = torch::cat({batches.next_rows(), batches.next_rows(), batches.next_rows()});
  EXPECT_EQ(rows.size(0), 36);
  EXPECT_TRUE(
      torch::equal(counts(rows.slice(0, 0, 35), 5), torch::full({5}, 7.0, torch::kFloat64)));
}

TEST(Batches, ResumeExactly) {
  const Samples samples = numbered(50, uneven(50));
  for (const int before : {0, 1, 5, 7}) {
    Batches batches(samples, 10, batch_context.generator("batches"));
    for (int i = 0; i < before; ++i) batches.next();
    const NamedTensors state = batches.state();
    Batches other(samples, 10, batch_context.generator("another stream"));
    other.next();
    other.restore(state);
    for (int i = 0; i < 12; ++i) EXPECT_TRUE(torch::equal(batches.next(), other.next()));
  }
}

TEST(Batches, AForeignStateIsRefused) {
  Batches small(numbered(5), 2, batch_context.generator("batches"));
  Batches large(numbered(50), 2, batch_context.generator("batches"));
  large.next();
  EXPECT_THROW(small.restore(large.state()), Error);
  EXPECT_THROW(small.restore({}), Error);
}

}  // namespace
}  // namespace dre
