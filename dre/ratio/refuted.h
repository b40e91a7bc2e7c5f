/// Log-ratios that the rows themselves refute.
///
/// Of the numerator's law at most e^-L is where log r < -L, for there p0 = r p1 < e^-L p1; of the
/// denominator's at most e^-L where log r > L. Where many more rows are so far on the wrong side,
/// estimates are wrong, however sure they are: rows that break a rule which all others keep get
/// log-ratios of thousands from models that have not seen them, and one of them outweighs a table.
#pragma once

#include <limits>

#include "dre/ratio/correction.h"

namespace dre {

/// Log-ratios below `low` and above `high` are refuted; what the numbers of rows there say takes
/// their place.
struct RefutedEnds {
  double low = -std::numeric_limits<double>::infinity(), below = 0;
  double high = std::numeric_limits<double>::infinity(), above = 0;

  Tensor operator()(const Tensor& log_ratio) const;
};

/// Refuted is what would put e^5 times as many rows on the wrong side as can be: rows of a true
/// ratio do so with a probability below e^-5, and a model that is merely too sure is left to
/// recalibration. Rows of weight 0 have no say.
RefutedEnds refuted_ends(const RatedRows& numerator, const RatedRows& denominator);

}  // namespace dre
