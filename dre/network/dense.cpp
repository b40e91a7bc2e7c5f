#include "dre/network/dense.h"

#include <cmath>

#include "dre/base/names.h"
#include "dre/dual/dense_stack.h"
#include "dre/dual/linear.h"

namespace dre {
Names activation_names() { return names_of(activations()); }

const Activation& activation_by_name(const std::string& name) {
  for (const Activation& activation : activations())
    if (activation.name == name) return activation;
  fail(Error::Kind::usage, "unknown activation '", name, "'; known are ", join(activation_names()));
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

Dual DenseStack::operator()(const Dual& x) const { return dense_stack(x, parameters, *activation); }

DenseStack add_stack(Parameters& parameters, const std::string& name,
                     const std::vector<int64_t>& widths, const std::string& activation,
                     bool zero_last, const Context& context, at::Generator& generator) {
  DenseStack stack{{}, &activation_by_name(activation)};
  const size_t count = widths.size() - 1;
  for (size_t i = 0; i < count; ++i) {
    const Dense layer = add_dense(parameters, text(name, ".", i), widths[i], widths[i + 1],
                                  zero_last && i + 1 == count, context, generator);
    stack.parameters.insert(stack.parameters.end(), {layer.weight, layer.bias});
  }
  return stack;
}

}  // namespace dre
