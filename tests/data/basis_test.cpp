#include "dre/data/basis.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

const Context context{torch::kCPU, torch::kFloat64, 21};

struct Sides {
  Samples numerator, denominator;
};

/// Two correlated samples of different mean and covariance, in units that differ by 1e6.
Sides sides(int64_t d, int64_t rows = 400) {
  auto g = context.generator(std::to_string(d));
  const Tensor mix0 = normal({d, d}, torch::kFloat64, g), mix1 = normal({d, d}, torch::kFloat64, g);
  const Tensor units = torch::logspace(-3, 3, d, 10, torch::kFloat64);
  const Tensor x0 = normal({rows, d}, torch::kFloat64, g).mm(mix0) + 1;
  const Tensor x1 = normal({2 * rows, d}, torch::kFloat64, g).mm(mix1) - 0.5;
  const Tensor weight = uniform({2 * rows}, torch::kFloat64, g) + 0.2;
  return {make_samples(x0 * units), make_samples(x1 * units, weight)};
}

Tensor mean_of(const Tensor& x, const Tensor& w) { return (x * w.unsqueeze(1)).sum(0) / w.sum(); }

Tensor covariance_of(const Tensor& x, const Tensor& w) {
  const Tensor rest = x - mean_of(x, w);
  return (rest * w.unsqueeze(1)).t().mm(rest) / w.sum();
}

/// log N(x; m, V) without its constant.
Tensor log_normal(const Tensor& x, const Tensor& mean, const Tensor& covariance) {
  const Tensor rest = x - mean;
  const Tensor solved = at::linalg_solve(covariance, rest.t()).t();
  return -0.5 * ((rest * solved).sum(1) + std::get<1>(at::linalg_slogdet(covariance)));
}

double largest(const Tensor& x) { return x.abs().max().item<double>(); }

TEST(Basis, GivesThePromisedMoments) {
  for (const int64_t d : {1, 2, 7, 30}) {
    const auto [top, bottom] = sides(d);
    const Basis basis = Basis::fit(top, bottom);
    const Moments& m = basis.moments();
    const Tensor z0 = basis.forward(top.x), z1 = basis.forward(bottom.x);
    EXPECT_EQ(basis.coordinates(), d);
    EXPECT_LT(largest(covariance_of(z0, top.weights()) - m.variance0.diag()), 1e-10);
    EXPECT_LT(largest(covariance_of(z1, bottom.weights()) - m.variance1.diag()), 1e-10);
    EXPECT_LT(largest(m.variance0 + m.variance1 - 2), 1e-10);
    EXPECT_LT(largest(mean_of(z0, top.weights()) - m.mean0), 1e-10);
    EXPECT_LT(largest(mean_of(z1, bottom.weights()) - m.mean1), 1e-10);
    EXPECT_LT(largest(m.mean0 + m.mean1), 1e-12);
  }
}

TEST(Basis, GoesThereAndBack) {
  const auto [top, bottom] = sides(7);
  const Basis basis = Basis::fit(top, bottom);
  const Tensor scale = top.x.abs().amax(0);
  EXPECT_LT(largest((basis.inverse(basis.forward(top.x)) - top.x) / scale), 1e-10);
  EXPECT_EQ(basis.forward(top.x, torch::kFloat32).scalar_type(), torch::kFloat32);
}

TEST(Basis, LeavesTheGaussianLogRatioAlone) {
  for (const int64_t d : {1, 3, 12}) {
    const auto [top, bottom] = sides(d);
    const Basis basis = Basis::fit(top, bottom);
    const Moments& m = basis.moments();
    const Tensor w0 = top.weights(), w1 = bottom.weights();
    // The oracle works in columns of equal units: its own solves would lose the small ones.
    const Tensor units = torch::logspace(-3, 3, d, 10, torch::kFloat64);
    const Tensor x0 = top.x / units, x1 = bottom.x / units;
    const Tensor raw = log_normal(x0, mean_of(x0, w0), covariance_of(x0, w0)) -
                       log_normal(x0, mean_of(x1, w1), covariance_of(x1, w1));
    const Tensor z = basis.forward(top.x);
    const Tensor diagonal =
        log_normal(z, m.mean0, m.variance0.diag()) - log_normal(z, m.mean1, m.variance1.diag());
    EXPECT_LT(largest((raw - diagonal) / (1 + raw.abs())), 1e-8) << d;
  }
}

