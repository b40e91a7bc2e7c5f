#include "dre/network/unet.h"

#include <algorithm>

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr int64_t levels = 4, kernel = 3, stride = 2;

/// Sides of the images after each convolution down.
std::vector<int64_t> sides(int64_t side) {
  std::vector<int64_t> out = {side - kernel + 1};
  while (out.size() < levels) out.push_back((out.back() - kernel) / stride + 1);
  return out;
}

}  // namespace

Unet::Unet(const UnetOptions& options, const PixelMap& map, const Context& context,
           at::Generator& generator)
    : options_(options), map_(map) {
  validate(options);
  const int64_t width = options.width, e = options.embedding;
  const std::vector<int64_t> side = sides(options.side);
  const auto channels = [&](int64_t level) { return width << level; };
  if (options.time)
    embedding_ =
        add_stack(parameters_, "embedding", {1, e, e, e}, "tanh", false, context, generator);
  for (int64_t k = 0; k < levels; ++k) {
    const int64_t in = k > 0 ? channels(k - 1) : map_ ? 2 : 1;
    const ConvShape shape{in, channels(k), kernel, {k > 0 ? stride : 1}};
    const int64_t groups = k > 0 ? options.groups : std::min<int64_t>(4, options.groups);
    down_.push_back(add_level(text("down.", k), shape, groups, context, generator));
  }
  for (int64_t k = levels - 1; k > 0; --k) {
    // The padding makes up for what the convolution down lost by rounding.
    const int64_t padding = side[k - 1] - ((side[k] - 1) * stride + kernel);
    const int64_t in = k < levels - 1 ? 2 * channels(k) : channels(k);
    const ConvShape shape{in, channels(k - 1), kernel, {stride, 0, padding}, false, true};
    up_.push_back(add_level(text("up.", k), shape, options.groups, context, generator));
  }
  const int64_t images = options.data_score ? 2 : 1;
  last_ = add_conv(parameters_, "last", {2 * width, images, kernel, {}, true, true}, context,
                   generator);
  head_ = add_dense(parameters_, "head", pixels(), options.outputs, false, context, generator);
}

Unet::Level Unet::add_level(const std::string& name, const ConvShape& shape, int64_t groups,
                            const Context& context, at::Generator& generator) {
  constexpr int64_t hidden = 32;
  Level level;
  level.conv = add_conv(parameters_, name + ".conv", shape, context, generator);
  if (options_.time)
    level.shift =
        add_stack(parameters_, name + ".shift", {options_.embedding, hidden, hidden, shape.out},
                  "tanh", false, context, generator);
  level.norm = add_norm(parameters_, name + ".norm", shape.out, groups, context);
  return level;
}

Dual Unet::apply(const Level& level, const Dual& x, const Dual& embedding) const {
  const Dual shift = options_.time ? level.shift(embedding) : Dual();
  return norm_silu(level.conv(x), shift, level.norm);
}

Dual Unet::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, pixels(), options_.time);
  const Dual embedding = options_.time ? embedding_(t) : Dual();
  std::vector<Dual> seen;
  Dual image = images(x, options_.side);
  if (map_) image = cat({image, images(map_.view(x), options_.side)}, 1);
  image = packed(image);
  for (const Level& level : down_) seen.push_back(image = apply(level, image, embedding));
  for (size_t k = 0; k < up_.size(); ++k) {
    if (k > 0) image = cat_channels(image, seen[levels - 1 - k]);
    image = apply(up_[k], image, embedding);
  }
  image = cat_channels(image, seen.front());
  return options_.data_score ? images_and_head(image, x) : head_of_last(image);
}

/// The head of the last convolution: both are linear, so that their transposes take the head's
/// weights back to where the images are, and no image is made.
Dual Unet::head_of_last(const Dual& image) const {
  const auto type = image.value.scalar_type();
  const Tensor kernel = last_.weight.permute({0, 3, 1, 2});
  const Tensor heads = head_.weight.view({-1, 1, options_.side, options_.side});
  const Dual products = image_products(image, at::conv2d(heads, kernel).to(type));
  const Tensor constant = head_.weight.sum(1) * last_.bias;
  return products + constant + head_.bias;
}

/// The time score of the first image that the last convolution makes, and the second, the data
/// score, which starts at that of the noise.
Dual Unet::images_and_head(const Dual& image, const Dual& x) const {
  const Dual made = last_(image);
  const auto rows = [&](const Tensor& a) {
    return a.defined() ? a.reshape({a.size(0), -1}).to(x.value.scalar_type()) : a;
  };
  const Dual out{rows(made.value), rows(made.tangent)};
  return cat({head_(narrow(out, 0, pixels())), narrow(out, pixels(), pixels()) - x}, 1);
}

}  // namespace dre
