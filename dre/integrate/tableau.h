/// Explicit Runge-Kutta methods as data: k_i = f(t + c_i h, y + h Σ_j a_ij k_j), y += h Σ_i b_i
/// k_i.
#pragma once

#include <vector>

namespace dre {

struct Tableau {
  int order;
  int error_order;                     ///< of the embedded solution; 0 when there is none
  std::vector<double> c;               ///< where each stage stands within the step
  std::vector<std::vector<double>> a;  ///< row i: weights of the stages before stage i
  std::vector<double> b;               ///< weights of the solution
  std::vector<double> error;           ///< b minus the embedded weights; empty: fixed steps only
  bool first_same_as_last = false;     ///< the last stage is the first of the next step
};

/// Dormand and Prince's 5(4) pair, the method of scipy's RK45.
Tableau dormand_prince();

/// The classical method of order 4.
Tableau classical_rk4();

}  // namespace dre
