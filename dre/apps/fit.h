/// From two sets of rows to an estimator of their log density ratio.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dre/base/progress.h"
#include "dre/data/samples.h"
#include "dre/objective/make_objective.h"
#include "dre/ratio/estimator.h"
#include "dre/times/sampler.h"
#include "dre/train/trainer.h"

namespace dre {

/// Every choice of a fit; a bridge "auto" is resolved by the method.
struct FitOptions {
  std::string method = "auto";
  std::string reference = "gaussian";
  bool correction = true;
  double guard = 3;
  double held_out = 0.2;
  int64_t seed = 0;
  std::string device = "auto";
  BridgeOptions bridge;
  ScoreOptions score;
  ObjectiveOptions objective;
  TimeOptions times;
  TrainOptions train;
  ColumnTransformOptions columns;

  FitOptions() { bridge.bridge = "auto"; }
  void visit(OptionVisitor& v);
};

/// How one member was trained.
struct MemberReport {
  std::string method;
  std::string bridge;
  TrainResult training;
  bool kept = true;  ///< false: without weight, since no gain over the reference is sure
  double held_out_logistic = 0;  ///< of its log r, as log-odds between the sides
  double seconds = 0;
};

struct FitResult {
  Estimator estimator;
  std::vector<MemberReport> members;
  Tensor held_out_numerator, held_out_denominator;  ///< rows that training did not see, int64
  bool interrupted = false;  ///< then the estimator has the members that were finished before
};

/// Where a long fit puts its state, and the state to go on from.
struct Checkpointing {
  std::function<void(const NamedTensors&)> save;  ///< empty: no checkpoints
  NamedTensors resume;                            ///< empty: from the start
};

/// Fits `options.method` to the rows of the two sides. Everything random comes from `options.seed`.
///
/// "auto" trains the which-time and the telescoping classifier and averages them, the latter alone
/// where too few rows are held out to show every time. With a reference,
/// a member that does not beat it on held-out rows by `guard` standard errors of its own objective
/// gets no weight; where none does, or all together do not tell the held-out sides apart better,
/// the reference is the answer; of columns with atoms it is the reference and the share of what all
/// members learned that the held-out rows are sure of. The reference is Gaussian, of tables whose
/// rows repeat together with what the counts of rows say.
FitResult fit(const Samples& numerator, const Samples& denominator,
              const std::vector<std::string>& names, const FitOptions& options, Progress& progress,
              const Checkpointing& checkpointing = {});

/// "auto" and every method by name.
Names fit_method_names();

}  // namespace dre
