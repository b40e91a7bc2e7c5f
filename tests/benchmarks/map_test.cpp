#include "benchmarks/pairs/map.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>

#include "benchmarks/pairs/combine.h"
#include "benchmarks/pairs/parameters.h"
#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre::pairs {
namespace {

struct MapExample {
  std::string name;
  MapPtr map;
};

std::vector<MapExample> map_examples() {
  return {{"identity", identity(3)},
          {"exponential", exponential(3)},
          {"wave", wave(4, 1, 0.8, 1.5)},
          {"waves", waves(6, 4, 1, 1)},
          {"additive", additive()},
          {"spiral", spiral(4, {1, 3}, 0.3)},
          {"swiss roll", swiss_roll()},
          {"beside", beside({spiral(3, {0, 1}, 0.4), swiss_roll(), exponential(2)})},
          {"composed", composed({exponential(2), wave(2, 0, 1, 2), exponential(2)})}};
}

Tensor points(const Map& map, int64_t n) {
  auto generator = Context{}.generator("points");
  return normal({n, map.inputs()}, torch::kFloat64, generator);
}

/// log sqrt(det J'J) from the Jacobian that autograd gives. z: [n, k] -> [n]
Tensor log_volume_by_autograd(const Map& map, const Tensor& points) {
  const Tensor z = points.clone().set_requires_grad(true);
  const Tensor x = map.forward(z);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < map.outputs(); ++i)
    rows.push_back(torch::autograd::grad({x.select(1, i).sum()}, {z}, {}, /*retain_graph=*/true,
                                         /*create_graph=*/false, /*allow_unused=*/true)[0]);
  const Tensor jacobian = torch::stack(rows, 1);
  return 0.5 * at::logdet(jacobian.transpose(1, 2).matmul(jacobian));
}

TEST(Map, InverseUndoesForward) {
  for (const auto& [name, map] : map_examples()) {
    const Tensor z = points(*map, 50);
    const Tensor x = map->forward(z);
    EXPECT_EQ(x.sizes(), (torch::IntArrayRef{50, map->outputs()})) << name;
    EXPECT_TRUE(torch::allclose(map->inverse(x), z, 1e-9, 1e-9)) << name;
  }
}

TEST(Map, LogVolumeIsThatOfTheJacobian) {
  for (const auto& [name, map] : map_examples()) {
    if (name == "identity") continue;
    const Tensor z = points(*map, 50);
    EXPECT_TRUE(torch::allclose(map->log_volume(z), log_volume_by_autograd(*map, z), 1e-9, 1e-9))
        << name;
  }
}

TEST(Map, PushforwardFollowsTheChangeOfVariables) {
  for (const auto& [name, map] : map_examples()) {
    if (name == "identity") continue;
    const int64_t k = map->inputs();
    const DensityPtr base = gaussian(constant(k, 0.1), autoregressive(k, 0.4));
    const Tensor z = points(*map, 50);
    const Tensor expected = base->log_prob(z) - log_volume_by_autograd(*map, z);
    EXPECT_TRUE(
        torch::allclose(pushforward(base, map)->log_prob(map->forward(z)), expected, 1e-8, 1e-8))
        << name;
  }
}

TEST(Map, WavesAndSpiralsBendWhatTheyTouch) {
  for (const MapPtr& map : {waves(4, 2, 1, 1), spiral(4, {0, 1}, 0.3)}) {
    const Tensor z = points(*map, 20);
    EXPECT_GT((map->forward(2 * z) - 2 * map->forward(z)).abs().max().item<double>(), 0.1);
  }
}

TEST(Map, RefusesWhatDoesNotFit) {
  EXPECT_THROW(wave(3, 0, 1, 1), Error);
  EXPECT_THROW(spiral(3, {1, 1}, 1), Error);
  EXPECT_THROW(composed({swiss_roll(), swiss_roll()}), Error);
  EXPECT_THROW(pushforward(gaussian(constant(2, 0), identity_matrix(2)), exponential(3)), Error);
}

}  // namespace
}  // namespace dre::pairs
