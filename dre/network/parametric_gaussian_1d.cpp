#include "dre/network/parametric_gaussian_1d.h"

namespace dre {

ParametricGaussian1d::ParametricGaussian1d(const ParametricGaussian1dOptions& options,
                                           const Context& context)
    : options_(options) {
  validate(options);
  theta_ = parameters_.add("theta", at::full({1}, options.start, context.options()));
}

Dual ParametricGaussian1d::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, 1, true);
  const double start = options_.sigma * options_.sigma, gap = 1 - start;
  const Dual variance = square(t) * gap + start;  // 1 - gap (1-t^2) would cancel at t = 0
  const Dual precision = reciprocal(variance);
  const Dual offset = x - theta_;
  const Dual time = gap * (t * precision * (square(offset) * precision + (-1.0)));
  return cat({time, -(offset * precision)}, 1);
}

}  // namespace dre
