/// Properties that every density must have, over a list of all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "dre/base/error.h"
#include "dre/density/density_file.h"
#include "tests/density/examples.h"
#include "tests/density/jacobian.h"

namespace dre {
namespace {

using namespace dre::testing;

class EveryDensity : public ::testing::TestWithParam<Example> {};

Tensor points(const Density& density, int64_t n) {
  auto generator = example_context().generator("points");
  return normal({n, density.dimension()}, torch::kFloat64, generator);
}

TEST_P(EveryDensity, MapsAreInverse) {
  const DensityPtr density = GetParam().make();
  const Tensor x = 2 * points(*density, 50);
  const Moved latent = density->to_latent(x);
  const Moved back = density->from_latent(latent.point);
  EXPECT_LT((back.point - x).abs().max().item<double>(), 1e-8);
  EXPECT_LT((back.log_determinant + latent.log_determinant).abs().max().item<double>(), 1e-7);
  EXPECT_EQ(latent.log_determinant.sizes(), torch::IntArrayRef({50}));
}

TEST_P(EveryDensity, LogDeterminantIsThatOfTheJacobian) {
  const DensityPtr density = GetParam().make();
  const Tensor x = points(*density, 3);
  const Tensor determinants = density->to_latent(x).log_determinant;
  const Tensor inverse = density->from_latent(x).log_determinant;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const Tensor row = x.slice(0, i, i + 1);
    const auto forward = [&](const Tensor& at) { return density->to_latent(at).point; };
    const auto backward = [&](const Tensor& at) { return density->from_latent(at).point; };
    EXPECT_NEAR(determinants[i].item<double>(), jacobian_log_determinant(forward, row), 1e-8);
    EXPECT_NEAR(inverse[i].item<double>(), jacobian_log_determinant(backward, row), 1e-8);
  }
}

TEST_P(EveryDensity, SurvivesAFile) {
  const DensityPtr density = GetParam().make();
  const std::string path =
      (std::filesystem::temp_directory_path() / text("dre-density-", ::getpid())).string();
  save_density(path, *density, {{"note", 7}});
  const DensityFile file = load_density(path, example_context());
  std::filesystem::remove(path);
  EXPECT_EQ(file.record.at("note"), 7);
  EXPECT_EQ(file.density->name(), density->name());
  const Tensor x = points(*density, 10);
  EXPECT_TRUE(torch::equal(file.density->log_prob(x), density->log_prob(x)));
}

TEST_P(EveryDensity, WrongShapesAreRefused) {
  const DensityPtr density = GetParam().make();
  const Tensor wrong = torch::zeros({3, density->dimension() + 1}, torch::kFloat64);
  EXPECT_THROW(density->to_latent(wrong), Error);
  EXPECT_THROW(density->from_latent(wrong[0]), Error);
  auto generator = example_context().generator("samples");
  EXPECT_THROW(density->sample(0, generator), Error);
}

INSTANTIATE_TEST_SUITE_P(Densities, EveryDensity, ::testing::ValuesIn(examples()),
                         [](const auto& info) { return info.param.name; });

class SmallDensity : public EveryDensity {};

/// Over a square (or interval) that holds all the mass, by the trapezoidal rule.
TEST_P(SmallDensity, IntegratesToOne) {
  const DensityPtr density = GetParam().make();
  const int64_t d = density->dimension();
  const torch::NoGradGuard no_grad;
  const int64_t n = d == 1 ? 40001 : 1201;
  const double half = 30;
  const Tensor axis = torch::linspace(-half, half, n, torch::kFloat64);
  const double cell = std::pow(2 * half / static_cast<double>(n - 1), static_cast<double>(d));
  double total = 0;
  for (const auto& part : axis.split(d == 1 ? n : 100)) {
    const Tensor grid = d == 1 ? part.unsqueeze(1) : torch::cartesian_prod({part, axis});
    total += density->log_prob(grid).exp().sum().item<double>() * cell;
  }
  EXPECT_NEAR(total, 1, 1e-3);
}

/// E_p[h/p] = 1 for a narrow normal h in the middle of p.
TEST_P(SmallDensity, SamplesFollowTheDensity) {
  const DensityPtr density = GetParam().make();
  const int64_t d = density->dimension(), n = 50000;
  auto generator = example_context().generator("samples");
  const Tensor x = density->sample(n, generator);
  ASSERT_EQ(x.sizes(), torch::IntArrayRef({n, d}));
  const double width = 0.3;
  const Tensor middle = density->from_latent(torch::zeros({1, d}, torch::kFloat64)).point;
  const Tensor log_h = standard_normal_log_prob((x - middle) / width) - d * std::log(width);
  const Tensor weight = (log_h - density->log_prob(x)).exp();
  const double error = weight.std().item<double>() / std::sqrt(static_cast<double>(n));
  EXPECT_LT(error, 0.1);
  EXPECT_NEAR(weight.mean().item<double>(), 1, 4 * error);
}

std::vector<Example> small_examples() {
  std::vector<Example> small;
  for (const auto& example : examples())
    if (example.make()->dimension() <= 2) small.push_back(example);
  return small;
}

INSTANTIATE_TEST_SUITE_P(Densities, SmallDensity, ::testing::ValuesIn(small_examples()),
                         [](const auto& info) { return info.param.name; });

TEST(DensityFile, EveryNameHasAnExample) {
  for (const auto& name : density_names()) {
    const auto all = examples();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Example& e) {
      return e.make()->name() == name;
    })) << name;
  }
}

}  // namespace
}  // namespace dre
