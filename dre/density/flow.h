/// Normalising flows: densities whose map to the latent space is learned by maximum likelihood. Two
/// recipes: "copula", a Gaussian copula with spline margins, and "rq-nsf", the rational-quadratic
/// neural spline flow for images (Durkan et al. 2019).
#pragma once

#include "dre/base/options.h"
#include "dre/density/layer.h"
#include "dre/density/spline_place.h"

namespace dre {

struct FlowOptions {
  int64_t dimension = 784;
  int64_t height = 28;
  int64_t copula_bins = 128;
  int64_t bins = 8;
  double bound = 3;
  int64_t levels = 2;
  int64_t steps = 8;
  int64_t channels = 64;

  void visit(OptionVisitor& v) {
    v("dimension", dimension, at_least(1), "columns of a point");
    visit_recipe(v);
  }

  /// What remains to be chosen when the data are known.
  void visit_recipe(OptionVisitor& v) {
    v("height", height, at_least(1), "rq-nsf: rows of an image");
    v("copula-bins", copula_bins, at_least(2), "copula: bins of a column's spline");
    v("bins", bins, between(2, most_place_bins), "rq-nsf: bins of a spline");
    v("bound", bound, positive(), "splines are the identity beyond this");
    v("levels", levels, at_least(1), "rq-nsf: how often squares of places become channels");
    v("level-steps", steps, at_least(1), "rq-nsf: couplings of a level");
    v("channels", channels, at_least(1), "rq-nsf: channels of the couplings' networks");
  }
};

/// The names of recipes.
Names flow_names();

class Flow final : public Density {
 public:
  /// `recipe`: one of flow_names(). `context` decides the start of the weights.
  Flow(std::string recipe, const FlowOptions& options, const Context& context);

  std::string name() const override { return recipe_; }
  int64_t dimension() const override { return options_.dimension; }
  torch::TensorOptions options() const override { return mean_.options(); }
  Moved to_latent(const Tensor& x) const override;
  Moved from_latent(const Tensor& z) const override;
  nlohmann::json description() const override;
  NamedTensors tensors() const override;

  /// A start that fits data like x: their mean and scale, which stay, then each layer's own. x:
  /// [n, d], best rows_to_start() of them.
  void initialise(const Tensor& x);
  int64_t rows_to_start() const;

  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  /// Takes over what tensors() of a flow with the same recipe and options said.
  void load(const NamedTensors& tensors);

  static DensityPtr make(const std::string& recipe, const nlohmann::json& description,
                         const NamedTensors& tensors, const Context& context);

 private:
  std::string recipe_;
  FlowOptions options_;
  Tensor mean_, scale_;  ///< [d], not trained
  Parameters parameters_;
  Sequence layers_;
};

}  // namespace dre
