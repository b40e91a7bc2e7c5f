#include "dre/density/density_file.h"

#include <functional>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/base/version.h"
#include "dre/data/description.h"
#include "dre/data/safetensors.h"
#include "dre/density/flow.h"
#include "dre/density/gaussian_density.h"

namespace dre {
namespace {

const FileKind density_kind{"dre-density", "density", 1};

using Loader = std::function<DensityPtr(const nlohmann::json& description,
                                        const NamedTensors& tensors, const Context& context)>;

const std::vector<Named<Loader>>& loaders() {
  static const std::vector<Named<Loader>> table = [] {
    std::vector<Named<Loader>> all = {{"gaussian", GaussianDensity::make}};
    for (const auto& name : flow_names()) all.push_back({name, std::bind_front(Flow::make, name)});
    return all;
  }();
  return table;
}

}  // namespace

Names density_names() { return names_of(loaders()); }

DensityPtr make_density(const std::string& name, const nlohmann::json& description,
                        const NamedTensors& tensors, const Context& context) {
  return choose("density", loaders(), name)(description, tensors, context);
}

void save_density(const std::string& path, const Density& density, const nlohmann::json& record) {
  nlohmann::json json = {
      {"density", density.name()}, {"description", density.description()}, {"record", record}};
  save_described(path, density_kind, std::move(json), density.tensors());
}

DensityFile load_density(const std::string& path, const Context& context) {
  const TensorFile file = load_safetensors(path);
  const nlohmann::json json = read_description(file, path, density_kind);
  return guard_damage(path, density_kind, [&]() -> DensityFile {
    check_finite(file.tensors);
    return {make_density(json.at("density"), json.at("description"), file.tensors, context),
            json.at("record")};
  });
}

}  // namespace dre
