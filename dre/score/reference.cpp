#include "dre/score/reference.h"

namespace dre {
namespace {

/// Chain rule for an element-wise function of (x, t).
Dual chain(const Partial& part, const Dual& x, const Dual& t) {
  Dual out(part.value);
  if (x.has_tangent()) out.tangent = part.by_x * x.tangent;
  if (t.has_tangent()) {
    const Tensor by_time = part.by_time * t.tangent;
    out.tangent = out.tangent.defined() ? out.tangent + by_time : by_time;
  }
  return out;
}

}  // namespace

Dual reference_time_score(const GaussianPath& path, const Dual& x, const Dual& t) {
  return chain(path.time_score(x.value, t.value), x, t);
}

Dual reference_data_score(const GaussianPath& path, const Dual& x, const Dual& t) {
  return chain(path.data_score(x.value, t.value), x, t);
}

Dual reference_velocity(const GaussianPath& path, const Dual& x, const Dual& t) {
  return chain(path.velocity(x.value, t.value), x, t);
}

Dual reference_contraction(const GaussianPath& path, const Dual& x, const Dual& t) {
  return chain(path.contraction(x.value, t.value), x, t);
}

Dual along(const Tensor& value, const Tensor& derivative, const Dual& t) {
  return t.has_tangent() ? Dual(value, derivative * t.tangent) : Dual(value);
}

}  // namespace dre
