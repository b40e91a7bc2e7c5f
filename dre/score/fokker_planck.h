/// Time score without a model of its own, from a data score and a known diffusion.
///
/// A one-sided bridge x_t = a x0 + sigma eps has the marginals of dx = f dt + g dw with f = (a'/a)
/// x and g^2 = (sigma^2)' - 2 (a'/a) sigma^2, and the Fokker-Planck equation gives
///
///     d/dt log p = -div f - f.grad log p + g^2/2 ( |grad log p|^2 + Laplacian log p ).
#pragma once

#include "dre/score/score.h"

namespace dre {

/// x: [n, d], t: [n, 1] -> [n]. Costs d + 1 passes through the network: the Laplacian is exact.
Tensor fokker_planck_time_score(const DataScore& score, const Tensor& x, const Tensor& t);

}  // namespace dre
