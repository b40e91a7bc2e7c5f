/// The Gaussian reference path's scores as functions of duals, [n, d] each.
#pragma once

#include "dre/bridge/gaussian_path.h"
#include "dre/dual/dual.h"

namespace dre {

Dual reference_time_score(const GaussianPath& path, const Dual& x, const Dual& t);
Dual reference_data_score(const GaussianPath& path, const Dual& x, const Dual& t);
Dual reference_velocity(const GaussianPath& path, const Dual& x, const Dual& t);
Dual reference_contraction(const GaussianPath& path, const Dual& x, const Dual& t);

/// A coefficient of the bridge at t, with its change along t's tangent.
Dual along(const Tensor& value, const Tensor& derivative, const Dual& t);

}  // namespace dre
