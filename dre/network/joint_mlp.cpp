#include "dre/network/joint_mlp.h"

namespace dre {

JointMlp::JointMlp(const JointMlpOptions& options, const Context& context, at::Generator& generator)
    : options_(options) {
  validate(options);
  const int64_t width = options.width;
  const auto stack = [&](const char* name, const std::vector<int64_t>& widths, bool zero_last) {
    return add_stack(parameters_, name, widths, options.activation, zero_last, context, generator);
  };
  trunk_ = stack("trunk", {options.inputs + 1, width, 2 * width}, false);
  time_head_ = stack("time", {width, width, width, 1}, options.zero_last);
  data_head_ = stack("data", {width, width, width, options.inputs}, options.zero_last);
}

Dual JointMlp::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.inputs, true);
  const auto halves = split(trunk_(cat({x, t}, 1)), {options_.width, options_.width});
  return cat({time_head_(halves[0]), data_head_(halves[1])}, 1);
}

}  // namespace dre
