/// Integrals over time of many rows at once: I_i = ∫ f_i(t) dt, one f_i a row of the batch.
/// Nodes and rows go into the integrand together, and rows leave the batch when they are done.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/integrate/rules.h"
#include "dre/integrate/status.h"

namespace dre {

/// rows: [m] int64 indices into the batch, t: [m] -> [m]; one call serves many (row, node) pairs.
using RowIntegrand = std::function<Tensor(const Tensor& rows, const Tensor& t)>;

/// The sums are float64 whatever the integrand computes in.
struct Integral {
  Tensor value;             ///< [n] float64; NaN where the integrand was not finite
  Tensor error;             ///< [n] float64, estimated absolute error; infinite where value is NaN
  int64_t evaluations = 0;  ///< the most evaluations of the integrand that a row needed
  Tensor row_evaluations;   ///< [n] int64
  Status status = Status::ok;
};

/// Errors are estimated from the tail of the Legendre series (see tail.h) and the difference of
/// consecutive rules. A row is done when its estimated error is at most max(atol, rtol |I|), or
/// when all rules of the sequence together promise that, which is less cautious: then it tells this
/// tolerance as its error. Below ten roundings of the integrand's own precision, 10 eps ∫|f|,
/// differences of rules are noise: no row is refined to chase them, and `error` never claims less.
/// For a float32 integrand that is about 1.2e-6 ∫|f|.
struct QuadratureOptions {
  double rtol = 1e-5;
  double atol = 1e-5;
  int64_t max_evaluations = 1000;
  int64_t max_points_per_call = 1 << 16;

  void visit(OptionVisitor& v) {
    v("rtol", rtol, at_least(0), "relative error allowed for each row");
    v("atol", atol, at_least(0), "absolute error allowed for each row");
    v("max-evaluations", max_evaluations, at_least(1), "evaluations of the integrand for each row");
    v("max-points-per-call", max_points_per_call, at_least(1),
      "(row, node) pairs evaluated at once; bounds the memory");
  }
};

/// Adaptive quadrature from `from` to `to` by the rules of `rule`: each row climbs the sequence
/// until it is done; a row whose finest rule is still too coarse is bisected, and its panels climb
/// in turn while their error exceeds an equal share of the row's tolerance.
/// `tensors` is the type and device of the t that the integrand gets.
Integral gauss_kronrod(const RowIntegrand& integrand, int64_t rows, double from, double to,
                       const QuadratureOptions& options, const torch::TensorOptions& tensors,
                       const NestedRule& rule = patterson());

/// The fixed Gauss-Legendre rule of `nodes` >= 5 points for every row, its error judged by the tail
/// alone.
Integral gauss_legendre(const RowIntegrand& integrand, int64_t rows, double from, double to,
                        int64_t nodes, const QuadratureOptions& options,
                        const torch::TensorOptions& tensors);

}  // namespace dre
