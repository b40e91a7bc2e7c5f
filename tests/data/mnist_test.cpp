#include "dre/data/mnist.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdlib>

#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;

Tensor every_pixel() { return torch::arange(256, torch::kUInt8).reshape({1, 256}); }

TEST(Dequantise, NoisePutsEveryPixelInItsOwnInterval) {
  for (const double noise : {0.0, 0.3, 0.999}) {
    const Logits logits = dequantise(every_pixel(), torch::full({1, 256}, noise, torch::kFloat64));
    const Tensor y = logits.x.sigmoid();
    const Tensor expected = 1e-6 + (1 - 2e-6) * (torch::arange(256, torch::kFloat64) + noise) / 256;
    EXPECT_TRUE(torch::allclose(y[0], expected, 1e-12, 0));
  }
}

TEST(Dequantise, LogDeterminantIsThatOfTheMap) {
  Context context;
  auto generator = context.generator("noise");
  const Tensor noise = uniform({1, 256}, torch::kFloat64, generator).requires_grad_();
  const Logits logits = dequantise(every_pixel(), noise);
  const Tensor slopes = torch::autograd::grad({logits.x.sum()}, {noise})[0];
  EXPECT_NEAR(logits.log_determinant.item<double>(), slopes.log().sum().item<double>(), 1e-8);
}

/// The black and the white end are where float32 could lose its digits.
TEST(Dequantise, SinglePrecisionIsAsGood) {
  Context context;
  auto generator = context.generator("noise");
  const Tensor noise = uniform({1, 256}, torch::kFloat32, generator);
  const Logits single = dequantise(every_pixel(), noise);
  const Logits exact = dequantise(every_pixel(), noise.to(torch::kFloat64));
  EXPECT_LT((single.x - exact.x).abs().max().item<double>(), 2e-6);
  EXPECT_NEAR(single.log_determinant.item<double>(), exact.log_determinant.item<double>(), 1e-3);
}

TEST(Dequantise, PixelsComeBack) {
  Context context;
  auto generator = context.generator("noise");
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const Tensor pixels = every_pixel().expand({50, 256});
    EXPECT_TRUE(torch::equal(to_pixels(dequantise(pixels, generator, type).x), pixels));
  }
}

/// A uniform density over the pixels costs eight bits, whatever the noise.
TEST(BitsPerDimension, UniformPixelsCostEightBits) {
  const int64_t d = 256;
  Context context;
  auto generator = context.generator("noise");
  const Logits logits = dequantise(every_pixel(), generator, torch::kFloat64);
  // Uniform over k + U is uniform over y: its density over x is y(1 - y)/(1 - 2α) a dimension.
  const Tensor y = logits.x.sigmoid();
  const Tensor log_prob = (y * (1 - y) / (1 - 2e-6)).log().sum(1);
  EXPECT_NEAR(bits_per_dimension(log_prob, logits.log_determinant, d).item<double>(), 8, 1e-9);
}

TEST(Mnist, MissingFilesAreNamed) {
  Directory directory;
  try {
    load_mnist(directory.path("."));
    FAIL() << "an empty directory was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("train-images-idx3-ubyte"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("dre data mnist"), std::string::npos);
  }
}

TEST(Mnist, SplitIsTheUsualOne) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const MnistSplit mnist = load_mnist(std::string(data) + "/mnist");
  EXPECT_EQ(mnist.train.sizes(), torch::IntArrayRef({50000, 784}));
  EXPECT_EQ(mnist.validation.sizes(), torch::IntArrayRef({10000, 784}));
  EXPECT_EQ(mnist.test.sizes(), torch::IntArrayRef({10000, 784}));
  EXPECT_NEAR(mnist.train.to(torch::kFloat64).mean().item<double>() / 255, 0.13, 0.002);
}

}  // namespace
}  // namespace dre