TEST(Basis, AWeightOfKIsTheRowKTimes) {
  const auto [top, bottom] = sides(4);
  const Tensor k = torch::arange(top.rows()) % 3;
  const Basis first = Basis::fit(make_samples(top.x, k.to(torch::kFloat64)), bottom);
  const Basis second = Basis::fit(make_samples(top.x.repeat_interleave(k, 0)), bottom);
  EXPECT_LT(largest(first.moments().variance0 - second.moments().variance0), 1e-9);
  EXPECT_LT(largest(first.moments().mean0.abs() - second.moments().mean0.abs()), 1e-9);
}

/// Adds the columns a + b, a copy of a, and all levels of a one-hot group.
Tensor redundant(const Tensor& x) {
  const Tensor level = at::special_ndtr(x.select(1, 0) / 3).mul(3).floor().clamp(0, 2);
  std::vector<Tensor> columns = {x, (x.select(1, 0) + x.select(1, 1)).unsqueeze(1),
                                 x.select(1, 0).unsqueeze(1) * 1000};
  for (int i = 0; i < 3; ++i) columns.push_back((level == i).to(torch::kFloat64).unsqueeze(1));
  return torch::cat(columns, 1);
}

TEST(Basis, DropsFlatDirections) {
  auto g = context.generator("flat");
  const Samples top = make_samples(redundant(normal({500, 3}, torch::kFloat64, g) * 2 + 1));
  const Samples bottom = make_samples(redundant(normal({500, 3}, torch::kFloat64, g)));
  const Basis basis = Basis::fit(top, bottom);
  EXPECT_EQ(basis.columns(), 8);
  EXPECT_EQ(basis.coordinates(), 5);  // three numbers and two levels
  const Tensor z = basis.forward(bottom.x);
  EXPECT_LT(largest(covariance_of(z, bottom.weights()) - basis.moments().variance1.diag()), 1e-9);
  // Nothing of the data lies in the dropped directions.
  EXPECT_LT(largest((basis.inverse(z) - bottom.x) / bottom.x.abs().amax(0)), 1e-9);
}

std::string basis_message(const Samples& top, const Samples& bottom) {
  try {
    Basis::fit(top, bottom, {"a", "b", "c"});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data);
    return error.what();
  }
  return "";
}

TEST(Basis, SidesInParallelPlanesAreNamed) {
  auto g = context.generator("planes");
  Tensor x0 = normal({50, 3}, torch::kFloat64, g), x1 = normal({50, 3}, torch::kFloat64, g);
  x0.select(1, 1).fill_(2020);
  x1.select(1, 1).fill_(2021);
  const std::string message = basis_message(make_samples(x0), make_samples(x1));
  EXPECT_NE(message.find("neither varies: b;"), std::string::npos) << message;
  // The same value on both sides is only dropped.
  x1.select(1, 1).fill_(2020);
  EXPECT_EQ(Basis::fit(make_samples(x0), make_samples(x1)).coordinates(), 2);
}

TEST(Basis, TooFewRowsForTheColumns) {
  auto g = context.generator("few");
  const auto rows = [&](int64_t n) { return make_samples(normal({n, 9}, torch::kFloat64, g)); };
  EXPECT_NO_THROW(Basis::fit(rows(20), rows(20)));
  const std::string message = basis_message(rows(19), rows(20));
  EXPECT_NE(
      message.find("9 columns need at least 20 rows a side to learn from, the numerator leaves 19"),
      std::string::npos)
      << message;
  // Many rows, but almost all of the weight on a few.
  Tensor weight = torch::full({500}, 1e-6);
  weight.slice(0, 0, 15).fill_(1);
  const Samples thin = make_samples(normal({500, 9}, torch::kFloat64, g), weight);
  EXPECT_NE(basis_message(rows(20), thin).find("denominator leaves 500 worth 15 after weighting"),
            std::string::npos);
}

TEST(Basis, SurvivesAFile) {
  const auto [top, bottom] = sides(5);
  const Basis basis = Basis::fit(top, bottom);
  const Basis loaded = Basis::load(basis.tensors());
  EXPECT_TRUE(torch::equal(loaded.forward(top.x), basis.forward(top.x)));
  EXPECT_TRUE(torch::equal(loaded.inverse(top.x), basis.inverse(top.x)));
  EXPECT_TRUE(torch::equal(loaded.moments().variance1, basis.moments().variance1));
  NamedTensors damaged = basis.tensors();
  damaged[2].second = damaged[2].second.slice(0, 1);
  EXPECT_THROW(Basis::load(damaged), Error);
  EXPECT_THROW(Basis::load({}), Error);
}

}  // namespace
}  // namespace dre
