/// MNIST as the paper uses it: 50,000 images to train on, 10,000 to validate, 10,000 to test; and
/// the way from whole-numbered pixels to continuous logits and back.
#pragma once

#include "dre/base/context.h"

namespace dre {

struct MnistSplit {
  Tensor train, validation, test;  ///< [n, 784], uint8, host
};

/// The two IDX files of images in `directory`, as they are or packed (.gz); the last 10,000 of the
/// training images are the validation images. Labels are not read.
MnistSplit load_mnist(const std::string& directory);

/// Pixels made continuous: y = α + (1 - 2α)(k + U)/256 with U uniform on [0, 1) and α = 1e-6, then
/// x = logit y. The volume grows by the map from k + U to x, whose log-determinant is
/// Σ [ln(1 - 2α) - ln y - ln(1 - y)] - d ln 256.
struct Logits {
  Tensor x;                ///< [n, d]
  Tensor log_determinant;  ///< [n]
};

/// pixels: [n, d], uint8; noise: [n, d], U itself, whose device and precision the result has.
Logits dequantise(const Tensor& pixels, const Tensor& noise);

/// With fresh noise, on the device of the pixels. generator: on that device.
Logits dequantise(const Tensor& pixels, at::Generator& generator,
                  torch::ScalarType type = torch::kFloat32);

/// The pixels whose logits are x: [n, d] -> [n, d], uint8. The inverse of dequantise().
Tensor to_pixels(const Tensor& x);

/// One bit for each dimension, as a log-density in nats.
double nats_of_a_bit(int64_t dimension);

/// -(log p_x(x) + log-determinant) / (d ln 2): an upper bound, on average over the noise, on the
/// bits a pixel costs. Both [n] -> [n].
Tensor bits_per_dimension(const Tensor& log_prob_x, const Tensor& log_determinant,
                          int64_t dimension = 784);

}  // namespace dre
