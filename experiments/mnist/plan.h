/// What the experiment on MNIST consists of: noise models, methods, how much work each cell is, and
/// the paper's figures.
#pragma once

#include <optional>

#include "dre/density/flow.h"
#include "dre/energy/fit.h"
#include "dre/energy/tilt.h"
#include "experiments/experiment.h"

namespace dre::experiments::mnist {

/// Images that a run makes use of, the first ones of each split.
struct Rows {
  int64_t train, validation, test;
};

/// Bits per dimension of the paper's table.
struct PaperBits {
  double direct, raise, ais;
};

struct Noise {
  const char* name;  ///< of the density
  const char* title;
  double paper;  ///< bits of the noise model alone
};

struct Method {
  const char* objective;
  const char* title;
  std::vector<PaperBits> paper;          ///< in the order of noises(); empty: not in the paper
  bool between_images = false;           ///< the bridge runs between images, not latent points
  std::vector<const char*> noises = {};  ///< those it is used with; empty: all

  bool uses(const Noise& noise) const;
};

const std::vector<Noise>& noises();
const std::vector<Method>& methods();

/// The noise model of a cell, and how it is fitted.
struct NoisePlan {
  Noise noise;
  Rows rows;
  int64_t draws;       ///< gaussian: draws of the pixels' noise in the moments
  FlowOptions flow;    ///< the others
  TrainOptions train;  ///< the others

  std::string row() const;  ///< "noise model copula"
  Json options() const;
};

/// One energy model: its training, and its evaluation on the test images.
struct FitPlan {
  Method method;
  NoisePlan noise;
  EnergyFitOptions fit;
  EnergyEvaluateOptions evaluate;

  std::string row() const;  ///< "velocity from copula", "velocity between images from rq-nsf"
  std::optional<PaperBits> paper() const;

  /// What decides the model, without the wall clock.
  Json training_options() const;
  Json options() const;
};

/// AIS and RAISE of one energy model.
struct AnnealPlan {
  FitPlan fit;
  EnergyEvaluateOptions evaluate;  ///< nodes of log r; rows: images annealed backwards
  EnergyAnnealOptions anneal;

  std::string row() const;  ///< "velocity from copula, annealing 250"
  Json options() const;
};

NoisePlan noise_plan(const Noise& noise, const Settings& settings);

/// The models of a run, what matters most first.
std::vector<FitPlan> fit_plans(const Settings& settings);

/// With n temperatures, or with 2n.
AnnealPlan anneal_plan(const FitPlan& fit, bool twice, const Settings& settings);

}  // namespace dre::experiments::mnist
