/// What the counts of rows that repeat say beyond the reference. In tables of categories and counts
/// every row has a probability on each side, and how often it was seen there needs no network: with
/// n0 and n1 of the two sides at a row, n0 is binomial of n0 + n1 with log-odds log r, up to the
/// sizes of the sides. Rows differ from the reference at random, as if they had the odds of the
/// reference in kappa rows seen before (a beta-binomial law): the kappa under which the counts are
/// most likely says how far single counts are believed.
#pragma once

#include "dre/base/named_tensors.h"
#include "dre/data/samples.h"

namespace dre {

class CellTable final {
 public:
  /// Nothing beyond the reference.
  CellTable() = default;

  /// numerator, denominator: rows in working coordinates; reference0, reference1: log r of theirs,
  /// [n] each. Empty unless the counts ask for it by `guard` standard errors, and where rows do not
  /// repeat: ten of them for every different one.
  static CellTable fit(const Samples& numerator, const Tensor& reference0,
                       const Samples& denominator, const Tensor& reference1, double guard);

  bool empty() const { return !key_.defined(); }
  int64_t size() const { return empty() ? 0 : key_.size(0); }

  /// What to add to the reference's log r; zero at rows that were never seen. z: [n, d] -> [n]
  Tensor deviation(const Tensor& z) const;

  NamedTensors tensors() const;
  static CellTable load(const NamedTensors& tensors);

 private:
  Tensor key_;        ///< [m], int64, ascending: what stands for a row
  Tensor deviation_;  ///< [m], float64
};

}  // namespace dre
