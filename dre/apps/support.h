/// Where one side has rows and the other has none, so that the ratio is infinite.
#pragma once

#include <vector>

#include "dre/base/warning.h"
#include "dre/data/encoding.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/samples.h"

namespace dre {

/// Rows of one side where the other would need more rows than it has to show one (log r > log of
/// its rows), or that lie beyond where it ends in a column, see without_counterpart().
struct Support {
  double numerator_outside = 0;    ///< share of the numerator's rows
  double denominator_outside = 0;  ///< share of the denominator's rows

  /// Shares up to this one are explained by chance and by errors of log r.
  static constexpr double noticed = 0.01;
};

/// The same with the rows whose rare levels the other side does not have, which no sample shows.
Support with_own_levels(Support found, const OwnLevels& own);

/// What the mean of the weights that lead to a side can be: the share of its rows that have a
/// counterpart, as weights reach no others.
double reached(double outside);

/// The share of rows of `side` outside of the support of `other`. log_ratio: [n], log(side / other)
/// at the rows of `side`, which may be a part of them.
double share_outside(const Tensor& log_ratio, const Samples& side, const Samples& other,
                     const Encoding& encoding);

std::vector<Warning> judge_support(const Support& support);

/// Rows of `side` with a value beyond those of `other`, or with a level, a point mass or a missing
/// cell that it never has, or that break a linear rule which all its rows keep (data/planes); where
/// so many do that chance would do it in one of ten thousand tables of equal laws, by each of the
/// three. [n] bool
Tensor beyond_range(const Samples& side, const Samples& other, const Encoding& encoding);

/// The same where the laws may differ: values beyond those of `other` count where so many are no
/// chance at the odds of the sides near its last ones either, so that it ends there. The
/// largest rows of a moderately shifted or wider law are just rare on the other side; of one that
/// is far away they count.
Tensor without_counterpart(const Samples& side, const Samples& other, const Encoding& encoding);

/// That equal laws have such rows on either side, where no row has a weight.
constexpr double chance_of_beyond = 6e-4;

/// How many rows of one side are beyond the range of the other in columns of numbers or break its
/// rules, and at how many ends or by how many rules; both sides in effective rows.
struct BeyondRange {
  double share = 0, rows = 0, other_rows = 0;
  int64_t ends = 0;  ///< 0: no more than chance explains
};

BeyondRange count_beyond_range(const Samples& side, const Samples& other, const Encoding& encoding);

/// Whether there are such rows by a rule, a level, a point mass or missing cells, or by a number
/// where the other side has one value only, or where values repeat and none is common: the ratio is
/// infinite there.
bool has_own_levels(const Samples& side, const Samples& other, const Encoding& encoding);

}  // namespace dre
