#include "dre/apps/support.h"

#include <gtest/gtest.h>

#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

/// Shares of rows with weights sum to 1 up to rounding only.
TEST(Support, NoMoreThanAllRowsAreOutside) {
  auto generator = stream("outside");
  for (int64_t n = 2; n < 200; ++n) {
    const Samples side =
        make_samples(rows(n, 1, 0, generator), rows(n, 1, 0, generator).squeeze(1).exp());
    const Tensor beyond = torch::full({n}, 1e3, torch::kFloat64);
    EXPECT_LE(share_outside(beyond, side, side, Encoding(Strings{"x0"})), 1);
  }
}

}  // namespace
}  // namespace dre::testing
