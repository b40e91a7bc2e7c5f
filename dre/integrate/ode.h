/// Ordinary differential equations y' = f(y, t) for a batch of states, by explicit Runge-Kutta.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/integrate/status.h"

namespace dre {

/// y: [n, k] -> [n, k]
using VectorField = std::function<Tensor(const Tensor& y, double t)>;

struct OdeSolution {
  Tensor y;      ///< [n, k], at `to` or where the status stopped it
  Tensor error;  ///< [n] float64, sum over steps of the largest local error; NaN for fixed steps
  int64_t evaluations = 0;
  int64_t accepted = 0;  ///< steps
  int64_t rejected = 0;
  Status status = Status::ok;
};

struct OdeOptions {
  std::string method = "rk45";
  double rtol = 1e-5;
  double atol = 1e-5;
  std::string norm = "rms";
  int64_t max_steps = 10000;
  int64_t steps = 20;

  void visit(OptionVisitor& v) {
    v("method", method, {"rk45", "rk4"}, "adaptive Dormand-Prince 5(4), or fixed steps of order 4");
    v("rtol", rtol, at_least(0), "relative error allowed a step (rk45)");
    v("atol", atol, at_least(0), "absolute error allowed a step (rk45)");
    v("norm", norm, {"rms", "max"},
      "what a step's error is (rk45): rms over the whole batch as one system, or the rms of the "
      "worst row");
    v("max_steps", max_steps, at_least(1), "steps tried before giving up (rk45)");
    v("steps", steps, at_least(1), "equal steps (rk4)");
  }
};

/// From y0: [n, k] at `from` to `to`, which may lie below it. All rows take the same steps. The
/// adaptive method's first step and step control are those of Hairer, Nørsett & Wanner (II.4) with
/// the constants of scipy's solve_ivp: 2 evaluations to start and 6 for each step tried.
OdeSolution solve_ode(const VectorField& field, const Tensor& y0, double from, double to,
                      const OdeOptions& options);

}  // namespace dre
