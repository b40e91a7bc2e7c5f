#include "dre/network/gated_mlp.h"

#include "dre/base/error.h"

namespace dre {

GatedMlp::GatedMlp(const GatedMlpOptions& options, const Context& context, at::Generator& generator)
    : options_(options) {
  validate(options);
  const int64_t gates = options.width * options.depth + options.outputs;
  gates_ = add_stack(parameters_, "gates", {1, options.gate_width, options.gate_width, gates},
                     options.activation, /*zero_last=*/true, context, generator);
  for (int64_t i = 0; i < options.depth; ++i)
    layers_.push_back(add_dense(parameters_, text("layer.", i),
                                i == 0 ? options.inputs : options.width, options.width, false,
                                context, generator));
  last_ = add_dense(parameters_, "last", options.width, options.outputs, true, context, generator);
}

Dual GatedMlp::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.inputs, true);
  std::vector<int64_t> sizes(options_.depth, options_.width);
  sizes.push_back(options_.outputs);
  // Times spread over [-2, 2]: the gates' layers start with weights of size one.
  const std::vector<Dual> gates = split(gates_(4.0 * t + (-2.0)), sizes);
  const Activation& activation = *gates_.activation;
  Dual hidden = x;
  for (int64_t i = 0; i < options_.depth; ++i)
    hidden = activation.apply(layers_[i](hidden) * (gates[i] + 1.0));
  return last_(hidden) + gates[options_.depth];
}

}  // namespace dre
