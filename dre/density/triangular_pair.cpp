#include "dre/density/triangular_pair.h"

#include "dre/base/error.h"

namespace dre {

TriangularPair::TriangularPair(Parameters& parameters, const std::string& name, int64_t size,
                               const Context& context)
    : entries_(parameters.add(name + ".entries", at::zeros({size, size}, context.options()))) {}

Tensor TriangularPair::lower() const {
  return entries_.tril(-1) + at::eye(size(), entries_.options());
}

Tensor TriangularPair::upper() const { return entries_.triu(1) + entries_.diagonal().exp().diag(); }

Tensor TriangularPair::matrix() const { return at::matmul(lower(), upper()); }

Tensor TriangularPair::inverse() const {
  const Tensor identity = at::eye(size(), entries_.options());
  const Tensor half = at::linalg_solve_triangular(lower(), identity, /*upper=*/false, true, true);
  return at::linalg_solve_triangular(upper(), half, /*upper=*/true);
}

Tensor TriangularPair::log_determinant() const { return entries_.diagonal().sum(); }

void TriangularPair::set(const Tensor& symmetric) {
  const torch::NoGradGuard no_grad;
  check(symmetric.sizes() == entries_.sizes(), "the matrix must be ", entries_.sizes(), ", got ",
        symmetric.sizes());
  // W = C C' gives L = C D^-1 and U = D C' with D the diagonal of C.
  const Tensor root = at::linalg_cholesky(symmetric);
  const Tensor diagonal = root.diagonal();
  entries_.copy_((root / diagonal).tril(-1) + (root * diagonal).t().triu(1) +
                 (2 * diagonal.log()).diag());
}

}  // namespace dre
