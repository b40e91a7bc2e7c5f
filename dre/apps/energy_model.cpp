#include "dre/apps/energy_model.h"

#include <cmath>
#include <utility>

#include "dre/apps/pixel_view.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/bridge/curves.h"
#include "dre/bridge/noise.h"
#include "dre/data/description.h"
#include "dre/density/density_file.h"
#include "dre/network/residual_unet.h"
#include "dre/network/unet.h"
#include "dre/score/classifiers.h"
#include "dre/score/time_scores.h"
#include "dre/score/velocity_score.h"

namespace dre {
namespace {

const FileKind energy_kind{"dre-energy", "energy model", 1};

/// Angles end here: log tan theta is an input of the network.
constexpr double gap_at_end = 1e-4;

struct Request {
  const EnergyOptions& options;
  const DensityPtr& noise;
  const AngleDensity& angles;
  const Context& context;

  int64_t side() const {
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(noise->dimension())));
    check(side * side == noise->dimension(), "images must be square, got ", noise->dimension(),
          " pixels");
    return side;
  }
};

using NetworkPtr = std::shared_ptr<ImageNetwork>;

/// Velocity networks see the pixels of a Gaussian noise model in any case: it costs one product.
PixelMap pixel_map(const Request& request) {
  const bool gaussian = request.noise->name() == "gaussian";
  const bool seen =
      request.options.pixel_view || (gaussian && request.options.objective == "velocity");
  if (!seen) return {};
  return gaussian ? linear_pixels(*request.noise) : curved_pixels(request.noise);
}

NetworkPtr residual_unet(const Request& request) {
  ResidualUnetOptions options;
  options.side = request.side();
  options.width = request.options.width;
  options.levels = request.options.levels;
  options.blocks = request.options.blocks;
  options.pixel_head = request.options.pixel_head;
  if (request.options.groups > 0) options.groups = request.options.groups;
  auto generator = request.context.generator("weights");
  return std::make_shared<ResidualUnet>(options, pixel_map(request), request.context, generator);
}

NetworkPtr unet(const Request& request, bool time, int64_t outputs, bool data_score = false) {
  UnetOptions options;
  options.side = request.side();
  options.width = request.options.width;
  options.time = time;
  options.outputs = outputs;
  options.data_score = data_score;
  if (request.options.groups > 0) options.groups = request.options.groups;
  auto generator = request.context.generator("weights");
  return std::make_shared<Unet>(options, pixel_map(request), request.context, generator);
}

template <class Concrete>
ScorePtr make(ScoreParts parts, const Request&) {
  return std::make_shared<Concrete>(std::move(parts));
}

/// Both ends, and between them angles of equal shares.
Tensor waymarks(const AngleDensity& angles, int64_t count) {
  std::vector<double> t = {0};
  for (int64_t k = 1; k < count - 1; ++k)
    t.push_back(angles.at(static_cast<double>(k) / static_cast<double>(count - 1)).angle /
                (M_PI / 2));
  t.push_back(1);
  return torch::tensor(t, torch::kFloat64);
}

ScorePtr telescope_score(ScoreParts parts, const Request& request) {
  Tensor times;
  if (request.options.waymarks == "angles")
    times = waymarks(request.angles, request.options.bridges + 2);
  return std::make_shared<TelescopeScore>(std::move(parts), times);
}

struct Recipe {
  NetworkPtr (*network)(const Request&);
  ScorePtr (*score)(ScoreParts, const Request&);
  bool one_sided;    ///< the bridge draws the noise itself
  bool of_tangents;  ///< so is the loss; a curved view gives no gradients of its tangents
};

NetworkPtr time_network(const Request& r) { return unet(r, true, 1); }
NetworkPtr joint_network(const Request& r) { return unet(r, true, 1, true); }
NetworkPtr classifier(const Request& r) { return unet(r, false, 1); }
NetworkPtr telescope(const Request& r) { return unet(r, false, r.options.bridges + 1); }

const std::vector<Named<Recipe>>& recipes() {
  static const std::vector<Named<Recipe>> table = {
      {"velocity", {residual_unet, make<OneSidedVelocityScore>, true, false}},
      {"time", {time_network, make<ScalarScore>, true, true}},
      {"joint", {joint_network, make<JointScore>, true, true}},
      {"conditional", {time_network, make<ScalarScore>, true, false}},
      {"nce", {classifier, make<ClassifierScore>, false, false}},
      {"tre", {telescope, telescope_score, false, false}},
  };
  return table;
}

