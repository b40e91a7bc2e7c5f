/// Whether the weights r make the denominator look like the numerator, asked of a classifier that
/// starts afresh.
#pragma once

#include <optional>

#include "dre/apps/fit.h"
#include "dre/base/warning.h"
#include "dre/ratio/correction.h"

namespace dre {

/// AUC of a fresh classifier between the numerator and the denominator weighted by r, on rows that
/// it has not seen: 0.5 where it finds no difference. NaN where the weights leave too few rows to
/// train one, or rows that cannot be fitted; nothing where it was interrupted. log_ratio: [n] of
/// the denominator's rows; `options`: of the classifier, whose method is always NCE; it trains on
/// `fit_rows` rows a side at most.
std::optional<Measured> auc_after_reweighting(const Samples& numerator, const Samples& denominator,
                                              const Tensor& log_ratio,
                                              const std::vector<std::string>& names,
                                              FitOptions options, int64_t fit_rows,
                                              Progress& progress);

/// Whether that AUC surely says that the sides still differ.
bool still_different(const Measured& auc);

std::vector<Warning> judge_reweighting(const Measured& auc);

}  // namespace dre
