#include "dre/density/triangular_pair.h"

#include "dre/base/error.h"

namespace dre {

TriangularPair::TriangularPair(Parameters& parameters, const std::string& name, int64_t size,
                               const Context& context)
    : lower_(parameters.add(name + ".lower", at::zeros({size, size}, context.options()))),
      upper_(parameters.add(name + ".upper", at::zeros({size, size}, context.options()))),
      log_diagonal_(parameters.add(name + ".log_diagonal", at::zeros({size}, context.options()))) {}

Tensor TriangularPair::lower() const { return lower_.tril(-1) + at::eye(size(), lower_.options()); }

Tensor TriangularPair::upper() const { return upper_.triu(1) + log_diagonal_.exp().diag(); }

Tensor TriangularPair::matrix() const { return at::matmul(lower(), upper()); }

Tensor TriangularPair::inverse() const {
  const Tensor identity = at::eye(size(), lower_.options());
  const Tensor half = at::linalg_solve_triangular(lower(), identity, /*upper=*/false, true, true);
  return at::linalg_solve_triangular(upper(), half, /*upper=*/true);
}

Tensor TriangularPair::log_determinant() const { return log_diagonal_.sum(); }

void TriangularPair::set(const Tensor& symmetric) {
  const torch::NoGradGuard no_grad;
  check(symmetric.sizes() == lower_.sizes(), "the matrix must be ", lower_.sizes(), ", got ",
        symmetric.sizes());
  // W = C C' gives L = C D^-1 and U = D C' with D the diagonal of C.
  const Tensor root = at::linalg_cholesky(symmetric);
  const Tensor diagonal = root.diagonal();
  lower_.copy_((root / diagonal).tril(-1));
  upper_.copy_((root * diagonal).t().triu(1));
  log_diagonal_.copy_(2 * diagonal.log());
}

}  // namespace dre
