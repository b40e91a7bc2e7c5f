#include "dre/density/image_layers.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/density/spline.h"

namespace dre {
namespace {

Tensor no_change(const Tensor& x) { return at::zeros({x.size(0)}, x.options()); }

void check_image(const Tensor& x, int64_t channels) {
  check(x.dim() == 4 && x.size(1) == channels, "this layer works on images [n, ", channels,
        ", h, w], got ", x.sizes());
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
  const Tensor weight = matrix_.matrix().flip({1}).unsqueeze(2).unsqueeze(3);
  return {at::conv2d(x, weight, bias_), log_determinant(x)};
}

Moved ChannelMix::inverse(const Tensor& y) const {
  check_image(y, matrix_.size());
  const Tensor weight = matrix_.inverse().flip({0}).unsqueeze(2).unsqueeze(3);
  return {at::conv2d(y - bias_.view({-1, 1, 1}), weight), -log_determinant(y)};
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

template <class Map>
Moved SplineCoupling::apply(const Tensor& x, Map map) const {
  check_image(x, options_.channels);
  const int64_t n = x.size(0), bins = options_.bins, half = options_.channels / 2;
  const auto halves = x.split(half, 1);
  // [n, half * numbers, h, w] -> a row of numbers for every place of the second half.
  const Tensor free = network(halves[0])
                          .view({n, half, 3 * bins - 1, x.size(2), x.size(3)})
                          .permute({0, 1, 3, 4, 2})
                          .reshape({-1, 3 * bins - 1});
  const auto parts = free.split_with_sizes({bins, bins, bins - 1}, 1);
  const SplineKnots knots = spline_knots(parts[0], parts[1], parts[2], options_.bound);
  const SplineValue moved = map(halves[1].reshape({-1, 1}), knots);
  return {at::cat({halves[0], moved.value.view(halves[1].sizes())}, 1),
          moved.log_derivative.view({n, -1}).sum(1)};
}

Moved SplineCoupling::forward(const Tensor& x) const { return apply(x, spline); }

Moved SplineCoupling::inverse(const Tensor& y) const { return apply(y, spline_inverse); }

}  // namespace dre