BridgePtr energy_bridge(bool one_sided) {
  auto inner = std::make_shared<TrigonometricBridge>();
  if (!one_sided) return inner;
  return std::make_shared<OneSidedBridge>(std::move(inner));
}

}  // namespace

void EnergyOptions::visit(OptionVisitor& v) {
  v("objective", objective, energy_objectives(), "what training minimises");
  v("width", width, at_least(4), "channels of the network's first level");
  v("levels", levels, between(1, 4), "levels of the network, each of half the side (velocity)");
  v("blocks", blocks, at_least(1), "residual blocks a level, down and up (velocity)");
  v("groups", groups, at_least(0), "groups of a norm; 0: 8 (velocity), 32 (others)");
  v("pixel-head", pixel_head,
    "a part of the velocity is predicted in pixel space, where the network sees pixels (velocity)");
  v("pixel-view", pixel_view,
    "the network sees latent points as pixels, too; slower. Not with time and joint but where the "
    "noise model is Gaussian, whose pixels velocity sees in any case");
  v("bridges", bridges, at_least(1), "intermediate distributions (tre)");
  v("waymarks", waymarks, Names{"even", "angles"},
    "where these lie: evenly in time, or with equal shares of the angles that score networks are "
    "trained at, many of them near the data (tre)");
  v("least-angle", least_angle, Range{0, 1, true, true},
    "distance from the data at which training and integrals start, as an angle");
}

Names energy_objectives() { return names_of(recipes()); }

EnergyModel::EnergyModel(DensityPtr noise, const EnergyOptions& options, const Context& context)
    : noise_(std::move(noise)),
      options_(options),
      context_(context),
      angles_(options.least_angle, M_PI / 2 - gap_at_end) {
  validate(options);
  check(noise_ && noise_->options().device() == context.device &&
            noise_->options().dtype() == context.dtype,
        "an energy model needs a noise model on its own device and in its own precision");
  const Recipe& recipe = choose("objective", recipes(), options.objective);
  check(!options.pixel_view || !recipe.of_tangents || noise_->name() == "gaussian",
        "the objective '", options.objective,
        "' cannot be learned with a pixel view of the noise model '", noise_->name(),
        "'; use --no-pixel-view or another objective");
  bridge_ = energy_bridge(recipe.one_sided);
  const Request request{options_, noise_, angles_, context};
  network_ = recipe.network(request);
  network_->parameters().flatten();
  score_ = recipe.score({network_, bridge_, nullptr, noise_->dimension()}, request);
}

void save_energy(const std::string& path, const EnergyModel& model, const nlohmann::json& record) {
  const Density& noise = model.noise();
  nlohmann::json json = {{"options", to_json(model.options())},
                         {"correction", model.correction},
                         {"noise", noise.name()},
                         {"noise_description", noise.description()},
                         {"record", record}};
  NamedTensors tensors;
  const auto on_host = [](const NamedTensors& all) {
    NamedTensors out;
    for (const auto& [name, tensor] : all) out.emplace_back(name, tensor.detach().cpu());
    return out;
  };
  append(tensors, "network", on_host(model.network().parameters().named()));
  append(tensors, "noise", on_host(noise.tensors()));
  save_described(path, energy_kind, std::move(json), tensors);
}

EnergyFile load_energy(const std::string& path, const Context& context) {
  const TensorFile file = load_safetensors(path);
  const nlohmann::json json = read_description(file, path, energy_kind);
  return guard_damage(path, energy_kind, [&]() -> EnergyFile {
    EnergyOptions options;
    from_json(json.at("options"), options, "the energy model");
    DensityPtr noise = make_density(json.at("noise"), json.at("noise_description"),
                                    under(file.tensors, "noise"), context);
    auto model = std::make_shared<EnergyModel>(std::move(noise), options, context);
    model->network().parameters().load(under(file.tensors, "network"));
    model->correction = json.at("correction");
    return {std::move(model), json.at("record")};
  });
}

}  // namespace dre
