#include "dre/apps/fit.h"

#include <gtest/gtest.h>

#include "tests/apps/numeric_sides.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

TEST(Fit, FewRowsAreRefusedOnlyByMethodsThatAskForMoreByName) {
  auto generator = stream("few rows");
  const Sides sides = numeric_sides(rows(20, 2, 1, generator), rows(20, 2, 0, generator));
  FitOptions options;
  options.train.steps = 2;
  Progress silent;
  const auto fitted = [&](const std::string& method) {
    options.method = method;
    return fit(sides.numerator, sides.denominator, sides.names, options, silent);
  };
  for (const auto& method : fit_method_names()) {
    if (method.starts_with("which-time"))
      expect_contains(message_of([&] { fitted(method); }, Error::Kind::data),
                      {method, "needs 11 held-out rows, but only 4", "--method"});
    else
      EXPECT_EQ(fitted(method).members.size(), 1) << method;
  }
}

}  // namespace
}  // namespace dre::testing
