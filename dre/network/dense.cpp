#include "dre/network/dense.h"

#include <cmath>

#include "dre/base/names.h"
#include "dre/dual/layers.h"

namespace dre {
namespace {

const std::vector<Named<Activation>>& activations() {
  static const std::vector<Named<Activation>> table = {
      {"elu", [](const Dual& x) { return elu(x); }},
      {"silu", [](const Dual& x) { return silu(x); }},
      {"tanh", [](const Dual& x) { return tanh(x); }},
      {"softplus", [](const Dual& x) { return softplus(x); }},
      {"leaky-relu", [](const Dual& x) { return leaky_relu(x, 0.3); }},
  };
  return table;
}

}  // namespace

Names activation_names() { return names_of(activations()); }

const Activation& activation_by_name(const std::string& name) {
  return choose("activation", activations(), name);
}

Dual Dense::operator()(const Dual& x) const { return linear(x, weight, bias); }

Dense add_dense(Parameters& parameters, const std::string& name, int64_t in, int64_t out, bool zero,
                const Context& context, at::Generator& generator) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const auto initial = [&](torch::IntArrayRef shape) {
    if (zero) return at::zeros(shape, context.options());
    return uniform(shape, torch::kFloat64, generator)
        .mul(2)
        .sub(1)
        .mul(bound)
        .to(context.options());
  };
  const Tensor weight = parameters.add(name + ".weight", initial({out, in}));
  return {weight, parameters.add(name + ".bias", initial({out}))};
}

Dual DenseStack::operator()(const Dual& x) const {
  Dual hidden = x;
  for (size_t i = 0; i + 1 < layers.size(); ++i) hidden = activation(layers[i](hidden));
  return layers.back()(hidden);
}

DenseStack add_stack(Parameters& parameters, const std::string& name,
                     const std::vector<int64_t>& widths, const std::string& activation,
                     bool zero_last, const Context& context, at::Generator& generator) {
  DenseStack stack{{}, activation_by_name(activation)};
  const size_t count = widths.size() - 1;
  for (size_t i = 0; i < count; ++i)
    stack.layers.push_back(add_dense(parameters, text(name, ".", i), widths[i], widths[i + 1],
                                     zero_last && i + 1 == count, context, generator));
  return stack;
}

}  // namespace dre
