#include "dre/data/mnist.h"

#include <cmath>
#include <filesystem>

#include "dre/base/error.h"
#include "dre/data/idx.h"

namespace dre {
namespace {

constexpr int64_t images_to_train = 50000;
constexpr double margin = 1e-6;  // α: keeps the logits finite
constexpr double levels = 256;

Tensor read_part(const std::string& directory, const std::string& name) {
  const std::string plain = directory + "/" + name, packed = plain + ".gz";
  check_data(std::filesystem::is_directory(directory), directory,
             " is not a directory; give the folder of the MNIST files, which 'dre data mnist "
             "--out DIR' fetches");
  const bool there = std::filesystem::exists(packed) || std::filesystem::exists(plain);
  check_data(there, directory, " has neither ", name, ".gz nor ", name, "; 'dre data mnist --out ",
             directory, "' fetches them");
  return read_idx(std::filesystem::exists(packed) ? packed : plain);
}

Tensor read_images(const std::string& directory, const std::string& name, int64_t count) {
  const Tensor images = read_part(directory, name);
  check_data(images.dim() == 3 && images.size(0) == count && images[0].numel() == 784, name, " in ",
             directory, " has shape ", images.sizes(), ", MNIST has ", count, " images of 28 x 28");
  return images.reshape({count, 784});
}

}  // namespace

MnistSplit load_mnist(const std::string& directory) {
  const Tensor images = read_images(directory, "train-images-idx3-ubyte", 60000);
  return {images.slice(0, 0, images_to_train), images.slice(0, images_to_train),
          read_images(directory, "t10k-images-idx3-ubyte", 10000)};
}

Logits dequantise(const Tensor& pixels, const Tensor& noise) {
  check(pixels.dim() == 2 && pixels.scalar_type() == torch::kUInt8,
        "pixels must be bytes [n, d], got ", pixels.toString(), " ", pixels.sizes());
  check(noise.sizes() == pixels.sizes() && noise.is_floating_point(), "noise must be ",
        pixels.sizes(), ", got ", noise.sizes());
  const double slope = (1 - 2 * margin) / levels;
  const Tensor level = pixels.to(noise.scalar_type());
  // 1 - y is made from what is missing to white: a difference from y would lose its digits there.
  const Tensor log_y = (level + noise).mul_(slope).add_(margin).log_();
  const Tensor log_rest = (levels - 1 - level + (1 - noise)).mul_(slope).add_(margin).log_();
  const double constant = static_cast<double>(pixels.size(1)) * std::log(slope);
  return {log_y - log_rest, constant - (log_y + log_rest).sum(1)};
}

Logits dequantise(const Tensor& pixels, at::Generator& generator, torch::ScalarType type) {
  return dequantise(pixels, uniform(pixels.sizes(), pixels.options().dtype(type), generator));
}

Tensor to_pixels(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  return x.sigmoid()
      .sub_(margin)
      .mul_(levels / (1 - 2 * margin))
      .floor_()
      .clamp_(0, 255)
      .to(torch::kUInt8);
}

double nats_of_a_bit(int64_t dimension) { return static_cast<double>(dimension) * std::log(2.0); }

Tensor bits_per_dimension(const Tensor& log_prob_x, const Tensor& log_determinant,
                          int64_t dimension) {
  check(log_prob_x.sizes() == log_determinant.sizes(), "log-densities ", log_prob_x.sizes(),
        " and log-determinants ", log_determinant.sizes(), " must have the same shape");
  return (log_prob_x + log_determinant) / -nats_of_a_bit(dimension);
}

}  // namespace dre
