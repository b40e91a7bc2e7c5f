#include "dre/energy/model.h"

#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/bridge/curves.h"
#include "dre/bridge/meeting.h"
#include "dre/bridge/noise.h"
#include "dre/data/description.h"
#include "dre/density/density_file.h"
#include "dre/energy/pixel_view.h"
#include "dre/network/residual_unet.h"
#include "dre/network/unet.h"
#include "dre/score/classifiers.h"
#include "dre/score/time_scores.h"
#include "dre/score/velocity_score.h"

namespace dre {
namespace {

/// Format 2: another bridge between images, and networks that tell all trained times apart.
const FileKind energy_kind{"dre-energy", "energy model", 2};

/// Networks of format 1 did not tell smaller angles apart.
constexpr double least_angle_before = 0.003;

/// Angles end here: log tan theta is an input of the network.
constexpr double gap_at_end = 1e-4;

struct Request {
  const EnergyOptions& options;
  const DensityPtr& noise;
  const BridgeSpace& space;
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

/// Velocity networks see the pixels of a Gaussian space in any case: it costs one product.
PixelMap pixel_map(const Request& request) {
  const bool gaussian = request.space.frame().name() == "gaussian";
  const bool seen =
      request.options.pixel_view || (gaussian && request.options.objective == "velocity");
  if (!seen) return {};
  return gaussian ? linear_pixels(request.space.frame()) : curved_pixels(request.noise);
}

NetworkPtr residual_unet(const Request& request) {
  const PixelMap pixels = pixel_map(request);
  ResidualUnetOptions options;
  options.side = request.side();
  options.width = request.options.width;
  options.levels = request.options.levels;
  options.blocks = request.options.blocks;
  options.pixel_head = request.options.pixel_head && pixels;
  options.first_time = request.angles.at(0).t;
  options.last_time = request.angles.at(1).t;
  if (request.options.groups > 0) options.groups = request.options.groups;
  auto generator = request.context.generator("weights");
  return std::make_shared<ResidualUnet>(options, pixels, request.context, generator);
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
    t.push_back(angles.at(static_cast<double>(k) / static_cast<double>(count - 1)).t);
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
  bool noisy;           ///< needs a bridge with noise of its own
  bool of_tangents;     ///< the loss is of tangents, of which a curved view gives no gradients
  bool between_images;  ///< whether it can be learned on a bridge between images
};

NetworkPtr time_network(const Request& r) { return unet(r, true, 1); }
NetworkPtr joint_network(const Request& r) { return unet(r, true, 1, true); }
NetworkPtr classifier(const Request& r) { return unet(r, false, 1); }
NetworkPtr telescope(const Request& r) { return unet(r, false, r.options.bridges + 1); }

const std::vector<Named<Recipe>>& recipes() {
  static const std::vector<Named<Recipe>> table = {
      {"velocity", {residual_unet, make<OneSidedVelocityScore>, true, false, true}},
      {"time", {time_network, make<ScalarScore>, true, true, false}},
      {"joint", {joint_network, make<JointScore>, true, true, false}},
      {"conditional", {time_network, make<ScalarScore>, true, false, false}},
      {"nce", {classifier, make<ClassifierScore>, false, false, true}},
      {"tre", {telescope, telescope_score, false, false, true}},
  };
  return table;
}

BridgePtr energy_bridge(const Recipe& recipe, const BridgeSpace& space) {
  auto plain = std::make_shared<TrigonometricBridge>();
  if (!recipe.noisy) return plain;
  if (space.between_images()) return std::make_shared<MeetingBridge>();
  return std::make_shared<OneSidedBridge>(std::move(plain));  // the noise model itself is the noise
}

AngleDensity energy_angles(const EnergyOptions& options) {
  return options.bridge == "images" ? AngleDensity::of_both_sides(options.least_angle)
                                    : AngleDensity(options.least_angle, M_PI / 2 - gap_at_end);
}

}  // namespace

void EnergyOptions::visit(OptionVisitor& v) {
  v("objective", objective, energy_objectives(), "what training minimises");
  v("bridge", bridge, Names{"latent", "images"},
    "where the bridge runs: in the latent space of the noise model, or from images of the data to "
    "its own, as whitened logits, for noise models whose latent points tell a network nothing "
    "(velocity, nce, tre)");
  v("width", width, at_least(4), "channels of the network's first level");
  v("levels", levels, between(1, 4), "levels of the network, each of half the side (velocity)");
  v("blocks", blocks, at_least(1), "residual blocks a level, down and up (velocity)");
  v("groups", groups, at_least(0), "groups of a norm; 0: 8 (velocity), 32 (others)");
  v("pixel-head", pixel_head,
    "a part of the velocity is predicted in pixel space, where the network sees pixels "
    "(velocity)");
  v("pixel-view", pixel_view,
    "the network sees latent points as pixels, too; slower. Not with time and joint unless the "
    "noise model is Gaussian. Velocity sees pixels in any case where that is so, or where the "
    "bridge runs between images");
  v("bridges", bridges, at_least(1), "intermediate distributions (tre)");
  v("waymarks", waymarks, Names{"even", "angles"},
    "where these lie: evenly in time, or with equal shares of the angles that score networks are "
    "trained at, many of them near the data and, between images, near the noise model's (tre)");
  v("least-angle", least_angle, Range{0, 1, true, true},
    "distance from the data, and from images of the noise model, at which training and integrals "
    "start, as an angle");
}

void EnergyOptions::check() const {
  validate(*this);
  const Recipe& recipe = choose("objective", recipes(), objective);
  dre::check(recipe.between_images || bridge != "images", "the objective '", objective,
             "' cannot be learned on a bridge between images; use --bridge latent or the objective "
             "velocity, nce or tre");
  const int64_t usual =
      objective == "velocity" ? ResidualUnetOptions().groups : UnetOptions().groups;
  const int64_t norm = groups > 0 ? groups : usual;
  const int64_t first = objective == "velocity" ? norm : std::min<int64_t>(4, norm);
  dre::check(width % norm == 0 && width % first == 0, "width ", width, " does not make ", norm,
             " equal groups of channels",
             first < norm ? text(" and ", first, " in the first level") : "",
             "; choose a multiple, or other --groups");
}

Names energy_objectives() { return names_of(recipes()); }

EnergyModel::EnergyModel(DensityPtr noise, const EnergyOptions& options, const Context& context,
                         DensityPtr frame)
    : noise_(std::move(noise)),
      space_(noise_, std::move(frame)),
      options_(options),
      context_(context),
      angles_(energy_angles(options)) {
  options.check();
  for (const Density* density : std::vector<const Density*>{noise_.get(), &space_.frame()})
    check(density->options().device() == context.device &&
              density->options().dtype() == context.dtype &&
              density->dimension() == noise_->dimension(),
          "an energy model needs a noise model and a frame on its own device, in its own precision "
          "and of the same images");
  check((options.bridge == "images") == space_.between_images(),
        "a bridge between images needs a frame, and no other takes one");
  const Recipe& recipe = choose("objective", recipes(), options.objective);
  check(!options.pixel_view || !recipe.of_tangents || space_.frame().name() == "gaussian",
        "the objective '", options.objective,
        "' cannot be learned with a pixel view of the noise model '", noise_->name(),
        "'; use --no-pixel-view or another objective");
  bridge_ = energy_bridge(recipe, space_);
  const Request request{options_, noise_, space_, angles_, context};
  network_ = recipe.network(request);
  network_->parameters().flatten();
  score_ = recipe.score({network_, bridge_, nullptr, noise_->dimension()}, request);
}

bool EnergyModel::meets() const {
  return dynamic_cast<const MeetingBridge*>(bridge_.get()) != nullptr;
}

std::vector<double> EnergyModel::stretches() const {
  return meets() ? std::vector{0.0, 0.5, 1.0} : std::vector{0.0, 1.0};
}

void save_energy(const std::string& path, const EnergyModel& model, const nlohmann::json& record) {
  const Density& noise = model.noise();
  nlohmann::json json = {{"options", to_json(model.options())},
                         {"correction", model.correction.value},
                         {"correction_error", model.correction.standard_error},
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
  if (model.space().between_images()) {
    const Density& frame = model.space().frame();
    json["frame"] = frame.name();
    json["frame_description"] = frame.description();
    append(tensors, "frame", on_host(frame.tensors()));
  }
  save_described(path, energy_kind, std::move(json), tensors);
}

nlohmann::json read_energy_record(const std::string& path) {
  const nlohmann::json json = read_description(load_safetensors(path), path, energy_kind);
  return json.value("record", nlohmann::json());
}

EnergyFile load_energy(const std::string& path, const Context& context) {
  const TensorFile file = load_safetensors(path);
  const nlohmann::json json = read_description(file, path, energy_kind);
  const auto model_of_before = [&] {
    const auto& options = json.at("options");
    if (json["format_version"] > 1 || options.at("objective") != "velocity") return false;
    return json.contains("frame") || options.at("least-angle") < least_angle_before;
  };
  check_data(!guard_damage(path, energy_kind, model_of_before), path,
             " is a model whose bridge or network earlier versions had; fit it again");
  return guard_damage(path, energy_kind, [&]() -> EnergyFile {
    check_finite(file.tensors);
    EnergyOptions options;
    from_json(json.at("options"), options, "the energy model");
    const auto density = [&](const std::string& part) {
      return make_density(json.at(part), json.at(part + "_description"), under(file.tensors, part),
                          context);
    };
    auto model = std::make_shared<EnergyModel>(density("noise"), options, context,
                                               json.contains("frame") ? density("frame") : nullptr);
    model->network().parameters().load(under(file.tensors, "network"));
    const nlohmann::json error = json.value("correction_error", nlohmann::json());
    model->correction = {json.at("correction"), error.is_number() ? error.get<double>() : NAN};
    return {std::move(model), json.at("record")};
  });
}

}  // namespace dre
