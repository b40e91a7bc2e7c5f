/// Log-ratios that the rows themselves refute are not believed.
///
/// Of the numerator's law at most e^-L is where log r < -L, for there p0 = r p1 < e^-L p1; of the
/// denominator's at most e^-L where log r > L. Where many more rows are so far on the wrong side,
/// estimates are wrong, however sure they are: rows that break a rule which all others keep get
/// log-ratios of thousands from models that have not seen them, and one of them outweighs a table.
#pragma once

#include <limits>

#include "dre/ratio/correction.h"

namespace dre {

/// Log-ratios below `low` and above `high` are not believed; what the numbers of rows there say
/// takes their place. Those that are not finite stay, for others to notice.
struct BelievedRange {
  double low = -std::numeric_limits<double>::infinity(), below = 0;
  double high = std::numeric_limits<double>::infinity(), above = 0;

  Tensor operator()(const Tensor& log_ratio) const;
};

/// Ends where e^5 times as many rows are on the wrong side as even a model that is twice too sure
/// could have there, which recalibration is for. The rows of such a model lead to an end with a
/// probability below e^-5 each. Beyond the last of these rows the other side has at most e^5 times
/// as many up to the end: one wrong row does not outweigh a thousand. Rows of weight 0 have no say.
BelievedRange believed_range(const RatedRows& numerator, const RatedRows& denominator);

}  // namespace dre
