/// Properties that every layer must have, over a list of all of them.
#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/density/column_layers.h"
#include "dre/density/image_layers.h"
#include "tests/density/examples.h"
#include "tests/density/jacobian.h"

namespace dre {
namespace {

using namespace dre::testing;

struct LayerExample {
  std::string name;
  std::vector<int64_t> shape;  ///< of one row
  std::function<std::unique_ptr<Layer>(Parameters&, const Context&)> make;
};

const SplineCoupling::Options coupling{4, 5, 6, 3.0};

std::vector<LayerExample> layers() {
  return {
      {"AffineOfRows",
       {5},
       [](Parameters& p, const Context& c) { return std::make_unique<Affine>(p, "a", 5, 0, c); }},
      {"AffineOfImages",
       {3, 2, 2},
       [](Parameters& p, const Context& c) { return std::make_unique<Affine>(p, "a", 3, 0, c); }},
      {"SplineColumns",
       {5},
       [](Parameters& p, const Context& c) {
         return std::make_unique<SplineColumns>(p, "s", 5, 8, 3.0, c);
       }},
      {"DenseMatrix",
       {5},
       [](Parameters& p, const Context& c) { return std::make_unique<DenseMatrix>(p, "m", 5, c); }},
      {"ToImage", {6}, [](Parameters&, const Context&) { return std::make_unique<ToImage>(2, 3); }},
      {"Squeeze",
       {2, 4, 2},
       [](Parameters&, const Context&) { return std::make_unique<Squeeze>(); }},
      {"Unsqueeze",
       {4, 2, 1},
       [](Parameters&, const Context&) { return std::make_unique<Inverse<Squeeze>>(); }},
      {"ChannelMix",
       {4, 2, 3},
       [](Parameters& p, const Context& c) { return std::make_unique<ChannelMix>(p, "m", 4, c); }},
      {"SplineCoupling",
       {4, 2, 2},
       [](Parameters& p, const Context& c) {
         auto generator = c.generator("coupling");
         return std::make_unique<SplineCoupling>(p, "c", coupling, c, generator);
       }},
      {"Sequence",
       {5},
       [](Parameters& p, const Context& c) {
         auto sequence = std::make_unique<Sequence>();
         sequence->add(std::make_unique<Affine>(p, "a", 5, 0, c));
         sequence->add(std::make_unique<DenseMatrix>(p, "m", 5, c));
         return sequence;
       }},
  };
}

class EveryLayer : public ::testing::TestWithParam<LayerExample> {
 protected:
  EveryLayer() {
    layer = GetParam().make(parameters, example_context());
    const torch::NoGradGuard no_grad;
    auto generator = example_context().generator("weights");
    for (auto [name, leaf] : parameters.named())
      leaf += 0.4 * normal(leaf.sizes(), leaf.options(), generator);
  }

  Tensor points(int64_t n) const {
    auto generator = example_context().generator("points");
    std::vector<int64_t> shape = GetParam().shape;
    shape.insert(shape.begin(), n);
    return 1.5 * normal(shape, torch::kFloat64, generator);
  }

