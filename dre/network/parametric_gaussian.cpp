#include "dre/network/parametric_gaussian.h"

#include <torch/csrc/autograd/custom_function.h>

#include "dre/dual/linear.h"
#include "dre/dual/once.h"

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the gradient needs, rows in the eigenbasis U of A: m = diagonal of M, z = M x.
struct Rows {
  Dual t, m, z;            ///< [n, 1], [n, d], [n, d]
  Tensor values, vectors;  ///< of A
};

/// (exp a - exp b) / (a - b) for all pairs of eigenvalues; finite where they are equal.
Tensor divided_differences(const Tensor& values) {
  const Tensor left = values.unsqueeze(1), right = values.unsqueeze(0);
  const Tensor half = (left - right) / 2, square = half * half;
  const Tensor near = 1 + square / 6 * (1 + square / 20);
  const Tensor ratio = at::where(half.abs() < 0.02, near, half.sinh() / half);
  return ((left + right) / 2).exp() * ratio;
}

/// The gradient of a' s_x + b s_t with respect to S is the sum over rows of sym(w z') + diag(b t
/// m^2), since dM = -(1-t^2) M dS M and d tr(S M) = tr(M^2 dS); here w.
/// a: [n, d] in the eigenbasis, b: [n, 1] -> [n, d]
Dual left_factor(const Rows& rows, const Tensor& a, const Tensor& b) {
  const Dual shrink = -square(rows.t) + 1.0;
  return rows.m * (shrink * a) - rows.t * b * rows.z * (2.0 * rows.m + (-1.0));
}

/// Splits a gradient [n, 1+d] into its data part in the eigenbasis and its time part.
struct Pulled {
  Tensor data, time;
  Pulled(const Tensor& gradient, const Tensor& vectors)
      : data(at::mm(gradient.narrow(1, 1, gradient.size(1) - 1), vectors)),
        time(gradient.narrow(1, 0, 1)) {}
};

/// Gradient with respect to A, in closed form: the backward of an eigendecomposition would divide
/// by the differences of eigenvalues, all of them zero at S = 0.
Tensor root_gradient(const Rows& rows, const Tensor& value, const Tensor& tangent) {
  const Dual trace = rows.t * square(rows.m);
  const Pulled g(value, rows.vectors);
  Tensor left = left_factor(rows, g.data, g.time).value;
  Tensor diagonal = (g.time * trace.value).sum(0);
  Tensor outer;
  if (tangent.numel() > 0) {
    const Pulled h(tangent, rows.vectors);
    const Dual moving = left_factor(rows, h.data, h.time);
    if (moving.has_tangent()) left = left + moving.tangent;
    if (rows.z.has_tangent()) outer = at::mm(moving.value.t(), rows.z.tangent);
    if (trace.has_tangent()) diagonal = diagonal + (h.time * trace.tangent).sum(0);
  }
  const Tensor first = at::mm(left.t(), rows.z.value);
  const Tensor sum = (outer.defined() ? first + outer : first) + diagonal.diag();
  const Tensor by_root = (sum + sum.t()) / 2 * divided_differences(rows.values);
  return at::mm(at::mm(rows.vectors, by_root), rows.vectors.t());
}

/// Passes the output through and hands its gradient on to the parameter as well.
class AttachRoot : public torch::autograd::Function<AttachRoot> {
 public:
  /// value: [n, 1+d], tangent: the same or empty.
  static variable_list forward(AutogradContext* context, const Tensor& value, const Tensor& tangent,
                               const Tensor& /*root*/, const Rows& rows) {
    context->save_for_backward({rows.t.value, rows.t.tangent, rows.m.value, rows.m.tangent,
                                rows.z.value, rows.z.tangent, rows.values, rows.vectors});
    return {value.clone(), tangent.clone()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("the parametric Gaussian network");
    const variable_list s = context->get_saved_variables();
    const Rows rows{{s[0], s[1]}, {s[2], s[3]}, {s[4], s[5]}, s[6], s[7]};
    return {gradients[0], gradients[1], root_gradient(rows, gradients[0], gradients[1]), Tensor()};
  }
};

}  // namespace

ParametricGaussian::ParametricGaussian(const ParametricGaussianOptions& options,
                                       const Context& context)
    : options_(options) {
  validate(options);
  root_ = parameters_.add("root", at::zeros({options.inputs, options.inputs}, context.options()));
}

ParametricGaussian::Spectrum ParametricGaussian::spectrum() const {
  const torch::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!spectrum_.root.defined() || !at::equal(spectrum_.root, root_)) {
    const auto [values, vectors] = at::linalg_eigh((root_ + root_.t()) / 2);
    spectrum_ = {root_.detach().clone(), values, vectors};
  }
  return spectrum_;
}

Tensor ParametricGaussian::covariance() const {
  const Spectrum s = spectrum();
  return at::mm(s.vectors * s.values.exp(), s.vectors.t());
}

Dual ParametricGaussian::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.inputs, true);
  const Spectrum spectrum = this->spectrum();
  const Tensor& vectors = spectrum.vectors;
  const Tensor excess = spectrum.values.expm1();  // eigenvalues of S
  const Dual m = reciprocal((-square(t) + 1.0) * excess + 1.0);
  const Dual z = m * linear(x, vectors.t(), Tensor());
  const Dual time = -(t * sum(Dual(excess) * (square(z) - m), 1, true));
  const Dual data = -linear(z, vectors, Tensor());
  const Dual out = cat({time, data}, 1);
  const Rows rows{detach(t), detach(m), detach(z), spectrum.values, vectors};
  const Tensor tangent = out.has_tangent() ? out.tangent : at::empty({0}, out.value.options());
  const variable_list attached = AttachRoot::apply(out.value, tangent, root_, rows);
  return {attached[0], out.has_tangent() ? attached[1] : Tensor()};
}

}  // namespace dre
