#include "dre/energy/pixel_view.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <functional>
#include <utility>

#include "dre/base/error.h"
#include "dre/dual/once.h"

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

/// s(z), and as its tangent J(z) way: the gradient J' v is linear in v, and its own gradient by v
/// is J.
Dual pushed_forward(const Map& map, const Tensor& z, const Tensor& way) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = leaf(z), out = map(at), any = leaf(at::zeros_like(out));
  return {out.detach(), gradient(gradient(out, at, any, true), any, way).detach()};
}

/// J(z)' slope, and how it changes with both: it is the gradient of <s(z), slope>, whose second
/// derivative is symmetric, so that one more gradient gives it along the tangent of z.
Dual pulled_back(const Map& map, const Dual& z, const Dual& slope) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = leaf(z.value), out = map(at);
  const Tensor value = gradient(out, at, slope.value.detach(), true);
  Tensor tangent;
  const auto add = [&](const Tensor& of, const Tensor& along) {
    if (!along.defined()) return;
    const Tensor part =
        torch::autograd::grad({of}, {at}, {along}, /*retain_graph=*/true)[0].detach();
    tangent = tangent.defined() ? tangent + part : part;
  };
  add(value, z.tangent);
  add(out, slope.tangent);
  return {value.detach(), tangent};
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
    return pulled_back(map, z, slope).value;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("the pull of a curved pixel map");
    const auto kept = context->saved_data["map"].toCapsule();
    const Map& map = static_cast<const Kept&>(*kept).map;
    return {pushed_forward(map, context->get_saved_variables()[0], gradients[0]).tangent, {}, {}};
  }
};

/// Gradients follow values only: a loss of tangents would lose them here.
void check_tangent(const Dual& a) {
  check(!a.has_tangent() || !torch::GradMode::is_enabled(),
        "a curved pixel map gives no gradients of its tangents; ask for them without gradients");
}

bool followed(const Tensor& z) { return torch::GradMode::is_enabled() && z.requires_grad(); }

}  // namespace

PixelMap linear_pixels(const Density& noise) {
  const int64_t d = noise.dimension();
  const torch::NoGradGuard no_grad;
  const Tensor offset = noise.from_latent(at::zeros({1, d}, noise.options())).point;
  // Row i: where unit vector i goes.
  const Tensor map = noise.from_latent(at::eye(d, noise.options())).point - offset;
  const Tensor scale = map.square().sum().div(static_cast<double>(d)).sqrt();
  return linear_pixel_map((map / scale).t().contiguous(), (offset / scale).squeeze(0));
}

PixelMap curved_pixels(const DensityPtr& noise) {
  const Map seen = [noise](const Tensor& z) {
    return noise->from_latent(z).point.div(logits_of_unit_size).asinh();
  };
  PixelMap pixels;
  pixels.view = [seen](const Dual& z) -> Dual {
    check_tangent(z);
    if (z.has_tangent()) return pushed_forward(seen, z.value, z.tangent);
    const torch::AutoGradMode mode(followed(z.value));
    return seen(z.value);
  };
  pixels.back = [seen](const Dual& z, const Dual& slope) -> Dual {
    check_tangent(z);
    check_tangent(slope);
    if (z.has_tangent() || slope.has_tangent()) return pulled_back(seen, z, slope);
    if (followed(z.value)) return gradient(seen(z.value), z.value, slope.value, true);
    return PullBack::apply(slope.value, z.value, seen);
  };
  return pixels;
}

}  // namespace dre
