#include "dre/train/captured_step.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"

namespace dre {
namespace {

/// Adds uniform draws to a sum, as often as it is run.
Tensor sum_of_draws(const Context& context, bool record, int runs) {
  auto generator = context.device_generator("draws");
  Tensor sum = torch::zeros({4}, context.options());
  CapturedStep step([&] { sum.add_(uniform({4}, context.options(), generator)); }, context.device,
                    {generator}, record);
  for (int i = 0; i < runs; ++i) step.run();
  EXPECT_EQ(step.recorded(), record && context.device.is_cuda() && runs > 3);
  return sum.cpu();
}

TEST(CapturedStep, DoesTheWorkAsOftenAsAsked) {
  const Context context;
  EXPECT_TRUE(torch::equal(sum_of_draws(context, true, 7), sum_of_draws(context, false, 7)));
}

TEST(CapturedStep, ReplaysDrawTheSameNumbersAsTheWorkItself) {
  if (!torch::hasCUDA()) GTEST_SKIP() << "no CUDA here";
  const Context context{torch::Device(torch::kCUDA, 0), torch::kFloat32, 3};
  EXPECT_TRUE(torch::equal(sum_of_draws(context, true, 9), sum_of_draws(context, false, 9)));
}

}  // namespace
}  // namespace dre
