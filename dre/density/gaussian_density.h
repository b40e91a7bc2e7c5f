/// The Gaussian with full covariance. Its latent space is the ZCA-whitened one, z = V^-1/2 (x - m)
/// with the symmetric root, in which images still look like images.
#pragma once

#include "dre/density/density.h"

namespace dre {

class GaussianDensity final : public Density {
 public:
  /// mean: [d], covariance: [d, d], symmetric and positive definite. Roots are taken in float64.
  GaussianDensity(const Tensor& mean, const Tensor& covariance, const Context& context);

  std::string name() const override { return "gaussian"; }
  int64_t dimension() const override { return mean_.size(0); }
  torch::TensorOptions options() const override { return mean_.options(); }
  Moved to_latent(const Tensor& x) const override;
  Moved from_latent(const Tensor& z) const override;
  nlohmann::json description() const override;
  NamedTensors tensors() const override;

  static DensityPtr make(const nlohmann::json& description, const NamedTensors& tensors,
                         const Context& context);

 private:
  Tensor mean64_, covariance64_;         ///< as given, for the file
  Tensor mean_, whitening_, colouring_;  ///< V^-1/2 and V^1/2
  Tensor log_determinant_;               ///< [], of x -> z
};

/// Mean and covariance of rows that come in blocks, in float64 where the rows are.
class GaussianFit final {
 public:
  /// rows: [n, d]
  void add(const Tensor& rows);

  /// The maximum-likelihood Gaussian. A data error where the rows do not fill all directions.
  GaussianDensity density(const Context& context) const;

 private:
  int64_t rows_ = 0;
  Tensor shift_;          ///< mean of the first block: keeps the squares small
  Tensor sum_, squares_;  ///< of rows - shift
};

}  // namespace dre
