/// A network that outputs a given function plus a small trained one that starts at zero: an exact
/// model with parameters around it, for tests of objectives and paths.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "dre/network/mlp.h"

namespace dre::testing {

/// x: [n, d], t: [n, 1] -> [n, outputs]
using Function = std::function<Dual(const Dual& x, const Dual& t)>;

class ExactNetwork final : public Network {
 public:
  /// `time` as in MlpOptions: whether the trained part sees the time.
  ExactNetwork(Function exact, int64_t inputs, int64_t outputs, bool time, const Context& context)
      : exact_(std::move(exact)) {
    MlpOptions options;
    options.inputs = inputs;
    options.outputs = outputs;
    options.time = time;
    options.width = 8;
    options.depth = 2;
    options.activation = "tanh";
    options.zero_last = true;
    auto generator = context.generator("exact network");
    trained_ = std::make_unique<Mlp>(options, context, generator);
  }

  Dual forward(const Dual& x, const Dual& t) const override {
    const Dual trained = trained_->forward(x, t);
    return exact_ ? exact_(x, t) + trained : trained;
  }
  Parameters& parameters() override { return trained_->parameters(); }
  const Parameters& parameters() const override { return trained_->parameters(); }
  int64_t outputs() const override { return trained_->outputs(); }

 private:
  Function exact_;
  std::unique_ptr<Mlp> trained_;
};

}  // namespace dre::testing
