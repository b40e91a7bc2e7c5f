#include "dre/ratio/estimator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/fit.h"
#include "dre/base/error.h"
#include "dre/numeric/statistics.h"
#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

const Names names = {"a", "b"};

Samples draw(int64_t n, double shift, double bend, uint64_t seed) {
  auto generator = testing::double_context(seed).generator("rows");
  const Tensor z = normal({n, 2}, torch::kFloat64, generator);
  const Tensor a = z.select(1, 0), b = z.select(1, 1);
  return make_samples(torch::stack({a + shift, 0.8 * b + bend * (a.square() - 1)}, 1));
}

/// An estimator of the shift alone; members are for the tests to add.
Estimator shift_estimator(bool with_reference) {
  const Samples numerator = draw(400, 0.5, 0, 1), denominator = draw(400, 0, 0, 2);
  const Coordinates coordinates = Coordinates::fit(numerator, denominator, names, {});
  const Moments& m = coordinates.basis().moments();
  return Estimator(coordinates, {m.mean0, m.variance0, m.mean1, m.variance1}, with_reference,
                   testing::double_context());
}

void add(Estimator& estimator, const std::string& method, uint64_t seed, double weight,
         double correction = 0) {
  ScoreOptions small;
  small.width = 8;
  small.depth = 1;
  Member member = estimator.make_member(method, {}, small);
  testing::randomise(member.score->network().parameters(), seed);
  member.weight = weight;
  member.correction = correction;
  estimator.add(std::move(member));
}

bool close(const Tensor& a, const Tensor& b) { return torch::allclose(a, b, 0, 1e-9); }

TEST(Estimator, MembersAreDeviationsFromTheClosedForm) {
  const Tensor rows = draw(50, 0, 0, 3).x;
  const auto one = [&](const std::string& method, uint64_t seed, double weight, double correction) {
    Estimator estimator = shift_estimator(true);
    add(estimator, method, seed, weight, correction);
    return estimator.log_ratio(rows).log_ratio;
  };
  const Tensor closed = shift_estimator(true).log_ratio(rows).log_ratio;
  const Tensor first = one("nce", 1, 1, 0), second = one("which-time", 2, 1, 0);
  EXPECT_FALSE(close(first, second));
  EXPECT_TRUE(close(one("nce", 1, 0, 0), closed));
  EXPECT_TRUE(close(one("nce", 1, 0.25, 0), closed + 0.25 * (first - closed)));
  EXPECT_TRUE(close(one("nce", 1, 1, 0.3), first + 0.3));
  EXPECT_TRUE(close(one("nce", 1, 0.5, 0.3), closed + 0.5 * (first + 0.3 - closed)));

  Estimator both = shift_estimator(true);
  add(both, "nce", 1, 0.5);
  add(both, "which-time", 2, 0.5);
  const Estimate mean = both.log_ratio(rows);
  EXPECT_TRUE(close(mean.log_ratio, (first + second) / 2));
  EXPECT_TRUE(close(mean.spread, (first - second).abs() / 2));
}

TEST(Estimator, MembersWithoutWeightAreNotAsked) {
  Estimator estimator = shift_estimator(true);
  add(estimator, "nce", 1, 0);
  const Estimate found = estimator.log_ratio(draw(50, 0, 0, 3).x);
  EXPECT_EQ(found.evaluations, 0);
  EXPECT_EQ(found.status, Status::ok);
  EXPECT_EQ(found.error.abs().max().item<double>(), 0);
}

TEST(Estimator, ClosedFormIsTheSamplesOwnGaussianRatio) {
  const Samples numerator = draw(400, 0.5, 0, 1), denominator = draw(400, 0, 0, 2);
  const auto gaussian = [](const Samples& side) -> oracle::Gaussian {
    const Tensor centred = side.x - side.x.mean(0);
    return {side.x.mean(0), centred.t().matmul(centred) / static_cast<double>(side.rows())};
  };
  const oracle::GaussianOracle oracle(gaussian(numerator), gaussian(denominator));
  const Tensor rows = draw(50, 0, 0, 3).x;
  EXPECT_TRUE(close(shift_estimator(true).log_ratio(rows).log_ratio, oracle.log_ratio(rows)));
}

