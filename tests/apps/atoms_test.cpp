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

/// Columns of three levels as indicators of two each.
Tensor indicators(const std::vector<Tensor>& levels) {
  std::vector<Tensor> columns;
  for (const Tensor& level : levels)
    for (int64_t k = 1; k < 3; ++k) columns.push_back((level == k).to(torch::kFloat64));
  return torch::stack(columns, 1);
}

/// Three columns of three levels: pairs are independent, and the levels
/// sum up to a multiple of 3 with probability `even`, which is 1/3 if all three are independent.
Tensor three_way(int64_t n, double even, at::Generator& generator) {
  const Tensor rest = torch::tensor({even, (1 - even) / 2, (1 - even) / 2}, torch::kFloat64);
  const Tensor sum = at::multinomial(rest, n, /*replacement=*/true, generator);
  const auto any = [&] { return at::randint(3, {n}, generator, torch::kInt64); };
  const Tensor first = any(), second = any(), third = (sum + 6 - first - second) % 3;
  return indicators({first, second, third});
}

double learned_weight(const FitResult& result) {
  double sum = 0;
  for (const auto& member : result.estimator.members()) sum += member.weight;
  return sum;
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
  for (size_t level = 0; level < top.size(); ++level)
    for (const double x : {-0.5, 0.25, 1.0}) {
      const Tensor row =
          torch::tensor({{level == 1 ? 1.0 : 0.0, level == 2 ? 1.0 : 0.0, x}}, torch::kFloat64);
      const double exact = std::log(top[level] / bottom[level]) + shift * x - shift * shift / 2;
      const double found = result.estimator.log_ratio(row).log_ratio.item<double>();
      // The Gaussian reference alone is 0.34 off.
      EXPECT_NEAR(found, exact, 0.2) << "level " << level << ", x = " << x;
    }
}

double reference_error(const Tensor& x0, const Tensor& x1, const Tensor& fresh,
                       const Tensor& exact) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < x0.size(1); ++i) names.push_back("c" + std::to_string(i));
  FitOptions options;
  options.method = "nce";
  options.train.steps = 0;
  Progress silent;
  const FitResult result = fit(make_samples(x0), make_samples(x1), names, options, silent);
  return (result.estimator.log_ratio(fresh).log_ratio - exact).square().mean().item<double>();
}

/// Log-ratios of two Poisson counts are linear, whatever their variances.
TEST(AtomReference, CountsAreNotJudgedByTheirVariances) {
  auto generator = Context{}.generator("counts");
  const auto counts = [&](double mean) {
    return at::poisson(torch::full({2000, 1}, mean, torch::kFloat64), generator);
  };
  const Tensor x0 = counts(2), x1 = counts(2.5), fresh = counts(2.25);
  const Tensor exact = fresh.select(1, 0) * std::log(2 / 2.5) + 0.5;
  EXPECT_LT(reference_error(x0, x1, fresh, exact), 0.01);  // by the variances 0.04
}

/// Two columns of three levels that are alike more often in the numerator: their means say nothing.
TEST(AtomReference, DependenceIsSeenInTheVariances) {
  auto generator = Context{}.generator("pairs");
  const double same = 0.55;
  const auto pairs = [&](int64_t n, double share) {
    const Tensor first = at::randint(3, {n}, generator, torch::kInt64);
    const Tensor p = torch::tensor({share, (1 - share) / 2, (1 - share) / 2}, torch::kFloat64);
    const Tensor second = (first + at::multinomial(p, n, /*replacement=*/true, generator)) % 3;
    return indicators({first, second});
  };
  const Tensor x0 = pairs(2000, same), x1 = pairs(2000, 1.0 / 3), fresh = pairs(2000, 1.0 / 3);
  const Tensor alike = (fresh.narrow(1, 0, 2) == fresh.narrow(1, 2, 2)).all(1);
  const Tensor exact = torch::where(alike, torch::full({2000}, 3 * same, torch::kFloat64),
                                    torch::full({2000}, 1.5 * (1 - same), torch::kFloat64))
                           .log();
  EXPECT_LT(reference_error(x0, x1, fresh, exact), 0.3 * exact.square().mean().item<double>());
}

/// Log r of three_way rows that agree with probability `even` against those that do by chance.
Tensor three_way_log_ratio(const Tensor& rows, double even) {
  const Tensor level = rows.matmul(torch::tensor({1, 2, 1, 2, 1, 2}, torch::kFloat64));
  return torch::where(level.remainder(3) == 0, torch::full_like(level, 3 * even),
                      torch::full_like(level, 1.5 * (1 - even)))
      .log();
}

double mean_square(const Tensor& x) { return x.square().mean().item<double>(); }

FitOptions short_fit() {
  FitOptions options;
  options.train.steps = 400;
  options.train.evaluate_every = 20;
  options.train.rate = 3e-3;
  options.score.width = 64;
  return options;
}

/// Rows that repeat need no network: their counts are part of the reference.
TEST(AtomCounts, FindWhatNoPairOfColumnsShows) {
  auto generator = Context{}.generator("counts of three ways");
  const double even = 0.6;
  FitOptions options = short_fit();
  options.train.steps = 20;
  Progress silent;
  const auto fitted = [&](double share) {
    const Tensor x0 = three_way(1500, share, generator), x1 = three_way(1500, 1.0 / 3, generator);
    return fit(make_samples(x0), make_samples(x1), {"a1", "a2", "b1", "b2", "c1", "c2"}, options,
               silent);
  };
  const FitResult found = fitted(even);
  EXPECT_EQ(found.estimator.cells.size(), 27);
  const Tensor fresh = three_way(4000, 1.0 / 3, generator);
  const Tensor exact = three_way_log_ratio(fresh, even);
  // 27 counts of 44 rows a side: 2 / 44 of variance each, a sixth of what there is to find.
  EXPECT_LT(mean_square(found.estimator.log_ratio(fresh).log_ratio - exact),
            0.3 * mean_square(exact));
  EXPECT_EQ(fitted(1.0 / 3).estimator.cells.size(), 0);
  options.reference = "none";
  EXPECT_EQ(fitted(even).estimator.cells.size(), 0);
}

/// Of few rows no network is surely better than the reference along the bridge; what held-out rows
/// are sure of is used all the same, and nothing where there is nothing to learn. With a number
/// beside the categories no row repeats.
TEST(AtomShares, AreWhatHeldOutRowsAreSureOf) {
  auto generator = Context{}.generator("three ways");
  const double even = 0.75;
  const FitOptions options = short_fit();
  Progress silent;
  const auto with_number = [&](int64_t n, double share) {
    return torch::cat({three_way(n, share, generator), normal({n, 1}, torch::kFloat64, generator)},
                      1);
  };
  const auto fitted = [&](double share) {
    const Tensor x0 = with_number(1000, share), x1 = with_number(1000, 1.0 / 3);
    return fit(make_samples(x0), make_samples(x1), {"a1", "a2", "b1", "b2", "c1", "c2", "x"},
               options, silent);
  };
  const FitResult found = fitted(even);
  EXPECT_TRUE(found.estimator.cells.empty());
  EXPECT_GT(learned_weight(found), 0.1);
  const Tensor fresh = with_number(4000, 1.0 / 3);
  const Tensor exact = three_way_log_ratio(fresh.narrow(1, 0, 6), even);
  EXPECT_LT(mean_square(found.estimator.log_ratio(fresh).log_ratio - exact),
            0.85 * mean_square(exact));
  EXPECT_LT(learned_weight(fitted(1.0 / 3)), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Methods, Atoms, ::testing::Values("which-time", "tre"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dre
