#include "dre/score/time_scores.h"

#include "dre/score/reference.h"

namespace dre {

Dual ScalarScore::time_residual(const Dual& x, const Dual& t) const {
  return sum(outputs(x, t), 1);
}

Dual CoordinateScore::time_residual(const Dual& x, const Dual& t) const {
  return sum(outputs(x, t), 1);
}

Tensor CoordinateScore::coordinate_scores(const Tensor& x, const Tensor& t) const {
  const Tensor residual = outputs(x, t).value;
  return reference() ? residual + reference()->time_score(x, t).value : residual;
}

Dual JointScore::time_residual(const Dual& x, const Dual& t) const {
  return sum(narrow(outputs(x, t), 0, 1), 1);
}

Dual JointScore::data_score(const Dual& x, const Dual& t) const {
  const Dual residual = narrow(outputs(x, t), 1, dimension());
  return reference() ? residual + reference_data_score(*reference(), x, t) : residual;
}

JointScore::Both JointScore::both(const Dual& x, const Dual& t) const {
  const Dual out = outputs(x, t);
  Both result{sum(narrow(out, 0, 1), 1), narrow(out, 1, dimension())};
  if (reference()) {
    result.time = result.time + sum(reference_time_score(*reference(), x, t), 1);
    result.data = result.data + reference_data_score(*reference(), x, t);
  }
  return result;
}

}  // namespace dre
