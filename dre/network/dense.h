/// Dense layers with their parameters: the common part of all fully connected networks.
#pragma once

#include <string>
#include <vector>

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/dual/activation.h"
#include "dre/dual/dual.h"
#include "dre/network/parameters.h"

namespace dre {

Names activation_names();
const Activation& activation_by_name(const std::string& name);

/// y = x weight' + bias
struct Dense {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out]

  Dual operator()(const Dual& x) const;
};

/// A new layer with parameters `name`.weight and `name`.bias, uniform on +-1/sqrt(in) or zero.
/// Draws are made in float64 on the host: one seed gives one network on every device.
Dense add_dense(Parameters& parameters, const std::string& name, int64_t in, int64_t out, bool zero,
                const Context& context, at::Generator& generator);

/// Dense layers with an activation after each but the last.
struct DenseStack {
  std::vector<Tensor> parameters;  ///< weight: [out, in] and bias: [out] of each layer
  const Activation* activation;

  Dual operator()(const Dual& x) const;
};

/// Layers `name`.0, `name`.1, ... between the given widths; `zero_last` starts the last at zero.
DenseStack add_stack(Parameters& parameters, const std::string& name,
                     const std::vector<int64_t>& widths, const std::string& activation,
                     bool zero_last, const Context& context, at::Generator& generator);

}  // namespace dre
