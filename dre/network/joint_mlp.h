/// The joint score network: a shared trunk Linear-phi-Linear whose output is split in two halves,
/// one for the time score, one for the data score, each Linear-phi-Linear-phi-Linear.
#pragma once

#include "dre/network/dense.h"
#include "dre/network/network.h"

namespace dre {

struct JointMlpOptions {
  int64_t inputs = 1;
  int64_t width = 256;
  std::string activation = "elu";
  bool zero_last = false;

  void visit(OptionVisitor& v) {
    v("inputs", inputs, at_least(1), "columns of a point");
    v("width", width, at_least(1), "units of a hidden layer; the trunk ends in twice as many");
    v("activation", activation, activation_names(), "activation of the hidden layers");
    v("zero_last", zero_last, "start both heads at zero");
  }
};

class JointMlp final : public Network {
 public:
  JointMlp(const JointMlpOptions& options, const Context& context, at::Generator& generator);

  /// Column 0 is the time head, columns 1 ... inputs are the data head.
  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return 1 + options_.inputs; }

 private:
  JointMlpOptions options_;
  Parameters parameters_;
  DenseStack trunk_, time_head_, data_head_;
};

}  // namespace dre