TEST(Estimator, RowsAreIndependentOfTheirCompany) {
  Estimator estimator = shift_estimator(true);
  add(estimator, "time", 1, 1);
  const Tensor few = draw(20, 0, 0, 3).x;
  const Tensor many = few.repeat({500, 1});  // more than fit into one piece
  const Estimate alone = estimator.log_ratio(few), together = estimator.log_ratio(many);
  ASSERT_EQ(together.log_ratio.size(0), 10000);
  EXPECT_TRUE(close(together.log_ratio, alone.log_ratio.repeat({500})));
  EXPECT_EQ(together.evaluations, alone.evaluations);
  EXPECT_EQ(estimator.log_ratio(few.slice(0, 0, 0)).log_ratio.size(0), 0);
}

TEST(Estimator, WrongColumnsAreRefused) {
  try {
    shift_estimator(true).log_ratio(torch::zeros({4, 3}, torch::kFloat64));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::usage);
    const std::string expected = "[n, 2], the columns that the model uses (";
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(Estimator, RowsThatAreNotFiniteAreTold) {
  const Estimator estimator = shift_estimator(true);
  Tensor rows = draw(3, 0, 0, 5).x.clone();
  EXPECT_EQ(estimator.log_ratio(rows).status, Status::ok);
  rows[1][0] = NAN;
  const Estimate estimate = estimator.log_ratio(rows);
  EXPECT_EQ(estimate.status, Status::non_finite);
  EXPECT_EQ(estimate.log_ratio.isnan().sum().item<int64_t>(), 1);
}

struct Mean {
  double value, standard_error;
};

Mean mean_of(const Tensor& values) { return {weighted_mean(values), standard_error(values)}; }

FitOptions quick(const std::string& method) {
  FitOptions options;
  options.method = method;
  options.device = "cpu";
  options.score.width = 32;
  options.score.depth = 2;
  options.train.steps = 80;
  options.train.batch = 128;
  options.train.warmup = 20;
  options.train.rate = 3e-3;
  return options;
}

/// E_den[r] = 1, E_num[1/r] = 1 and both KLs at least 0, for pairs that are near enough (KL below
/// 1) to test it on fresh rows. The tolerance beside 4 standard errors is what a quick fit may be
/// off.
void expect_identities(const std::string& method, double shift, double bend) {
  SCOPED_TRACE(text(method, ", shift ", shift, ", bend ", bend));
  Progress silent;
  const FitResult fitted =
      fit(draw(1500, shift, bend, 11), draw(1500, 0, 0, 12), names, quick(method), silent);
  const Tensor numerator = fitted.estimator.log_ratio(draw(3000, shift, bend, 13).x).log_ratio;
  const Tensor denominator = fitted.estimator.log_ratio(draw(3000, 0, 0, 14).x).log_ratio;
  const Mean ratio = mean_of(denominator.exp()), inverse = mean_of((-numerator).exp());
  EXPECT_NEAR(ratio.value, 1, 4 * ratio.standard_error + 0.05);
  EXPECT_NEAR(inverse.value, 1, 4 * inverse.standard_error + 0.05);
  const Mean forward = mean_of(numerator), backward = mean_of(-denominator);
  EXPECT_GT(forward.value, -4 * forward.standard_error);
  EXPECT_GT(backward.value, -4 * backward.standard_error);
  EXPECT_LT(forward.value, 1.2);
}

TEST(Estimator, FittedRatiosSatisfyTheIdentities) {
  for (const auto& method : method_names()) {
    expect_identities(method, 0.6, 0);
    expect_identities(method, 0.3, 0.3);
  }
}

/// Two equal sides: nothing to find, and nothing is found.
TEST(Estimator, EqualSidesHaveRatioOne) {
  Progress silent;
  const FitResult fitted =
      fit(draw(1500, 0, 0, 11), draw(1500, 0, 0, 12), names, quick("which-time"), silent);
  const Tensor log_ratio = fitted.estimator.log_ratio(draw(3000, 0, 0, 13).x).log_ratio;
  EXPECT_LT(log_ratio.abs().mean().item<double>(), 0.1);
}

}  // namespace
}  // namespace dre
