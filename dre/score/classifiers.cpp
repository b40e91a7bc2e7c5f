#include "dre/score/classifiers.h"

#include <utility>

#include "dre/base/error.h"
#include "dre/score/chebyshev.h"

namespace dre {

Tensor ClassifierScore::ratio_residual(const Tensor& x) const {
  return outputs(x, {}).value.squeeze(1);
}

Tensor waymark_times(const Bridge& bridge, int64_t count) {
  check(count >= 2, "a bridge needs at least 2 waymarks, got ", count);
  const Interval range = bridge.interval();
  return torch::linspace(range.from, range.to, count, torch::kFloat64);
}

TelescopeScore::TelescopeScore(ScoreParts parts, const Tensor& times) : Score(std::move(parts)) {
  const int64_t waymarks = network().outputs() + 1;
  check(!times.defined() || times.sizes() == torch::IntArrayRef({waymarks}), "a telescope of ",
        waymarks - 1, " pairs needs ", waymarks, " times");
  // Where the network is: a step that is recorded as a graph cannot wait for the host.
  times_ = (times.defined() ? times : waymark_times(bridge(), waymarks))
               .to(network().parameters().named().front().second.device(), torch::kFloat64);
}

Tensor TelescopeScore::ratio_residual(const Tensor& x) const { return outputs(x, {}).value.sum(1); }

Tensor TelescopeScore::logits(const Tensor& x) const {
  const Tensor residual = outputs(x, {}).value;
  if (!reference()) return residual;
  const Tensor log_densities = reference()->log_densities(x, times_).to(x.scalar_type());
  return residual + log_densities.slice(1, 0, -1) - log_densities.slice(1, 1);
}

WhichTimeScore::WhichTimeScore(ScoreParts parts)
    : Score(std::move(parts)), times_(waymark_times(bridge(), network().outputs())) {}

Tensor WhichTimeScore::ratio_residual(const Tensor& x) const {
  const Tensor out = outputs(x, {}).value;
  return out.select(1, 0) - out.select(1, -1);
}

Tensor WhichTimeScore::logits(const Tensor& x) const {
  const Tensor residual = outputs(x, {}).value;
  return reference() ? residual + reference()->log_densities(x, times_).to(x.scalar_type())
                     : residual;
}

Dual ContinuousWhichTimeScore::time_residual(const Dual& x, const Dual& t) const {
  const Dual heads = outputs(x, {});
  const Chebyshev basis = chebyshev(t.value.squeeze(1), network().outputs());
  const Dual rate =
      t.has_tangent() ? Dual(basis.first, basis.second * t.tangent) : Dual(basis.first);
  return sum(heads * rate, 1);
}

Tensor ContinuousWhichTimeScore::ratio_residual(const Tensor& x) const {
  const Interval range = bridge().interval();
  const Tensor ends = torch::tensor({range.from, range.to}, torch::kFloat64).to(x.options());
  const Tensor basis = chebyshev(ends, network().outputs()).value;
  return outputs(x, {}).value.matmul(basis[0] - basis[1]);
}

Tensor ContinuousWhichTimeScore::logits(const Tensor& x, const Tensor& t) const {
  const Tensor basis = chebyshev(t, network().outputs()).value;
  const Tensor residual = outputs(x, {}).value.matmul(basis.t());
  return reference() ? residual + reference()->log_densities(x, t).to(x.scalar_type()) : residual;
}

}  // namespace dre
