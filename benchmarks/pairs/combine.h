/// Densities made of densities: mixtures, independent blocks, images under a map.
#pragma once

#include <vector>

#include "benchmarks/pairs/density.h"
#include "benchmarks/pairs/map.h"

namespace dre::pairs {

/// sum_k weight_k p_k. weights: positive, in float64, normalised here
DensityPtr mixture(const std::vector<double>& weights, std::vector<DensityPtr> components);

/// Independent blocks of coordinates, one after the other.
DensityPtr product(std::vector<DensityPtr> blocks);

/// The distribution of map(z) for z ~ base. Onto a surface, the density is the one with respect to
/// the surface's own area; ratios of two such densities on one surface are ratios as usual.
DensityPtr pushforward(DensityPtr base, MapPtr map);

}  // namespace dre::pairs
