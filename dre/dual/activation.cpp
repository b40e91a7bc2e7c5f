#include "dre/dual/activation.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "dre/base/error.h"
#include "dre/dual/jets.h"
#include "dre/dual/once.h"
#include "dre/dual/stacked.h"

namespace dre {
namespace {

using namespace elementary;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The four loops, the same for every activation.

template <class Phi, class T>
void forward_value(const T* x, T* y, int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        store<T>(Phi::jet(load(x + i, count)).value, y + i, count);
      });
}

template <class Phi, class T>
void forward_pair(const T* x, const T* xdot, T* y, T* ydot, int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        const Jet<Pack<T>> jet = Phi::jet(load(x + i, count));
        store<T>(jet.value, y + i, count);
        store<T>(jet.slope * load(xdot + i, count), ydot + i, count);
      });
}

template <class Phi, class T>
void backward_value(const T* x, const T* gy, T* gx, int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        store<T>(load(gy + i, count) * Phi::jet(load(x + i, count)).slope, gx + i, count);
      });
}

template <class Phi, class T>
void backward_pair(const T* x, const T* xdot, const T* gy, const T* gydot, T* gx, T* gxdot,
                   int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        const Jet<Pack<T>> jet = Phi::jet(load(x + i, count));
        const Pack<T> pulled = load(gydot + i, count);
        store<T>(load(gy + i, count) * jet.slope + pulled * jet.bend * load(xdot + i, count),
                 gx + i, count);
        store<T>(pulled * jet.slope, gxdot + i, count);
      });
}

// One row of a layer: bias, activation and what the backward pass needs, in one pass over memory.

template <class Phi, class T>
void value_row(const T* z, const T* bias, T* y, T* slope, int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        const Jet<Pack<T>> jet = Phi::jet(Pack<T>(load(z + i, count) + load(bias + i, count)));
        store<T>(jet.value, y + i, count);
        if (slope) store<T>(jet.slope, slope + i, count);
      });
}

template <class Phi, class T>
void pair_row(const T* z, const T* zdot, const T* bias, T* y, T* ydot, T* slope, T* bend,
              int64_t n) {
  for_packs<T>(
      n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        const Jet<Pack<T>> jet = Phi::jet(Pack<T>(load(z + i, count) + load(bias + i, count)));
        const Pack<T> moving = load(zdot + i, count);
        store<T>(jet.value, y + i, count);
        store<T>(jet.slope * moving, ydot + i, count);
        if (slope) store<T>(jet.slope, slope + i, count);
        if (bend) store<T>(jet.bend * moving, bend + i, count);
      });
}

/// Elements a thread should get at least: about ten microseconds of work.
constexpr int64_t grain = 16384;

bool fused(const Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64);
}

/// y = phi(x)
template <class Phi>
class ValueFunction : public torch::autograd::Function<ValueFunction<Phi>> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    if (!fused(x)) return Phi::jet(x).value;
    const Tensor in = x.contiguous();
    Tensor y = at::empty_like(in);
    AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "activation", [&] {
      const auto* from = in.data_ptr<scalar_t>();
      auto* to = y.data_ptr<scalar_t>();
      at::parallel_for(0, in.numel(), grain, [&](int64_t begin, int64_t end) {
        forward_value<Phi>(from + begin, to + begin, end - begin);
      });
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("an activation");
    const Tensor x = context->get_saved_variables()[0];
    if (!fused(x)) return {gradients[0] * Phi::jet(x).slope};
    const Tensor in = x.contiguous(), gradient = gradients[0].contiguous();
    Tensor gx = at::empty_like(in);
    AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "activation", [&] {
      const auto *from = in.data_ptr<scalar_t>(), *gy = gradient.data_ptr<scalar_t>();
      auto* to = gx.data_ptr<scalar_t>();
      at::parallel_for(0, in.numel(), grain, [&](int64_t begin, int64_t end) {
        backward_value<Phi>(from + begin, gy + begin, to + begin, end - begin);
      });
    });
    return {gx};
  }
};

