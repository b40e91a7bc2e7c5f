#include "dre/apps/pixel_view.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <functional>
#include <utility>

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Of the logits of pixels, which reach from -14 to 14.
constexpr double logits_of_unit_size = 4;

using Map = std::function<Tensor(const Tensor& z)>;

Tensor leaf(const Tensor& z) { return z.detach().requires_grad_(); }

Tensor gradient(const Tensor& of, const Tensor& by, const Tensor& weight, bool follow = false) {
  return torch::autograd::grad({of}, {by}, {weight}, follow, follow)[0];
}

/// J(z) way: J is what its transposed, the gradient, is linear in.
Tensor pushed_forward(const Map& map, const Tensor& z, const Tensor& way) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = leaf(z), out = map(at), any = leaf(at::zeros_like(out));
  return gradient(gradient(out, at, any, true), any, way).detach();
}

/// J(z)' slope.
Tensor pulled_back(const Map& map, const Tensor& z, const Tensor& slope) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = leaf(z);
  return gradient(map(at), at, slope.detach());
}

/// How J(z)' slope changes: it is the gradient of <s(z), slope>, whose second derivative is
/// symmetric, so that one more gradient gives it along the tangent of z.
Tensor pulled_tangent(const Map& map, const Dual& z, const Dual& slope) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = leaf(z.value), out = map(at);
  Tensor change = (gradient(out, at, slope.value.detach(), true) * z.tangent.detach()).sum();
  if (slope.has_tangent()) change = change + (out * slope.tangent.detach()).sum();
  return torch::autograd::grad({change}, {at})[0].detach();
}

/// A map, to be kept for the way back.
struct Kept : torch::CustomClassHolder {
  explicit Kept(Map m) : map(std::move(m)) {}
  Map map;
};

/// Linear in the slope, of which alone it gives gradients.
class PullBack : public torch::autograd::Function<PullBack> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& slope, const Tensor& z,
                        const Map& map) {
    context->save_for_backward({z});
    context->saved_data["map"] = c10::IValue::make_capsule(c10::make_intrusive<Kept>(map));
    return pulled_back(map, z, slope);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto kept = context->saved_data["map"].toCapsule();
    const Map& map = static_cast<const Kept&>(*kept).map;
    return {pushed_forward(map, context->get_saved_variables()[0], gradients[0]), {}, {}};
  }
};

bool followed(const Tensor& z) { return torch::GradMode::is_enabled() && z.requires_grad(); }

}  // namespace

PixelMap linear_pixels(const Density& noise) {
  const int64_t d = noise.dimension();
  const torch::NoGradGuard no_grad;
  const Tensor zero = at::zeros({1, d}, noise.options()), unit = at::eye(d, noise.options());
  const Tensor offset = noise.from_latent(zero).point, origin = noise.to_latent(zero).point;
  const Tensor map = noise.from_latent(unit).point - offset;  // row i: where unit vector i goes
  const Tensor back = noise.to_latent(unit).point - origin;
  const Tensor scale = map.square().sum().div(static_cast<double>(d)).sqrt();
  return {(map / scale).t().contiguous(), (offset / scale).squeeze(0),
          (back * scale).t().contiguous()};
}

PixelMap curved_pixels(const DensityPtr& noise) {
  const Map seen = [noise](const Tensor& z) {
    return noise->from_latent(z).point.div(logits_of_unit_size).asinh();
  };
  PixelMap pixels;
  pixels.view = [seen](const Dual& z) -> Dual {
    const torch::AutoGradMode mode(followed(z.value));
    const Tensor value = seen(z.value);
    return {value, z.has_tangent() ? pushed_forward(seen, z.value, z.tangent) : Tensor()};
  };
  pixels.pull = [seen](const Dual& z, const Dual& slope) -> Dual {
    const Tensor value = followed(z.value) ? gradient(seen(z.value), z.value, slope.value, true)
                                           : PullBack::apply(slope.value, z.value, seen);
    return {value, z.has_tangent() ? pulled_tangent(seen, z, slope) : Tensor()};
  };
  return pixels;
}

}  // namespace dre
