/// A multi-layer perceptron whose hidden layers are scaled by functions of time:
///
///     z_1 = phi(g_1(t) * (W_1 x + b_1)), ...,  y = W_o z + b_o + c(t)
///
/// where all gates g = 1 + (last layer of a small network of t) and c start at 1 and 0. A plain
/// network that takes time as one more column must build products of coordinates and functions of
/// time out of its activations; conditional means on a bridge are full of them. The output has no
/// gate: a mean that changes its sign on the way would pull it through zero, and the layers before
/// it would need a pole there.
#pragma once

#include "dre/network/dense.h"
#include "dre/network/network.h"

namespace dre {

struct GatedMlpOptions {
  int64_t inputs = 1;
  int64_t outputs = 1;
  int64_t width = 256;
  int64_t depth = 2;
  int64_t gate_width = 128;
  std::string activation = "silu";

  void visit(OptionVisitor& v) {
    v("inputs", inputs, at_least(1), "columns of a point");
    v("outputs", outputs, at_least(1), "columns of the output");
    v("width", width, at_least(1), "units of a hidden layer");
    v("depth", depth, at_least(1), "number of hidden layers");
    v("gate_width", gate_width, at_least(1), "units of the two hidden layers that read the time");
    v("activation", activation, activation_names(), "activation of the hidden layers");
  }
};

class GatedMlp final : public Network {
 public:
  /// Starts at zero output.
  GatedMlp(const GatedMlpOptions& options, const Context& context, at::Generator& generator);

  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return options_.outputs; }

 private:
  GatedMlpOptions options_;
  Parameters parameters_;
  DenseStack gates_;
  std::vector<Dense> layers_;
  Dense last_;
};

}  // namespace dre
