/// The multi-layer perceptron Linear-phi-...-Linear of point and, as one more column, time.
#pragma once

#include "dre/network/dense.h"
#include "dre/network/network.h"

namespace dre {

struct MlpOptions {
  int64_t inputs = 1;
  int64_t outputs = 1;
  bool time = true;
  int64_t width = 256;
  int64_t depth = 3;
  std::string activation = "elu";
  bool zero_last = false;

  void visit(OptionVisitor& v) {
    v("inputs", inputs, at_least(1), "columns of a point");
    v("outputs", outputs, at_least(1), "columns of the output");
    v("time", time, "take time as one more input");
    v("width", width, at_least(1), "units of a hidden layer");
    v("depth", depth, at_least(0), "number of hidden layers");
    v("activation", activation, activation_names(), "activation of the hidden layers");
    v("zero_last", zero_last, "start the last layer, and so the output, at zero");
  }
};

class Mlp final : public Network {
 public:
  Mlp(const MlpOptions& options, const Context& context, at::Generator& generator);

  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return options_.outputs; }

 private:
  MlpOptions options_;
  Parameters parameters_;
  DenseStack layers_;
};

}  // namespace dre
