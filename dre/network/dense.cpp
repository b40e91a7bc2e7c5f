#include "dre/network/dense.h"

#include <cmath>

#include "dre/base/names.h"
#include "dre/dual/dense_stack.h"

namespace dre {
namespace {

/// Weight and bias of one layer.
void add_layer(DenseStack& stack, Parameters& parameters, const std::string& name, int64_t in,
               int64_t out, bool zero, const Context& context, at::Generator& generator) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const auto initial = [&](torch::IntArrayRef shape) {
    if (zero) return at::zeros(shape, context.options());
    return uniform(shape, torch::kFloat64, generator)
        .mul(2)
        .sub(1)
        .mul(bound)
        .to(context.options());
  };
  stack.parameters.push_back(parameters.add(name + ".weight", initial({out, in})));
  stack.parameters.push_back(parameters.add(name + ".bias", initial({out})));
}

}  // namespace

Names activation_names() { return names_of(activations()); }

const Activation& activation_by_name(const std::string& name) {
  for (const Activation& activation : activations())
    if (activation.name == name) return activation;
  fail(Error::Kind::usage, "unknown activation '", name, "'; known are ", join(activation_names()));
}

Dual DenseStack::operator()(const Dual& x) const { return dense_stack(x, parameters, *activation); }

DenseStack add_stack(Parameters& parameters, const std::string& name,
                     const std::vector<int64_t>& widths, const std::string& activation,
                     bool zero_last, const Context& context, at::Generator& generator) {
  DenseStack stack{{}, &activation_by_name(activation)};
  const size_t count = widths.size() - 1;
  for (size_t i = 0; i < count; ++i)
    add_layer(stack, parameters, text(name, ".", i), widths[i], widths[i + 1],
              zero_last && i + 1 == count, context, generator);
  return stack;
}

}  // namespace dre
