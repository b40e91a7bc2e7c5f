#include "dre/network/convolution.h"

#include <cmath>

#include "dre/base/error.h"

namespace dre {

Dual ImageNetwork::images(const Dual& x, int64_t side) {
  const auto image = [&](const Tensor& a) {
    return a.defined() ? a.reshape({a.size(0), 1, side, side}) : a;
  };
  return {image(x.value), image(x.tangent)};
}

Dual ImageNetwork::packed(const Dual& x) const {
  if (!x.value.is_cuda()) return x;
  const auto pack = [&](const Tensor& a) {
    return a.defined() ? a.to(half_ ? torch::kBFloat16 : a.scalar_type())
                             .contiguous(at::MemoryFormat::ChannelsLast)
                       : a;
  };
  return {pack(x.value), pack(x.tangent)};
}

Dual Conv::operator()(const Dual& x) const {
  const auto type = x.value.scalar_type();
  const Tensor kernel = weight.permute({0, 3, 1, 2}).to(type);
  const Tensor shift = bias.defined() ? bias.to(type) : bias;
  return transposed ? conv_transpose2d(x, kernel, shift, options)
                    : conv2d(x, kernel, shift, options);
}

Conv add_conv(Parameters& parameters, const std::string& name, const ConvShape& shape,
              const Context& context, at::Generator& generator) {
  const int64_t first = shape.transposed ? shape.in : shape.out;
  const int64_t last = shape.transposed ? shape.out : shape.in;
  const double bound = 1 / std::sqrt(static_cast<double>(shape.in * shape.kernel * shape.kernel));
  const auto initial = [&](torch::IntArrayRef sizes) {
    if (shape.zero) return at::zeros(sizes, context.options());
    const Tensor unit = uniform(sizes, torch::kFloat64, generator).mul(2).sub(1);
    return unit.mul(bound).to(context.options());
  };
  Conv conv{parameters.add(name + ".weight", initial({first, shape.kernel, shape.kernel, last})),
            {},
            shape.options,
            shape.transposed};
  if (shape.bias) conv.bias = parameters.add(name + ".bias", initial({shape.out}));
  return conv;
}

GroupNorm add_norm(Parameters& parameters, const std::string& name, int64_t channels,
                   int64_t groups, const Context& context) {
  check(channels % groups == 0, channels, " channels do not make ", groups,
        " equal groups; choose another width, or fewer groups");
  return {parameters.add(name + ".weight", at::ones({channels}, context.options())),
          parameters.add(name + ".bias", at::zeros({channels}, context.options())), groups};
}

}  // namespace dre
