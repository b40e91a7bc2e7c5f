/// How a numerical computation ended. Numerical trouble is a value, not an exception.
#pragma once

#include <string>

namespace dre {

enum class Status {
  ok,             ///< every estimated error is within its tolerance
  not_converged,  ///< the budget of evaluations or steps was spent before that
  non_finite,     ///< the integrand or vector field gave NaN or infinity
};

/// One line that says what happened and what to do about it.
std::string describe(Status status);

}  // namespace dre
