#include "dre/score/fokker_planck.h"

#include "dre/base/error.h"

namespace dre {
namespace {

/// Trace of the data score's Jacobian, one unit direction at a time.
Tensor laplacian(const DataScore& score, const Tensor& x, const Tensor& t) {
  Tensor trace = torch::zeros({x.size(0)}, x.options());
  for (int64_t i = 0; i < x.size(1); ++i) {
    Tensor direction = torch::zeros_like(x);
    direction.select(1, i).fill_(1);
    trace += score.data_score({x, direction}, t).tangent.select(1, i);
  }
  return trace;
}

}  // namespace

Tensor fokker_planck_time_score(const DataScore& score, const Tensor& x, const Tensor& t) {
  torch::NoGradGuard no_grad;
  const Coefficients at = score.bridge().at(t);
  check(score.bridge().has_noise() && at.b.value.abs().max().item<double>() == 0,
        "the Fokker-Planck time score needs a one-sided bridge: both sides known only by samples "
        "have no diffusion");
  const Tensor rate = (at.a.first / at.a.value).squeeze(1);
  const Tensor diffusion = (at.variance.first).squeeze(1) - 2 * rate * at.variance.value.squeeze(1);
  const Tensor gradient = score.data_score(x, t).value;
  const Tensor curvature = (gradient * gradient).sum(1) + laplacian(score, x, t);
  return -rate * (x.size(1) + (x * gradient).sum(1)) + 0.5 * diffusion * curvature;
}

}  // namespace dre
