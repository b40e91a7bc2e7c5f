/// The densities between the noise and an energy model that annealing goes through.
#pragma once

#include <memory>
#include <string>

#include "dre/base/options.h"
#include "dre/energy/evaluate_options.h"
#include "dre/energy/model.h"
#include "dre/sampling/annealing.h"

namespace dre {

struct EnergyAnnealOptions : AnnealOptions {
  std::string path = "auto";

  static Names paths() { return {"auto", "time", "power"}; }

  void visit(OptionVisitor& v) {
    AnnealOptions::visit(v);
    v("anneal-path", path, paths(),
      "densities in between: those that the model has learned over time, or powers of the ratio; "
      "auto: time where the model has a time score and its bridge is not between images");
  }
};

/// power: L_β = β log r. time: L_β is the part of log r, an integral over time, that has come
/// together at the share β of the way from noise to data; these densities narrow step by step,
/// where a small power of a ratio is already as narrow as the data in places. `chains` points at a
/// time are recorded as a graph where there is CUDA. The model must outlive the tilt; while it
/// lives, this thread works on a stream of the tilt's own (train/captured_step.h).
std::unique_ptr<Tilt> make_tilt(const EnergyModel& model, const EnergyEvaluateOptions& options,
                                const EnergyAnnealOptions& anneal);

}  // namespace dre
