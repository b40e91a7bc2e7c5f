#include "dre/objective/score_matching.h"

#include <cmath>
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

/// Times at which a pathwise loss is taken, and dt/du of the uniform ones they are made from.
struct PathTimes {
  Tensor t, rate;  ///< [n, 1]
};

/// t = sin^2 turns the root in sigma, a or b at an end, and with it 1 / root in the velocity, into
/// something smooth. The interval stops short of ends that have one in a or b; where only sigma has
/// one, times of float32 that were rounded to an end, where the velocity is infinite, are moved to
/// their last neighbour.
PathTimes path_times(const Bridge& bridge, const Tensor& u) {
  const Interval range = bridge.interval();
  const double last = 0x1p-24;
  if (range.from == 0 && range.to == 1) return {u.clamp(last, 1 - last), torch::ones_like(u)};
  const Tensor angle = (u - range.from) * (M_PI / 2 / range.length());
  return {range.from + range.length() * angle.sin().square(), M_PI / 2 * (2 * angle).sin()};
}

Tensor path_velocity(const BridgePoint& point) {
  if (!point.noise.defined()) return point.drift;
  return point.drift + point.at.log_sigma_rate() * point.at.sigma() * point.noise;
}

}  // namespace

TimeObjective::TimeObjective(const TimeScore& score, TimeWeight weight, Matching matching)
    : score_(score), weight_(std::move(weight)), matching_(matching) {}

Terms TimeObjective::terms(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  return matching_ == Matching::pathwise ? pathwise(batch, t, generator)
                                         : by_parts(batch, t, generator);
}

Terms TimeObjective::pathwise(const Batch& batch, const Tensor& u, at::Generator& generator) const {
  const PathTimes times = path_times(score_.bridge(), u);
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, times.t, generator);
  const Dual s = score_.time_score({point.x, path_velocity(point)}, times.t);
  const Tensor weight = times.rate.squeeze(1) * weight_.at(times.t.squeeze(1)).value;
  return {weight * (s.value.square() - 2 * s.tangent) * interval().length(), {}};
}

Terms TimeObjective::by_parts(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  const Tensor x = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator).x;
  const Dual s = score_.time_score(x, Dual(t, torch::ones_like(t)));
  const Jet lambda = weight_.at(t.squeeze(1));
  const Tensor inside =
      lambda.value * (s.value * s.value + 2 * s.tangent) + 2 * lambda.first * s.value;
  return {inside * interval().length(), 2 * boundary(score_, weight_, batch, generator)};
}

JointObjective::JointObjective(const JointScore& score, TimeWeight weight, DataTerm data_term,
                               Matching matching, double time_factor)
    : score_(score),
      weight_(std::move(weight)),
      data_term_(data_term),
      matching_(matching),
      time_factor_(time_factor) {
  check(time_factor >= 0, "the factor of the time terms must not be negative, got ", time_factor);
  check(data_term != DataTerm::denoising || score.bridge().has_noise(),
        "the denoising data term needs a bridge with noise (brownian, dequantified); use the "
        "sliced one");
}

Terms JointObjective::terms(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  const bool pathwise = matching_ == Matching::pathwise;
  const PathTimes times =
      pathwise ? path_times(score_.bridge(), t) : PathTimes{t, torch::ones_like(t)};
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, times.t, generator);
  const Jet lambda = weight_.at(times.t.squeeze(1));
  const bool sliced = data_term_ == DataTerm::sliced;
  // One tangent direction serves both derivatives, (v, 1) or pathwise (v + dx/dt, 0): v is
  // independent of everything else and has mean zero, so the cross terms vanish in expectation.
  const Tensor slice = sliced ? normal(point.x.sizes(), point.x.options(), generator) : Tensor();
  const Tensor velocity = pathwise ? path_velocity(point) : Tensor();
  const Tensor direction = sliced && pathwise ? slice + velocity : sliced ? slice : velocity;
  const JointScore::Both s =
      score_.both({point.x, direction}, {times.t, pathwise ? Tensor() : torch::ones_like(times.t)});
  Tensor data;
  if (sliced) {
    data = lambda.value * (0.5 * s.data.value.square() + s.data.tangent * slice).sum(1);
  } else {
    data = 0.5 * (point.at.sigma() * s.data.value + point.noise).square().sum(1);
  }
  const Tensor time = pathwise ? lambda.value * (0.5 * s.time.value.square() - s.time.tangent)
                               : lambda.value * (0.5 * s.time.value.square() + s.time.tangent) +
                                     lambda.first * s.time.value;
  const Tensor inside = (data + time_factor_ * time) * times.rate.squeeze(1);
  const bool ends = !pathwise && time_factor_ != 0;
  return {inside * interval().length(),
          ends ? time_factor_ * boundary(score_, weight_, batch, generator) : Tensor()};
}

}  // namespace dre
