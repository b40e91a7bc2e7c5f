#include "dre/data/atoms.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"

namespace dre {
namespace {

TEST(Atoms, ColumnsWithADensityStayAsTheyAre) {
  auto generator = Context{}.generator("test");
  const Samples a = make_samples(normal({500, 2}, torch::kFloat64, generator));
  const AtomNoise noise = AtomNoise::fit(a, a);  // equal sides are no ties
  EXPECT_FALSE(noise.any());
  EXPECT_TRUE(noise.add(a, generator).x.is_same(a.x));
}

TEST(Atoms, NoiseIsAFifthOfTheDistanceToTheNearestAtom) {
  auto generator = Context{}.generator("test");
  // Atoms 0, 1 and 5, beside a column that has a density.
  const Tensor codes = at::randint(0, 3, {3000}, generator, torch::kFloat64);
  const Tensor atoms = at::where(codes == 2, torch::full_like(codes, 5), codes);
  const Tensor x = torch::stack({atoms, normal({3000}, torch::kFloat64, generator)}, 1);
  const Samples side = make_samples(x);
  const AtomNoise noise = AtomNoise::fit(side, side);
  ASSERT_TRUE(noise.any());
  const Tensor moved = noise.add(side, generator).x;
  EXPECT_TRUE(moved.select(1, 1).equal(x.select(1, 1)));
  const Tensor off = moved.select(1, 0) - atoms;
  for (const auto& [atom, width] :
       std::vector<std::pair<double, double>>{{0, 0.2}, {1, 0.2}, {5, 0.8}}) {
    const Tensor part = off.masked_select(atoms == atom);
    const double rows = static_cast<double>(part.size(0));
    EXPECT_NEAR(part.std().item<double>(), width, 5 * width / std::sqrt(2 * rows)) << atom;
    EXPECT_NEAR(part.mean().item<double>(), 0, 5 * width / std::sqrt(rows)) << atom;
  }
}

}  // namespace
}  // namespace dre
