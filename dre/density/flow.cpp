#include "dre/density/flow.h"

#include <nlohmann/json.hpp>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/density/column_layers.h"
#include "dre/density/image_layers.h"

namespace dre {
namespace {

struct Building {
  Sequence& layers;
  Parameters& parameters;
  const FlowOptions& options;
  const Context& context;

  template <class Made, class... Arguments>
  void add(const std::string& name, Arguments&&... arguments) const {
    layers.add(
        std::make_unique<Made>(parameters, name, std::forward<Arguments>(arguments)..., context));
  }
};

/// Margins by a spline between two diagonal affine maps, then one matrix for the dependence.
void build_copula(const Building& to) {
  const int64_t d = to.options.dimension;
  const double within = 0.98 * to.options.bound, standard = 0;
  to.add<Affine>("before", d, within);
  to.add<SplineColumns>("spline", d, to.options.copula_bins, to.options.bound);
  to.add<Affine>("after", d, standard);
  to.add<DenseMatrix>("matrix", d);
}

/// Levels of [squeeze, steps of (activation norm, mix of channels, coupling), mix]. At the end
/// channels become places again, so that a latent point is an image whose places are those of the
/// data.
void build_spline_flow(const Building& to) {
  const FlowOptions& options = to.options;
  const int64_t width = options.dimension / options.height, cell = int64_t{1} << options.levels;
  check(
      options.height * width == options.dimension && options.height % cell == 0 &&
          width % cell == 0,
      "images of ", options.dimension, " places and height ", options.height, " cannot be halved ",
      options.levels,
      " times; choose another height or fewer levels, or the density copula, which needs no image");
  auto generator = to.context.generator("spline flow");
  to.layers.add(std::make_unique<ToImage>(options.height, width));
  int64_t channels = 1;
  for (int64_t level = 0; level < options.levels; ++level) {
    to.layers.add(std::make_unique<Squeeze>());
    channels *= 4;
    for (int64_t step = 0; step < options.steps; ++step) {
      const std::string name = text("level", level, ".step", step);
      to.add<Affine>(name + ".norm", channels, /*reach=*/0.0);
      to.add<ChannelMix>(name + ".mix", channels);
      to.layers.add(std::make_unique<SplineCoupling>(
          to.parameters, name + ".coupling",
          SplineCoupling::Options{channels, options.channels, options.bins, options.bound},
          to.context, generator));
    }
    to.add<ChannelMix>(text("level", level, ".mix"), channels);
  }
  for (int64_t level = 0; level < options.levels; ++level)
    to.layers.add(std::make_unique<Inverse<Squeeze>>());
  to.layers.add(std::make_unique<Inverse<ToImage>>(options.height, width));
}

struct Recipe {
  void (*build)(const Building& to);
  bool scales;            ///< whether every column is brought to variance 1, or all by one factor
  int64_t rows_to_start;  ///< enough for its layers: a covariance needs many, a channel few
};

const std::vector<Named<Recipe>>& recipes() {
  static const std::vector<Named<Recipe>> table = {
      {"copula", {build_copula, true, 20000}},
      {"rq-nsf", {build_spline_flow, false, 1000}},
  };
  return table;
}

}  // namespace

Names flow_names() { return names_of(recipes()); }

Flow::Flow(std::string recipe, const FlowOptions& options, const Context& context)
    : recipe_(std::move(recipe)),
      options_(options),
      mean_(at::zeros({options.dimension}, context.options())),
      scale_(at::ones({options.dimension}, context.options())) {
  validate(options);
  choose("flow", recipes(), recipe_).build({layers_, parameters_, options_, context});
  parameters_.flatten();
}

Moved Flow::to_latent(const Tensor& x) const {
  check_rows(x, dimension());
  const Moved moved = layers_.forward((x - mean_) / scale_);
  return {moved.point, moved.log_determinant - scale_.log().sum()};
}

Moved Flow::from_latent(const Tensor& z) const {
  check_rows(z, dimension());
  const Moved moved = layers_.inverse(z);
  return {moved.point * scale_ + mean_, moved.log_determinant + scale_.log().sum()};
}

nlohmann::json Flow::description() const { return to_json(options_); }

NamedTensors Flow::tensors() const {
  NamedTensors all = {{"mean", mean_}, {"scale", scale_}};
  append(all, "layers", parameters_.named());
  return all;
}

void Flow::initialise(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  check_rows(x, dimension());
  check_data(x.size(0) >= 2, "a flow needs two rows at least to start from");
  const Tensor values = x.to(torch::kFloat64);
  Tensor variance = values.var(0, false);
  if (!choose("flow", recipes(), recipe_).scales) variance = variance.mean().expand_as(variance);
  check_data(variance.min().item<double>() > 0,
             "a column of the rows is constant, which no density can fit; leave it out");
  mean_.copy_(values.mean(0));
  scale_.copy_(variance.sqrt());
  layers_.initialise((x - mean_) / scale_);
}

int64_t Flow::rows_to_start() const { return choose("flow", recipes(), recipe_).rows_to_start; }

void Flow::load(const NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, own] : {std::pair("mean", mean_), std::pair("scale", scale_)}) {
    const Tensor given = at(tensors, name);
    check_data(given.sizes() == own.sizes(), "the tensor '", name, "' has shape ", given.sizes(),
               ", the flow needs ", own.sizes());
    own.copy_(given);
  }
  parameters_.load(under(tensors, "layers"));
}

DensityPtr Flow::make(const std::string& recipe, const nlohmann::json& description,
                      const NamedTensors& tensors, const Context& context) {
  FlowOptions options;
  from_json(description, options, "the density's description");
  auto flow = std::make_shared<Flow>(recipe, options, context);
  flow->load(tensors);
  return flow;
}

}  // namespace dre
