/// Training of an energy model on images: fresh dequantisation noise each step, everything on the
/// device, the step recorded as a graph there.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dre/energy/evaluate.h"
#include "dre/energy/model.h"
#include "dre/objective/make_objective.h"
#include "dre/train/options.h"

namespace dre {

struct EnergyFitOptions {
  EnergyOptions model;
  std::string matching = ObjectiveOptions().matching;  ///< of time and joint score matching
  std::string times = "stratified";
  TrainOptions train;
  EnergyEvaluateOptions looks;
  double minutes = 0;
  int64_t look_samples = 36;
  int64_t look_anneal_steps = 0;
  bool half = true;
  bool graph = true;

  EnergyFitOptions();
  void visit(OptionVisitor& v);

  /// Throws a usage error where they are out of range or do not go together.
  void check() const;
};

/// Whole-numbered pixels, [n, d], uint8, on any device.
struct EnergyData {
  Tensor train;
  Tensor validation;  ///< for looks while training runs, and for the correction
};

/// One look at a running fit.
struct EnergyLook {
  int64_t step = 0;
  double seconds = 0;           ///< since training began, looks included
  double training_seconds = 0;  ///< without the looks
  double rate = 0;
  double loss = 0;      ///< mean of the steps since the last look
  EnergyReport report;  ///< of the averaged weights on validation images
  Tensor samples;       ///< [n, d], bytes, by the flow or by annealing; undefined where neither is
};

nlohmann::json to_json(const EnergyLook& look);

struct EnergyFitResult {
  int64_t steps = 0;
  double seconds = 0;
  bool interrupted = false;
  bool finite = true;     ///< false: the loss left the finite numbers, and training stopped
  bool recorded = false;  ///< whether steps were replayed from a graph
  std::vector<EnergyLook> looks;
};

/// What a fit calls while it runs; empty functions are not called.
struct EnergyFitCalls {
  std::function<void(const EnergyLook&)> look;
  std::function<void(const NamedTensors&)> save;  ///< the state, after each look or at a stop
  NamedTensors resume;                            ///< the state to go on from; empty: the start
};

/// Trains `model`, whose parameters then are the averaged ones and whose correction is set; after
/// an interruption the state of the last save allows to go on.
EnergyFitResult fit_energy(EnergyModel& model, const EnergyData& data,
                           const EnergyFitOptions& options, Progress& progress,
                           const EnergyFitCalls& calls = {});

}  // namespace dre
