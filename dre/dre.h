/// The promise to users: what this header brings stays.
///
///     dre::Progress silent;
///     const dre::FitResult result = dre::fit(numerator, denominator, names, {}, silent);
///     const torch::Tensor log_ratio = result.estimator.log_ratio(rows).log_ratio;
#pragma once

#include "dre/apps/compare.h"
#include "dre/apps/fit.h"
#include "dre/apps/mutual_information.h"
#include "dre/apps/weights.h"
#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/base/named_tensors.h"
#include "dre/base/names.h"
#include "dre/base/options.h"
#include "dre/base/progress.h"
#include "dre/base/version.h"
#include "dre/data/samples.h"
#include "dre/ratio/estimator.h"
#include "dre/ratio/model_file.h"
