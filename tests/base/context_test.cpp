#include "dre/base/context.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"
#include "dre/base/names.h"

namespace dre {
namespace {

Tensor draws(const Context& context, const std::string& stream) {
  auto generator = context.generator(stream);
  return normal({64}, context.options(), generator);
}

TEST(Context, SeedAndNameDecideTheStream) {
  Context context{torch::kCPU, torch::kFloat64, 5};
  EXPECT_TRUE(torch::equal(draws(context, "batches"), draws(context, "batches")));
  EXPECT_FALSE(torch::equal(draws(context, "batches"), draws(context, "times")));
  EXPECT_FALSE(torch::equal(draws(context, "batches"), draws(context.child("fold"), "batches")));
  Context other = context;
  other.seed = 6;
  EXPECT_FALSE(torch::equal(draws(context, "batches"), draws(other, "batches")));
}

TEST(Context, LaterSeedsStaySeeds) {
  EXPECT_EQ(later_seed(3, 1000), 1003);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(later_seed(largest, 0), largest);
  EXPECT_EQ(later_seed(largest, 3), 2);
}

TEST(Context, UnknownDevicesAreRefused) {
  EXPECT_THROW(device_by_name("tpu"), Error);
  EXPECT_TRUE(device_by_name("cpu").is_cpu());
}

TEST(Names, UnknownNameListsTheKnownOnes) {
  const std::vector<Named<int>> table = {{"linear", 1}, {"vpsde", 2}};
  EXPECT_EQ(choose("bridge", table, "vpsde"), 2);
  try {
    choose("bridge", table, "vpsd");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown bridge 'vpsd'; known are linear, vpsde");
  }
}

}  // namespace
}  // namespace dre
