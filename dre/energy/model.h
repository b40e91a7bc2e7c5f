/// An energy-based model of images: a noise model with an exact density, and the log-ratio of data
/// to noise learned on a bridge between the two, in a space of points y:
///
///     log q(x) = log r(y) + log p(y) + log |det dy/dx|,  y = space.enter(x).
///
/// In the noise model's own latent space its density p is N(0, I).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/base/options.h"
#include "dre/density/density.h"
#include "dre/energy/bridge_space.h"
#include "dre/network/convolution.h"
#include "dre/numeric/measured.h"
#include "dre/score/make_score.h"
#include "dre/times/angle_density.h"

namespace dre {

struct EnergyOptions {
  std::string objective = "velocity";
  std::string bridge = "latent";
  int64_t width = 64;
  int64_t levels = 3;
  int64_t blocks = 2;
  int64_t groups = 0;
  bool pixel_head = true;
  bool pixel_view = false;
  int64_t bridges = 4;
  std::string waymarks = "even";
  double least_angle = 0.003;

  void visit(OptionVisitor& v);

  /// Usage error where options are out of bounds or do not go together.
  void check() const;
};

/// velocity: the residual U-Net. time, conditional: the paper's U-Net as a time score; joint: with
/// a data score, too. nce, tre: the same without time as classifiers.
Names energy_objectives();

class EnergyModel final {
 public:
  /// Fresh weights from the context's stream "weights". The noise model must be on the context's
  /// device, in its precision; so must the frame, which a bridge between images needs and no other.
  EnergyModel(DensityPtr noise, const EnergyOptions& options, const Context& context,
              DensityPtr frame = nullptr);

  const EnergyOptions& options() const { return options_; }
  const Context& context() const { return context_; }
  const Density& noise() const { return *noise_; }
  const BridgeSpace& space() const { return space_; }
  const Score& score() const { return *score_; }
  const BridgePtr& bridge() const { return bridge_; }
  ImageNetwork& network() const { return *network_; }
  int64_t dimension() const { return noise_->dimension(); }

  /// Times between which the score is trained and integrated.
  const AngleDensity& angles() const { return angles_; }

  /// Whether the bridge is two that meet in N(0, I), as that of velocity between images.
  bool meets() const;

  /// Shares of these times from end to end, with one in between where two bridges meet: the scores
  /// turn there, and integrals are taken stretch by stretch.
  std::vector<double> stretches() const;

  /// Its value is added to every log r: the integral of the time score's mean, which would be zero
  /// if the score were exact. Its error is that of the images it was found on; NaN in models
  /// of before, which did not keep it.
  Measured correction;

 private:
  DensityPtr noise_;
  BridgeSpace space_;
  EnergyOptions options_;
  Context context_;
  AngleDensity angles_;
  BridgePtr bridge_;
  std::shared_ptr<ImageNetwork> network_;
  ScorePtr score_;
};

struct EnergyFile {
  std::shared_ptr<EnergyModel> model;
  nlohmann::json record;  ///< what the fit tells about itself
};

/// Written aside and renamed; the noise model is part of the file.
void save_energy(const std::string& path, const EnergyModel& model, const nlohmann::json& record);

/// What the fit tells about itself, without the model.
nlohmann::json read_energy_record(const std::string& path);

/// A damaged, truncated or foreign file is a data error that says what is wrong with it.
EnergyFile load_energy(const std::string& path, const Context& context = {});

}  // namespace dre
