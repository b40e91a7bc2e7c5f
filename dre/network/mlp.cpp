#include "dre/network/mlp.h"

namespace dre {

Mlp::Mlp(const MlpOptions& options, const Context& context, at::Generator& generator)
    : options_(options) {
  validate(options);
  std::vector<int64_t> widths = {options.inputs + (options.time ? 1 : 0)};
  widths.insert(widths.end(), options.depth, options.width);
  widths.push_back(options.outputs);
  layers_ = add_stack(parameters_, "layer", widths, options.activation, options.zero_last, context,
                      generator);
}

Dual Mlp::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.inputs, options_.time);
  return layers_(options_.time ? cat({x, t}, 1) : x);
}

}  // namespace dre
