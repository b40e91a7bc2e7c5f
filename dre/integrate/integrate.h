/// Integration over time by name: one call for every method that can integrate rows.
#pragma once

#include <string>
#include <vector>

#include "dre/integrate/quadrature.h"

namespace dre {

/// kronrod: nested 3, 7, 15 and 31 points, adaptive for each row. kronrod15 and kronrod31: the
/// plain Gauss-Kronrod pairs, adaptive likewise. legendre: fixed nodes. rk45: the paper's protocol.
std::vector<std::string> integrator_names();

struct IntegrateOptions : QuadratureOptions {
  std::string method = "kronrod";
  int64_t nodes = 31;

  void visit(OptionVisitor& v) {
    v("integrator", method, integrator_names(), "how to integrate over time");
    QuadratureOptions::visit(v);
    v("nodes", nodes, between(5, 1000), "points of the fixed rule (legendre)");
  }
};

/// ∫ f_i(t) dt from `from` to `to` for each of `rows` rows.
Integral integrate(const RowIntegrand& integrand, int64_t rows, double from, double to,
                   const IntegrateOptions& options, const torch::TensorOptions& tensors);

/// The paper's protocol: y_i' = f_i(t) for all rows as one system with one step size, by RK45.
/// Every row is evaluated at every stage, ends included, so singular ends must be left out: the
/// paper integrates from 1 to 1e-5.
Integral runge_kutta(const RowIntegrand& integrand, int64_t rows, double from, double to,
                     const QuadratureOptions& options, const torch::TensorOptions& tensors);

}  // namespace dre
