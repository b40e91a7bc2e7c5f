/// Density files: safetensors with JSON metadata. No code in them, so they are safe to load.
#pragma once

#include <nlohmann/json.hpp>

#include "dre/base/options.h"
#include "dre/density/density.h"

namespace dre {

/// gaussian, ...
Names density_names();

/// The density called `name` from what its description() and tensors() said.
DensityPtr make_density(const std::string& name, const nlohmann::json& description,
                        const NamedTensors& tensors, const Context& context);

struct DensityFile {
  DensityPtr density;
  nlohmann::json record;  ///< what the fit tells about itself
};

/// Written aside and renamed. Parameters are saved as they are in `density`.
void save_density(const std::string& path, const Density& density,
                  const nlohmann::json& record = nlohmann::json::object());

/// A damaged, truncated or foreign file is a data error that says what is wrong with it.
DensityFile load_density(const std::string& path, const Context& context = {});

}  // namespace dre