  Parameters parameters;
  std::unique_ptr<Layer> layer;
};

TEST_P(EveryLayer, InverseUndoesIt) {
  const Tensor x = points(30);
  const Moved there = layer->forward(x);
  const Moved back = layer->inverse(there.point);
  EXPECT_LT((back.point - x).abs().max().item<double>(), 1e-8);
  EXPECT_LT((back.log_determinant + there.log_determinant).abs().max().item<double>(), 1e-8);
}

TEST_P(EveryLayer, LogDeterminantIsThatOfTheJacobian) {
  const Tensor x = points(4);
  const Tensor found = layer->forward(x).log_determinant;
  ASSERT_EQ(found.sizes(), torch::IntArrayRef({4}));
  const auto map = [&](const Tensor& at) { return layer->forward(at).point; };
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_NEAR(found[i].item<double>(), jacobian_log_determinant(map, x.slice(0, i, i + 1)), 1e-8);
}

/// Rows of a batch do not see each other.
TEST_P(EveryLayer, RowsAreIndependent) {
  const Tensor x = points(6);
  const Moved all = layer->forward(x), two = layer->forward(x.slice(0, 2, 4));
  EXPECT_TRUE(torch::allclose(all.point.slice(0, 2, 4), two.point, 1e-12, 1e-12));
  EXPECT_TRUE(
      torch::allclose(all.log_determinant.slice(0, 2, 4), two.log_determinant, 1e-12, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Layers, EveryLayer, ::testing::ValuesIn(layers()),
                         [](const auto& info) { return info.param.name; });

TEST(Affine, StartsWithMeanZeroAndVarianceOne) {
  Parameters parameters;
  Affine layer(parameters, "a", 3, 0, example_context());
  auto generator = example_context().generator("points");
  const Tensor scales = torch::tensor({0.1, 1.0, 20.0}, torch::kFloat64).view({3, 1, 1});
  const Tensor x = scales * (normal({40, 3, 4, 4}, torch::kFloat64, generator) + 5);
  layer.initialise(x);
  const Tensor y = layer.forward(x).point.transpose(0, 1).flatten(1);
  EXPECT_LT(y.mean(1).abs().max().item<double>(), 1e-10);
  EXPECT_LT((y.std(1, false) - 1).abs().max().item<double>(), 1e-10);
}

TEST(Affine, StartsWithAllDataWithinItsReach) {
  Parameters parameters;
  Affine layer(parameters, "a", 3, 2.5, example_context());
  auto generator = example_context().generator("points");
  const Tensor x = normal({40, 3}, torch::kFloat64, generator).exp();
  layer.initialise(x);
  const Tensor y = layer.forward(x).point;
  EXPECT_TRUE(torch::allclose(y.amax(0), torch::full({3}, 2.5, torch::kFloat64), 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(y.amin(0), torch::full({3}, -2.5, torch::kFloat64), 1e-9, 1e-9));
}

/// The mean power of a standardised column; the third is 0 and the fourth 3 for a Gaussian.
double standardised_moment(const Tensor& x, int order) {
  const Tensor centred = x - x.mean();
  return (centred / centred.square().mean().sqrt()).pow(order).mean().item<double>();
}

/// Two clusters and a log-normal become nearly normal.
TEST(SplineColumns, StartsByMakingColumnsNormal) {
  Parameters parameters;
  SplineColumns layer(parameters, "s", 2, 64, 3.0, example_context());
  auto generator = example_context().generator("points");
  const Tensor side = uniform({5000}, torch::kFloat64, generator).sub(0.3).sign();
  const Tensor clusters = 1.5 * side + 0.2 * normal({5000}, torch::kFloat64, generator);
  const Tensor skewed = (0.5 * normal({5000}, torch::kFloat64, generator)).exp() - 2;
  const Tensor x = torch::stack({clusters, skewed}, 1);
  layer.initialise(x);
  const Tensor y = layer.forward(x).point;
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor from = x.select(1, i), to = y.select(1, i);
    const double excess = std::abs(standardised_moment(from, 4) - 3);
    EXPECT_GT(excess, 1);
    EXPECT_LT(std::abs(standardised_moment(to, 4) - 3), 0.4 * excess);
    EXPECT_LT(std::abs(standardised_moment(to, 3)), 0.3);
  }
}

/// Rows that are all but equal would ask for bins without width.
TEST(SplineColumns, StartsWithFiniteNumbersWhereRowsAreTied) {
  Parameters parameters;
  SplineColumns layer(parameters, "s", 1, 16, 3.0, example_context());
  Tensor x = torch::zeros({1000, 1}, torch::kFloat64);
  x.slice(0, 0, 5).fill_(2);
  layer.initialise(x);
  for (const auto& [name, leaf] : parameters.named())
    EXPECT_TRUE(leaf.isfinite().all().item<bool>()) << name;
}

TEST(DenseMatrix, StartsAsTheSymmetricWhitening) {
  Parameters parameters;
  DenseMatrix layer(parameters, "m", 4, example_context());
  auto generator = example_context().generator("points");
  const Tensor mix = normal({4, 4}, torch::kFloat64, generator);
  const Tensor x = normal({500, 4}, torch::kFloat64, generator).matmul(mix);
  layer.initialise(x);
  const Tensor y = layer.forward(x - x.mean(0)).point, identity = torch::eye(4, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(y.t().matmul(y) / 500, identity, 1e-8, 1e-8));
  const Tensor matrix = layer.forward(identity).point;
  EXPECT_TRUE(torch::allclose(matrix, matrix.t(), 1e-10, 1e-10));
}

TEST(SplineCoupling, StartsAsTheIdentityAndKeepsTheFirstHalf) {
  Parameters parameters;
  auto generator = example_context().generator("coupling");
  const SplineCoupling layer(parameters, "c", coupling, example_context(), generator);
  const Tensor x = normal({5, 4, 2, 2}, torch::kFloat64, generator);
  EXPECT_TRUE(torch::allclose(layer.forward(x).point, x, 1e-12, 1e-12));
  const torch::NoGradGuard no_grad;
  for (auto [name, leaf] : parameters.named()) leaf += 0.3;
  const Tensor y = layer.forward(x).point;
  EXPECT_TRUE(torch::equal(y.narrow(1, 0, 2), x.narrow(1, 0, 2)));
  EXPECT_GT((y - x).abs().max().item<double>(), 1e-3);
}

/// The paper's flow: 1.18 M parameters.
TEST(Flow, HasTheParametersOfThePaper) {
  const Flow flow("rq-nsf", {}, Context{});
  EXPECT_NEAR(static_cast<double>(flow.parameters().count()), 1.18e6, 0.005e6);
}

TEST(Flow, ImpossibleImagesAreRefused) {
  FlowOptions options;
  options.levels = 3;  // 28 cannot be halved three times
  EXPECT_THROW(Flow("rq-nsf", options, Context{}), Error);
  EXPECT_THROW(Flow("glow", {}, Context{}), Error);
}

/// Latent places are those of the data: a pixel moved in x moves z only around it.
TEST(Flow, LatentImagesKeepTheirPlaces) {
  FlowOptions options;
  options.steps = 1;
  options.channels = 4;
  const Flow flow("rq-nsf", options, example_context());
  Tensor x = torch::zeros({1, 784}, torch::kFloat64);
  x[0][14 * 28 + 4] = 1.0;  // row 14, column 4
  const Tensor z = flow.to_latent(x).point - flow.to_latent(torch::zeros_like(x)).point;
  const Tensor moved = z.view({28, 28}).abs().gt(1e-12).nonzero();
  ASSERT_GT(moved.size(0), 0);
  EXPECT_LT((moved - torch::tensor({14, 4})).abs().max().item<int64_t>(), 9);
}

}  // namespace
}  // namespace dre
