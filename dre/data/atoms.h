/// Noise for columns without a density. Categories, counts and rounded numbers have atoms: a bridge
/// without noise between two sets of atoms passes through places that neither side has, and its
/// score is not integrable. Every atom becomes a narrow normal bump, the same on both sides, so at
/// the atom itself the ratio of the densities is the ratio of the two probabilities.
#pragma once

#include <vector>

#include "dre/data/samples.h"

namespace dre {

class AtomNoise final {
 public:
  /// A column has atoms where on each side at most half of the values, in a sample, are different.
  /// The bump of an atom has a fifth of the distance to its nearest neighbour as its standard
  /// deviation, so that it adds less than 1e-5 of its height to the next atom.
  static AtomNoise fit(const Samples& numerator, const Samples& denominator);

  bool any() const { return !columns_.empty(); }
  bool everywhere() const { return static_cast<int64_t>(columns_.size()) == all_columns_; }

  /// Fresh noise on the columns with atoms; without any the samples themselves.
  Samples add(const Samples& samples, at::Generator& generator) const;

 private:
  struct Column {
    int64_t place;
    Tensor value, width;  ///< [m], float64, ascending; standard deviation of each atom's bump
  };
  std::vector<Column> columns_;
  int64_t all_columns_ = 0;
};

}  // namespace dre
