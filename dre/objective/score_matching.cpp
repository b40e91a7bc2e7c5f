#include "dre/objective/score_matching.h"

#include <utility>

#include "dre/base/error.h"

namespace dre {
namespace {

/// lambda(from) s(x, from) - lambda(to) s(x, to) at the path's own ends, row by row.
Tensor boundary(const TimeScore& score, const TimeWeight& weight, const Batch& batch,
                at::Generator& generator) {
  const Interval range = score.bridge().interval();
  const int64_t n = batch.x0.size(0);
  const auto time = [&](double t) { return torch::full({n, 1}, t, batch.x0.options()); };
  const Tensor t = torch::cat({time(range.from), time(range.to)});
  const Tensor lambda = weight.at(t).value.squeeze(1);
  const Tensor x =
      torch::cat({draw_point(score.bridge(), batch.x0, batch.x1, time(range.from), generator).x,
                  draw_point(score.bridge(), batch.x0, batch.x1, time(range.to), generator).x});
  const Tensor weighted = lambda * score.time_score(x, t).value;
  return weighted.slice(0, 0, n) - weighted.slice(0, n);
}

}  // namespace

TimeObjective::TimeObjective(const TimeScore& score, TimeWeight weight)
    : score_(score), weight_(std::move(weight)) {}

Terms TimeObjective::terms(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  const Tensor x = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator).x;
  const Dual s = score_.time_score(x, Dual(t, torch::ones_like(t)));
  const Jet lambda = weight_.at(t.squeeze(1));
  const Tensor inside =
      lambda.value * (s.value * s.value + 2 * s.tangent) + 2 * lambda.first * s.value;
  return {inside * interval().length(), 2 * boundary(score_, weight_, batch, generator)};
}

JointObjective::JointObjective(const JointScore& score, TimeWeight weight, DataTerm data_term)
    : score_(score), weight_(std::move(weight)), data_term_(data_term) {
  check(data_term != DataTerm::denoising || score.bridge().has_noise(),
        "the denoising data term needs a bridge with noise (brownian, dequantified); use the "
        "sliced one");
}

Terms JointObjective::terms(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const Jet lambda = weight_.at(t.squeeze(1));
  const bool sliced = data_term_ == DataTerm::sliced;
  // One tangent direction (v, 1) serves both derivatives: v is independent of everything else and
  // has mean zero, so the cross terms v'(ds_x/dt) and v.grad s_t vanish in expectation.
  const Tensor direction =
      sliced ? normal(point.x.sizes(), point.x.options(), generator) : Tensor();
  const JointScore::Both s = score_.both({point.x, direction}, {t, torch::ones_like(t)});
  Tensor data;
  if (sliced) {
    data = lambda.value * (0.5 * s.data.value.square() + s.data.tangent * direction).sum(1);
  } else {
    data = 0.5 * (point.at.sigma() * s.data.value + point.noise).square().sum(1);
  }
  const Tensor time =
      lambda.value * (0.5 * s.time.value.square() + s.time.tangent) + lambda.first * s.time.value;
  return {(data + time) * interval().length(), boundary(score_, weight_, batch, generator)};
}

}  // namespace dre
