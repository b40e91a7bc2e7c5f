/// The promise to users: what this header brings stays.
///
///     dre::Progress silent;
///     const dre::Sides sides =
///         dre::make_sides(dre::make_samples(x0), dre::make_samples(x1), names);
///     const dre::FitSidesResult result = dre::fit_sides(sides, {}, silent);
///     const torch::Tensor log_ratio = result.fit.estimator.log_ratio(rows).log_ratio;
///     dre::save_model("model.safetensors", result.fit.estimator);
///
/// load_sides() takes the sides from files, rate_table() writes the log-ratios of a file's rows.
/// Programs call use_threads() at their start: two pools of threads on the same cores are slow.
#pragma once

#include "dre/apps/compare.h"
#include "dre/apps/fit.h"
#include "dre/apps/fit_sides.h"
#include "dre/apps/gate.h"
#include "dre/apps/mutual_information.h"
#include "dre/apps/rate_table.h"
#include "dre/apps/sides.h"
#include "dre/apps/weights.h"
#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/base/named_tensors.h"
#include "dre/base/names.h"
#include "dre/base/options.h"
#include "dre/base/progress.h"
#include "dre/base/threads.h"
#include "dre/base/version.h"
#include "dre/data/reader.h"
#include "dre/data/samples.h"
#include "dre/data/writer.h"
#include "dre/ratio/estimator.h"
#include "dre/ratio/model_file.h"
