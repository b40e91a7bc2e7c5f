#include "dre/ratio/path.h"

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/integrate/ode.h"
#include "dre/score/make_score.h"

namespace dre {
namespace {

/// Between the path's ends and the sides: what the Gaussian closed form says the ends lack.
Tensor end_correction(const GaussianPath& gaussian, const Tensor& x) {
  return gaussian.log_ratio(x) - gaussian.path_log_ratio(x);
}

/// log r from what the score adds to its reference: the closed form where it has one, else the end
/// correction alone.
Tensor complete(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                const Tensor& residual) {
  return residual + (score.reference() ? gaussian.log_ratio(x) : end_correction(gaussian, x));
}

template <class Ability>
const Ability& need(const Score& score, const char* path, AbilityKind kind) {
  const auto* found = ability<Ability>(score);
  check(found, "the ", path, " path needs a model of the method ", join(methods_with(kind), " or "),
        "; this model's method does not offer it");
  return *found;
}

/// int_0^1 s_x(x + u (z - x), t = end).(z - x) du = log p_end(z) - log p_end(x).
Integral log_density_difference(const DataScore& score, const Tensor& x, const Tensor& z,
                                const IntegrateOptions& options) {
  const double end = score.bridge().interval().to;
  const Tensor step = z - x;
  const RowIntegrand integrand = [&](const Tensor& rows, const Tensor& u) {
    const Tensor direction = step.index_select(0, rows);
    const Tensor point = x.index_select(0, rows) + u.unsqueeze(1) * direction;
    const Tensor t = torch::full({rows.size(0), 1}, end, x.options());
    return (score.data_score(point, t).value * direction).sum(1);
  };
  return integrate(integrand, x.size(0), 0, 1, options, x.options());
}

Status worse(Status a, Status b) { return a == Status::ok ? b : a; }

}  // namespace

PathRatio horizontal_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                           const IntegrateOptions& options) {
  torch::NoGradGuard no_grad;
  if (const auto* direct = ability<DirectRatio>(score)) {
    const Tensor residual = direct->ratio_residual(x).to(torch::kFloat64);
    return {complete(score, gaussian, x, residual), torch::zeros_like(residual), 1, Status::ok};
  }
  const auto* time = ability<TimeScore>(score);
  check(time, "the score offers neither a time score nor a ratio");
  const RowIntegrand integrand = [&](const Tensor& rows, const Tensor& t) {
    return time->time_residual(x.index_select(0, rows), t.unsqueeze(1)).value;
  };
  const Interval range = score.bridge().interval();
  const Integral integral =
      integrate(integrand, x.size(0), range.to, range.from, options, x.options());
  return {complete(score, gaussian, x, integral.value), integral.error, integral.evaluations,
          integral.status};
}

PathRatio line_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                     const IntegrateOptions& options) {
  return line_ratio_to(score, gaussian, x, gaussian.transport(x), options);
}

PathRatio line_ratio_to(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                        const Tensor& z, const IntegrateOptions& options) {
  torch::NoGradGuard no_grad;
  check(z.sizes() == x.sizes(), "z must have the shape of x, ", x.sizes(), ", got ", z.sizes());
  const auto& data = need<DataScore>(score, "line", AbilityKind::data_score);
  const auto& time = need<TimeScore>(score, "line", AbilityKind::data_score);
  const Interval range = score.bridge().interval();
  const Tensor step = (z - x) / range.length();
  const RowIntegrand integrand = [&](const Tensor& rows, const Tensor& t) {
    const Tensor direction = step.index_select(0, rows), column = t.unsqueeze(1);
    const Tensor point = x.index_select(0, rows) + (column - range.from) * direction;
    return time.time_score(point, column).value +
           (data.data_score(point, column).value * direction).sum(1);
  };
  const Integral along =
      integrate(integrand, x.size(0), range.to, range.from, options, x.options());
  const Integral back = log_density_difference(data, x, z, options);
  return {along.value + back.value + end_correction(gaussian, x), along.error + back.error,
          along.evaluations + back.evaluations, worse(along.status, back.status)};
}

PathRatio flow_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                     const IntegrateOptions& options) {
  torch::NoGradGuard no_grad;
  const auto& field = need<FlowField>(score, "flow", AbilityKind::flow);
  const auto& data = need<DataScore>(score, "flow", AbilityKind::flow);
  const int64_t d = x.size(1);
  // The state is (y, accumulated divergence).
  const VectorField motion = [&](const Tensor& state, double t) {
    const Tensor time = torch::full({state.size(0), 1}, t, state.options());
    const FlowPoint flow = field.flow(state.slice(1, 0, d), time);
    return torch::cat({flow.velocity.value, flow.divergence.unsqueeze(1)}, 1);
  };
  OdeOptions ode;
  ode.rtol = options.rtol;
  ode.atol = options.atol;
  const Interval range = score.bridge().interval();
  const Tensor start = torch::cat({x, torch::zeros({x.size(0), 1}, x.options())}, 1);
  const OdeSolution solution = solve_ode(motion, start, range.from, range.to, ode);
  const Tensor arrived = solution.y.slice(1, 0, d).contiguous();
  const Integral back = log_density_difference(data, x, arrived, options);
  const Tensor divergence = solution.y.select(1, d).to(torch::kFloat64);
  return {divergence + back.value + end_correction(gaussian, x), solution.error + back.error,
          solution.evaluations + back.evaluations, worse(solution.status, back.status)};
}

Names path_names() { return {"horizontal", "line", "flow"}; }

void check_path(const std::string& path, const Score& score) {
  check(contains(path_names(), path), "unknown path '", path, "'; known are ", join(path_names()));
  if (path == "line") need<DataScore>(score, "line", AbilityKind::data_score);
  if (path == "flow") need<FlowField>(score, "flow", AbilityKind::flow);
}

PathRatio path_ratio(const std::string& path, const Score& score, const GaussianPath& gaussian,
                     const Tensor& x, const IntegrateOptions& options) {
  check_path(path, score);
  if (path == "line") return line_ratio(score, gaussian, x, options);
  if (path == "flow") return flow_ratio(score, gaussian, x, options);
  return horizontal_ratio(score, gaussian, x, options);
}

}  // namespace dre
