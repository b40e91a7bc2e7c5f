#include "dre/integrate/status.h"

#include "dre/base/error.h"

namespace dre {

std::string describe(Status status) {
  switch (status) {
    case Status::ok:
      return "within the tolerances";
    case Status::not_converged:
      return "the tolerances were not reached: raise rtol and atol, allow more evaluations or "
             "steps, or compute in float64 when the integrand is noisy";
    case Status::non_finite:
      return "the integrand was NaN or infinite: keep the interval away from singular ends, look "
             "for rows far outside the training data, or compute in float64";
  }
  fail(Error::Kind::internal, "status ", static_cast<int>(status), " has no text");
}

}  // namespace dre
