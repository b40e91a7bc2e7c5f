#include "dre/integrate/quadrature.h"

#include "dre/base/error.h"
#include "dre/integrate/sampler.h"
#include "dre/integrate/tail.h"

namespace dre {

Integral gauss_legendre(const RowIntegrand& integrand, int64_t rows, double from, double to,
                        int64_t nodes, const QuadratureOptions& options,
                        const torch::TensorOptions& tensors) {
  const torch::NoGradGuard no_grad;
  validate(options);
  check_interval(rows, from, to);
  check(nodes >= 5, "an error estimate needs at least 5 Gauss-Legendre nodes, got ", nodes);
  const RuleLevel rule = legendre(nodes).levels.front();
  RowSampler sample(integrand, options, tensors);
  const double half = (to - from) / 2;
  const Tensor places = torch::tensor(rule.new_nodes, sample.sums());
  const Tensor t = (from + half + half * places).expand({rows, nodes});
  const Tensor samples = sample(torch::arange(rows, sample.counts()), t);
  const TailRule tail(rule.new_nodes, rule.weights, rule.degree, sample.sums());
  const TailRule::Sums sums = tail(samples, torch::full({rows}, half, sample.sums()));
  const Tensor evaluations = torch::full({rows}, nodes, sample.counts());
  return conclude({sums.value, sums.tail, sums.absolute, evaluations}, options, sample.noise());
}

}  // namespace dre
