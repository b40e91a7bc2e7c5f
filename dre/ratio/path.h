/// From scores to log-ratios along a path in (x, t). All paths give the same log r when the score
/// is exact.
#pragma once

#include "dre/base/options.h"
#include "dre/integrate/integrate.h"
#include "dre/score/score.h"

namespace dre {

/// log r of each row, how sure the numerics are of it, and what it cost.
struct PathRatio {
  Tensor log_ratio;         ///< [n], float64
  Tensor error;             ///< [n], float64: estimated error of the numerical integration alone
  int64_t evaluations = 0;  ///< network evaluations of the row that needed most
  Status status = Status::ok;
};

/// Horizontal: x stays, t runs. Only the residual of the reference is integrated; classifiers need
/// no integral. x: [n, d] in the score's coordinates.
PathRatio horizontal_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                           const IntegrateOptions& options);

/// Line y(t) = x + t (z - x) to z = m1 + A(x - m0), the Gaussian transport of x, then back to x
/// at t = 1 by the data score: log r = -int s + s_x.(z - x) dt + int s_x(x + u (z - x), 1).(z - x)
/// du. Needs a data score.
PathRatio line_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                     const IntegrateOptions& options);

/// The same to points z that the caller chooses, such as rows of the denominator. z: [n, d]
PathRatio line_ratio_to(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                        const Tensor& z, const IntegrateOptions& options);

/// Along the learned flow y' = u(y, t): log r = int div u dt + log p(y(1)) - log p(x), the last two
/// by the data score on the line from x to y(1) at t = 1. Needs a flow field and a data score.
PathRatio flow_ratio(const Score& score, const GaussianPath& gaussian, const Tensor& x,
                     const IntegrateOptions& options);

/// "horizontal", "line", "flow".
Names path_names();

/// Usage error where there is no such path, or the score lacks what it needs beyond a time score,
/// naming the methods that have it.
void check_path(const std::string& path, const Score& score);

/// The path by name; checks it.
PathRatio path_ratio(const std::string& path, const Score& score, const GaussianPath& transport,
                     const Tensor& x, const IntegrateOptions& options);

}  // namespace dre
