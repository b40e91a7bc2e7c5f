#include "dre/density/image_layers.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/density/spline_places.h"

namespace dre {
namespace {

Tensor no_change(const Tensor& x) { return at::zeros({x.size(0)}, x.options()); }

void check_image(const Tensor& x, int64_t channels) {
  check(x.dim() == 4 && x.size(1) == channels, "this layer works on images [n, ", channels,
        ", h, w], got ", x.sizes());
}

/// A product and not a convolution, which on some devices would round to ten bits by default: too
/// coarse for a map that is to be inverted.
Tensor mix(const Tensor& matrix, const Tensor& image) {
  return at::matmul(matrix, image.flatten(2)).view(image.sizes());
}

}  // namespace

Moved ToImage::forward(const Tensor& x) const {
  check_rows(x, height_ * width_);
  return {x.reshape({x.size(0), 1, height_, width_}), no_change(x)};
}

Moved ToImage::inverse(const Tensor& y) const { return {y.flatten(1), no_change(y)}; }

Moved Squeeze::forward(const Tensor& x) const { return {at::pixel_unshuffle(x, 2), no_change(x)}; }

Moved Squeeze::inverse(const Tensor& y) const { return {at::pixel_shuffle(y, 2), no_change(y)}; }

ChannelMix::ChannelMix(Parameters& parameters, const std::string& name, int64_t channels,
                       const Context& context)
    : matrix_(parameters, name, channels, context),
      bias_(parameters.add(name + ".bias", at::zeros({channels}, context.options()))) {}

Tensor ChannelMix::log_determinant(const Tensor& x) const {
  return for_rows(matrix_.log_determinant() * static_cast<double>(x.size(2) * x.size(3)), x);
}

Moved ChannelMix::forward(const Tensor& x) const {
  check_image(x, matrix_.size());
  return {mix(matrix_.matrix().flip({1}), x) + bias_.view({-1, 1, 1}), log_determinant(x)};
}

Moved ChannelMix::inverse(const Tensor& y) const {
  check_image(y, matrix_.size());
  return {mix(matrix_.inverse().flip({0}), y - bias_.view({-1, 1, 1})), -log_determinant(y)};
}

SplineCoupling::SplineCoupling(Parameters& parameters, const std::string& name,
                               const Options& options, const Context& context,
                               at::Generator& generator)
    : options_(options) {
  check(options.channels % 2 == 0, "a coupling needs an even number of channels, got ",
        options.channels);
  const int64_t half = options.channels / 2, hidden = options.hidden;
  const auto add = [&](int64_t in, int64_t out, int64_t kernel, bool zero) {
    convolutions_.push_back(convolution(parameters, text(name, ".", convolutions_.size()), in, out,
                                        kernel, zero, context, generator));
  };
  add(half, hidden, 3, false);
  add(hidden, hidden, 1, false);
  add(hidden, half * (3 * options.bins - 1), 3, true);
}

SplineCoupling::Convolution SplineCoupling::convolution(Parameters& parameters,
                                                        const std::string& name, int64_t in,
                                                        int64_t out, int64_t kernel, bool zero,
                                                        const Context& context,
                                                        at::Generator& generator) const {
  const double reach = zero ? 0 : 1 / std::sqrt(static_cast<double>(in * kernel * kernel));
  const auto initial = [&](torch::IntArrayRef shape) {
    const Tensor draw = uniform(shape, torch::kFloat64, generator);
    return draw.mul(2 * reach).sub(reach).to(context.options());
  };
  const Tensor weight = parameters.add(name + ".weight", initial({out, in, kernel, kernel}));
  return {weight, parameters.add(name + ".bias", initial({out}))};
}

Tensor SplineCoupling::network(const Tensor& half) const {
  Tensor hidden = half;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    const auto& [weight, bias] = convolutions_[i];
    if (i > 0) hidden = hidden.relu();
    hidden = at::conv2d(hidden, weight, bias, 1, weight.size(2) / 2);
  }
  return hidden;
}

SplineCoupling::Halves SplineCoupling::split(const Tensor& x) const {
  check_image(x, options_.channels);
  const auto halves = x.split(options_.channels / 2, 1);
  const int64_t groups = halves[1].size(0) * halves[1].size(1);
  return {halves[0], halves[1].reshape({groups, -1}),
          network(halves[0]).reshape({groups, 3 * options_.bins - 1, -1})};
}

Moved SplineCoupling::join(const Halves& halves, const SplineValue& moved) const {
  return {at::cat({halves.kept, moved.value.view(halves.kept.sizes())}, 1),
          moved.log_derivative.view({halves.kept.size(0), -1}).sum(1)};
}

Moved SplineCoupling::forward(const Tensor& x) const {
  const Halves halves = split(x);
  return join(halves, spline_places(halves.changed, halves.numbers, options_.bound));
}

Moved SplineCoupling::inverse(const Tensor& y) const {
  const Halves halves = split(y);
  // Without gradients one pass does it, which views of latent points need at every step.
  if (!halves.numbers.requires_grad() && !halves.changed.requires_grad())
    return join(halves, spline_places_inverse(halves.changed, halves.numbers, options_.bound));
  const int64_t bins = options_.bins;
  // A row of numbers for every place.
  const auto parts = halves.numbers.transpose(1, 2)
                         .reshape({-1, 3 * bins - 1})
                         .split_with_sizes({bins, bins, bins - 1}, 1);
  const SplineKnots knots = spline_knots({parts[0], parts[1], parts[2]}, options_.bound);
  return join(halves, spline_inverse(halves.changed.reshape({-1, 1}), knots));
}

}  // namespace dre
