#include "dre/integrate/integrate.h"

#include <algorithm>
#include <limits>

#include "dre/base/names.h"
#include "dre/integrate/ode.h"
#include "dre/integrate/sampler.h"

namespace dre {
namespace {

struct Problem {
  const RowIntegrand& integrand;
  int64_t rows;
  double from, to;
  const IntegrateOptions& options;
  const torch::TensorOptions& tensors;
};

Integral nested(const Problem& p, const NestedRule& rule) {
  return gauss_kronrod(p.integrand, p.rows, p.from, p.to, p.options, p.tensors, rule);
}

const std::vector<Named<Integral (*)(const Problem&)>>& table() {
  static const std::vector<Named<Integral (*)(const Problem&)>> rows = {
      {"kronrod", [](const Problem& p) { return nested(p, patterson()); }},
      {"kronrod15", [](const Problem& p) { return nested(p, kronrod15()); }},
      {"kronrod31", [](const Problem& p) { return nested(p, kronrod31()); }},
      {"legendre",
       [](const Problem& p) {
         return gauss_legendre(p.integrand, p.rows, p.from, p.to, p.options.nodes, p.options,
                               p.tensors);
       }},
      {"rk45",
       [](const Problem& p) {
         return runge_kutta(p.integrand, p.rows, p.from, p.to, p.options, p.tensors);
       }},
  };
  return rows;
}

}  // namespace

std::vector<std::string> integrator_names() { return names_of(table()); }

Integral integrate(const RowIntegrand& integrand, int64_t rows, double from, double to,
                   const IntegrateOptions& options, const torch::TensorOptions& tensors) {
  return choose("integrator", table(),
                options.method)({integrand, rows, from, to, options, tensors});
}

Integral runge_kutta(const RowIntegrand& integrand, int64_t rows, double from, double to,
                     const QuadratureOptions& options, const torch::TensorOptions& tensors) {
  const torch::NoGradGuard no_grad;
  validate(options);
  check_interval(rows, from, to);
  RowSampler sample(integrand, options, tensors);
  const Tensor all = torch::arange(rows, sample.counts());
  const VectorField field = [&](const Tensor& y, double t) {
    return sample(all, torch::full_like(y, t));
  };
  OdeOptions ode;
  ode.rtol = options.rtol;
  ode.atol = options.atol;
  ode.max_steps = std::max<int64_t>(1, (options.max_evaluations - 2) / 6);
  const OdeSolution solution =
      solve_ode(field, torch::zeros({rows, 1}, sample.sums()), from, to, ode);
  const bool broken = solution.status == Status::non_finite;
  Integral out;
  out.value = solution.y.squeeze(1);
  if (broken) out.value.fill_(std::numeric_limits<double>::quiet_NaN());
  out.error = broken ? torch::full_like(solution.error, std::numeric_limits<double>::infinity())
                     : solution.error;
  out.evaluations = solution.evaluations;
  out.row_evaluations = torch::full({rows}, solution.evaluations, sample.counts());
  out.status = solution.status;
  return out;
}

}  // namespace dre
