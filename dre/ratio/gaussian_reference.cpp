#include "dre/ratio/gaussian_reference.h"

#include "dre/ratio/correction.h"

namespace dre {

GaussianEnds gaussian_reference(const Moments& moments, const Samples& numerator,
                                const Samples& denominator) {
  const Moments sure = threshold(moments, effective_size(numerator), effective_size(denominator));
  return {sure.mean0, sure.variance0, sure.mean1, sure.variance1};
}

GaussianEnds gaussian_reference_at_atoms(const GaussianEnds& ends, const Samples& numerator,
                                         const Samples& denominator) {
  const double size0 = effective_size(numerator), size1 = effective_size(denominator);
  const Tensor pooled = (size0 * ends.variance0 + size1 * ends.variance1) / (size0 + size1);
  struct Rated {
    GaussianEnds ends;
    RatedRows numerator, denominator;
    double loss;
  };
  const auto rated = [&](double share) -> Rated {
    const auto variance = [&](const Tensor& own) { return pooled * (own / pooled).pow(share); };
    const GaussianEnds way{ends.mean0, variance(ends.variance0), ends.mean1,
                           variance(ends.variance1)};
    const RatedRows top{gaussian_log_ratio(way, numerator.x), numerator.weights()};
    const RatedRows bottom{gaussian_log_ratio(way, denominator.x), denominator.weights()};
    return {way, top, bottom, logistic_loss(top, bottom)};
  };
  const Rated one = rated(0);
  if (deciding_rows(one.numerator, one.denominator) < fewest_deciding_rows) return ends;
  Rated best = one;
  for (const double share : {0.2, 0.4, 0.6, 0.8, 1.0})
    if (Rated other = rated(share); other.loss < best.loss) best = std::move(other);
  const Measured gain =
      logistic_gain(one.numerator, one.denominator, best.numerator, best.denominator);
  return gain.value > 2 * gain.standard_error ? best.ends : one.ends;
}

}  // namespace dre
