#include "dre/train/adam.h"

#include <algorithm>
#include <cmath>

namespace dre {

double learning_rate(const TrainOptions& options, int64_t step) {
  if (step < options.warmup)
    return options.rate * static_cast<double>(step + 1) / static_cast<double>(options.warmup);
  if (options.schedule == "constant") return options.rate;
  const double span = static_cast<double>(std::max<int64_t>(1, options.steps - options.warmup));
  const double done = std::min(1.0, static_cast<double>(step - options.warmup) / span);
  return options.rate * 0.5 * (1 + std::cos(M_PI * done));
}

Adam::Adam(const TrainOptions& options, const Tensor& weights)
    : options_(options),
      mean_(torch::zeros_like(weights)),
      square_(torch::zeros_like(weights)),
      average_(weights.detach().clone()) {}

void Adam::step(Tensor& weights, Tensor& gradient) {
  torch::NoGradGuard no_grad;
  const double rate = learning_rate(options_, steps_done_);
  const double count = static_cast<double>(++steps_done_);
  if (options_.clip > 0) gradient.mul_((options_.clip / (gradient.norm() + 1e-12)).clamp_max(1));
  if (options_.weight_decay > 0) {
    if (options_.optimizer == "adamw") {
      weights.mul_(1 - rate * options_.weight_decay);
    } else {
      gradient.add_(weights, options_.weight_decay);
    }
  }
  mean_.lerp_(gradient, 1 - options_.beta1);
  square_.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const double mean_correction = 1 - std::pow(options_.beta1, count);
  const double square_correction = 1 - std::pow(options_.beta2, count);
  const Tensor scale = square_.sqrt().div_(std::sqrt(square_correction)).add_(1e-8);
  weights.addcdiv_(mean_, scale, -rate / mean_correction);
  average_.lerp_(weights, 1 - std::min(options_.average, count / (count + 9)));
}

NamedTensors Adam::state() const {
  return {{"steps", torch::tensor(steps_done_)},
          {"mean", mean_.clone()},
          {"square", square_.clone()},
          {"average", average_.clone()}};
}

void Adam::restore(const NamedTensors& state) {
  torch::NoGradGuard no_grad;
  steps_done_ = at(state, "steps").item<int64_t>();
  mean_.copy_(at(state, "mean"));
  square_.copy_(at(state, "square"));
  average_.copy_(at(state, "average"));
}

}  // namespace dre
