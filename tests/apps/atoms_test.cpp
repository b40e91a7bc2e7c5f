/// Columns without a density: at atoms the ratio is the ratio of two probabilities.
#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/fit.h"

namespace dre {
namespace {

/// Rows of atoms with these probabilities, and normal numbers beside them.
Tensor rows(int64_t n, const std::vector<double>& probabilities, double shift,
            at::Generator& generator) {
  const Tensor p = torch::tensor(probabilities, torch::kFloat64);
  const Tensor level = at::multinomial(p, n, /*replacement=*/true, generator);
  Tensor x = normal({n, static_cast<int64_t>(probabilities.size())}, torch::kFloat64, generator);
  x.add_(shift);
  // One level has no indicator; the last column is the number.
  for (int64_t k = 1; k < p.size(0); ++k) x.select(1, k - 1).copy_(level == k);
  return x;
}

class Atoms : public ::testing::TestWithParam<const char*> {};

TEST_P(Atoms, LogRatiosAreThoseOfTheCounts) {
  auto generator = Context{}.generator("atoms");
  const std::vector<double> top = {0.6, 0.25, 0.15}, bottom = {0.3, 0.3, 0.4};
  const int64_t n = 12000;
  const double shift = 0.5;
  FitOptions options;
  options.method = GetParam();
  options.train.steps = 1000;
  options.train.rate = 3e-3;
  options.score.width = 64;
  options.train.batch = 256;
  Progress silent;
  const Tensor x0 = rows(n, top, shift, generator), x1 = rows(n, bottom, 0, generator);
  const FitResult result =
      fit(make_samples(x0), make_samples(x1), {"c = b", "c = c", "x"}, options, silent);
  double worst = 0;
  for (size_t level = 0; level < top.size(); ++level)
    for (const double x : {-0.5, 0.25, 1.0}) {
      const Tensor row =
          torch::tensor({{level == 1 ? 1.0 : 0.0, level == 2 ? 1.0 : 0.0, x}}, torch::kFloat64);
      const double exact = std::log(top[level] / bottom[level]) + shift * x - shift * shift / 2;
      const double found = result.estimator.log_ratio(row).log_ratio.item<double>();
      worst = std::max(worst, std::abs(found - exact));
    }
  EXPECT_LT(worst, 0.2);  // the Gaussian reference alone is 0.34 off
}

INSTANTIATE_TEST_SUITE_P(Methods, Atoms, ::testing::Values("which-time", "tre"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dre