/// (y, ydot) = (phi(x), phi'(x) xdot)
template <class Phi>
class PairFunction : public torch::autograd::Function<PairFunction<Phi>> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& xdot) {
    context->save_for_backward({x, xdot});
    if (!fused(x)) {
      const Jet<Tensor> jet = Phi::jet(x);
      return {jet.value, jet.slope * xdot};
    }
    const Tensor in = x.contiguous(), in_dot = xdot.contiguous();
    const Dual y = empty_pair(in.sizes(), in.options());
    AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "activation", [&] {
      const auto *from = in.data_ptr<scalar_t>(), *from_dot = in_dot.data_ptr<scalar_t>();
      auto *to = y.value.data_ptr<scalar_t>(), *to_dot = y.tangent.data_ptr<scalar_t>();
      at::parallel_for(0, in.numel(), grain, [&](int64_t begin, int64_t end) {
        forward_pair<Phi>(from + begin, from_dot + begin, to + begin, to_dot + begin, end - begin);
      });
    });
    return {y.value, y.tangent};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("an activation");
    const variable_list saved = context->get_saved_variables();
    if (!fused(saved[0])) {
      const Jet<Tensor> jet = Phi::jet(saved[0]);
      return {gradients[0] * jet.slope + gradients[1] * jet.bend * saved[1],
              gradients[1] * jet.slope};
    }
    const Tensor in = saved[0].contiguous(), in_dot = saved[1].contiguous();
    const Tensor out = gradients[0].contiguous(), out_dot = gradients[1].contiguous();
    const Dual gx = empty_pair(in.sizes(), in.options());
    AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "activation", [&] {
      const auto *x = in.data_ptr<scalar_t>(), *xdot = in_dot.data_ptr<scalar_t>();
      const auto *gy = out.data_ptr<scalar_t>(), *gydot = out_dot.data_ptr<scalar_t>();
      auto *to = gx.value.data_ptr<scalar_t>(), *to_dot = gx.tangent.data_ptr<scalar_t>();
      at::parallel_for(0, in.numel(), grain, [&](int64_t begin, int64_t end) {
        backward_pair<Phi>(x + begin, xdot + begin, gy + begin, gydot + begin, to + begin,
                           to_dot + begin, end - begin);
      });
    });
    return {gx.value, gx.tangent};
  }
};

template <class Phi>
Dual activate(const Dual& x) {
  if (!x.has_tangent()) return ValueFunction<Phi>::apply(x.value);
  check(x.tangent.sizes() == x.value.sizes(), "a tangent of shape ", x.tangent.sizes(),
        " does not belong to a value of shape ", x.value.sizes());
  const variable_list out = PairFunction<Phi>::apply(x.value, x.tangent);
  return {out[0], out[1]};
}

template <class Phi>
Activation row_of_table(const char* name) {
  return {name,
          activate<Phi>,
          value_row<Phi, float>,
          value_row<Phi, double>,
          pair_row<Phi, float>,
          pair_row<Phi, double>};
}

}  // namespace

Dual elu(const Dual& x) { return activate<Elu>(x); }
Dual tanh(const Dual& x) { return activate<Tanh>(x); }
Dual silu(const Dual& x) { return activate<Silu>(x); }
Dual softplus(const Dual& x) { return activate<Softplus>(x); }
Dual leaky_relu(const Dual& x) { return activate<LeakyRelu>(x); }

const std::vector<Activation>& activations() {
  static const std::vector<Activation> table = {
      row_of_table<Elu>("elu"), row_of_table<Silu>("silu"), row_of_table<Tanh>("tanh"),
      row_of_table<Softplus>("softplus"), row_of_table<LeakyRelu>("leaky-relu")};
  return table;
}

}  // namespace dre
