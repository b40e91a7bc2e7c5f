/// The suite of pairs on which all methods are compared, by name.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/pairs/pair.h"
#include "dre/base/names.h"

namespace dre::pairs {

using PairRow = Named<PairParts (*)()>;

/// Two distributions of one table: shifts, scales, tails, mixtures, warps, null pairs.
std::vector<PairRow> two_sample_rows();

/// Tables of categories, as indicators of all levels but the first, and of counts: what repeats has
/// a probability, and the ratio is one of probabilities.
std::vector<PairRow> atom_rows();

/// Joint distributions over the product of their marginals; KL is the mutual information.
std::vector<PairRow> mutual_information_rows();

/// All of them.
std::vector<PairRow> pair_table();

/// An unknown name is a usage error that lists the known ones.
Pair pair_by_name(const std::string& name);

}  // namespace dre::pairs
