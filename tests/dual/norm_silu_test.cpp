#include "dre/dual/norm_silu.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/dual/layers.h"
#include "tests/dual/jvp.h"

namespace dre {
namespace {

using testing::difference;
using testing::Tensors;

/// Everything that goes in, in float64 on the host.
struct Inputs {
  Dual x, shift;
  Tensor weight, bias;
};

Inputs draw(int64_t rows, int64_t channels, int64_t side) {
  auto generator = Context{torch::kCPU, torch::kFloat64, 5}.generator("norm_silu");
  const auto random = [&](torch::IntArrayRef shape) {
    return normal(shape, torch::kFloat64, generator);
  };
  const std::vector<int64_t> image = {rows, channels, side, side}, row = {rows, channels};
  return {{random(image) + 0.5, random(image)},
          {random(row), random(row)},
          1 + 0.3 * random({channels}),
          0.3 * random({channels})};
}

struct Outputs {
  Dual y;
  Tensors gradients;  ///< of x, its tangent, shift, its tangent, weight, bias
};

Outputs differentiate(const Inputs& in, const torch::TensorOptions& options, bool x_moves,
                      bool shift_moves) {
  const auto leaf = [&](const Tensor& a) { return a.to(options).detach().requires_grad_(); };
  Tensors leaves = {leaf(in.x.value),       leaf(in.x.tangent), leaf(in.shift.value),
                    leaf(in.shift.tangent), leaf(in.weight),    leaf(in.bias)};
  // Parameters stay in float32 where images are bfloat16, as in training.
  if (options.dtype() == torch::kBFloat16)
    for (int i = 2; i < 6; ++i) leaves[i] = leaves[i].detach().to(torch::kFloat32).requires_grad_();
  const GroupNorm norm{leaves[4], leaves[5], 2, 1e-5};
  const Dual y = norm_silu({leaves[0], x_moves ? leaves[1] : Tensor()},
                           {leaves[2], shift_moves ? leaves[3] : Tensor()}, norm);
  const auto exact = [](const Tensor& a) {
    return a.defined() ? a.to(torch::kCPU, torch::kFloat64) : a;
  };
  const Dual out{exact(y.value), exact(y.tangent)};
  Tensors gradients;
  for (const Tensor& g : testing::gradients(testing::random_scalar(out), leaves))
    gradients.push_back(exact(g));
  return {out, gradients};
}

TEST(NormSilu, IsGroupNormThenSiluOfTheShiftedImages) {
  const Inputs in = draw(3, 8, 4);
  const Dual shifted = in.x + Dual(in.shift.value.unsqueeze(2).unsqueeze(3),
                                   in.shift.tangent.unsqueeze(2).unsqueeze(3));
  const Dual expected = silu(group_norm(shifted, 2, in.weight, in.bias, 1e-5));
  const Dual y = norm_silu(in.x, in.shift, {in.weight, in.bias, 2, 1e-5});
  EXPECT_LT(difference(y.value, expected.value), 1e-14);
  EXPECT_LT(difference(y.tangent, expected.tangent), 1e-14);
}

TEST(NormSilu, RefusesShiftsOfOtherShapes) {
  const Inputs in = draw(3, 8, 4);
  EXPECT_THROW(norm_silu(in.x, in.shift.value.t(), {in.weight, in.bias, 2}), Error);
}

/// The kernels against the composition in float64 on the host.
TEST(NormSilu, KernelsAgreeWithTheComposition) {
  if (!torch::hasCUDA()) GTEST_SKIP() << "no CUDA here";
  const Inputs in = draw(5, 24, 7);
  for (const auto& [type, tolerance] :
       {std::pair{torch::kFloat32, 2e-5}, std::pair{torch::kBFloat16, 6e-2}})
    for (const bool x_moves : {false, true})
      for (const bool shift_moves : {false, true}) {
        SCOPED_TRACE(text(type, " x moves: ", x_moves, " shift moves: ", shift_moves));
        const Outputs ours =
            differentiate(in, torch::dtype(type).device(torch::kCUDA), x_moves, shift_moves);
        const Outputs theirs = differentiate(in, torch::kFloat64, x_moves, shift_moves);
        EXPECT_LT(difference(ours.y.value, theirs.y.value), tolerance);
        if (x_moves || shift_moves) {
          EXPECT_LT(difference(ours.y.tangent, theirs.y.tangent), tolerance);
        }
        for (size_t i = 0; i < 6; ++i)
          EXPECT_LT(difference(ours.gradients[i], theirs.gradients[i]), tolerance) << "input " << i;
      }
}

}  // namespace
}  // namespace dre
