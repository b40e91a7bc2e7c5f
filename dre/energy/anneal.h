/// Bits of an energy model with its normaliser by annealing: AIS gives a lower bound on them, RAISE
/// an approximate upper one. Where the two and the direct figure agree, all can be believed.
#pragma once

#include <vector>

#include "dre/base/progress.h"
#include "dre/base/warning.h"
#include "dre/energy/tilt.h"
#include "dre/numeric/measured.h"

namespace dre {

struct EnergyAnnealReport {
  int64_t steps = 0, raise_rows = 0;
  Measured ais;    ///< direct bits of all images plus the normaliser's; error of both
  Measured raise;  ///< of the images annealed backwards, carried over to all by their direct bits
  Measured crossing;        ///< AIS less RAISE, without the spread over images that both share
  Measured log_normaliser;  ///< log Z, in nats
  double effective_chains = 0;
  double ais_acceptance = 0, raise_acceptance = 0;
  bool finished = true;
  Tensor samples;  ///< [chains, d], end points of the AIS chains in the model's space
};

/// pixels: [n, d], bytes, on the model's device. `nodes` of options make log r; `rows` images,
/// evenly spread, are annealed backwards, 0: all. Runs with one context see images with the same
/// noise; with other numbers of temperatures their chains are independent.
EnergyAnnealReport anneal_energy(const EnergyModel& model, const Tensor& pixels,
                                 const EnergyEvaluateOptions& options,
                                 const EnergyAnnealOptions& anneal, const Context& context,
                                 Progress& progress);

/// Points of the model's space from annealed chains, and what these tell of themselves.
struct AnnealedSamples {
  Tensor points;  ///< [count, d]
  int64_t chains = 0;
  double effective_chains = 0, acceptance = 0;
  Measured log_normaliser;  ///< log Z, in nats
  bool finished = true;     ///< false: a stop was asked for, and there are no points
};

/// Without the points.
nlohmann::json to_json(const AnnealedSamples& samples);

/// The ends of `count` chains of AIS, two at least; `anneal.chains` has no say.
AnnealedSamples annealed_samples(const EnergyModel& model, int64_t count,
                                 const EnergyEvaluateOptions& options, EnergyAnnealOptions anneal,
                                 at::Generator& generator, Progress& progress);

/// Direct bits that leave out a large normaliser, an estimate that hangs on a chain or two, and a
/// lower bound that is above the upper one.
std::vector<Warning> judge_annealing(const EnergyAnnealReport& report, int64_t dimension);

/// Twice as many temperatures that move the normaliser by more than its errors.
std::vector<Warning> judge_doubling(const EnergyAnnealReport& once, const EnergyAnnealReport& twice,
                                    int64_t dimension);

nlohmann::json to_json(const EnergyAnnealReport& report);

}  // namespace dre
