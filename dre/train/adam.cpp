#include "dre/train/adam.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"

#ifdef DRE_WITH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "dre/train/adam_kernel.h"
#endif

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

void Adam::plan(const std::vector<double>& rates) {
  const auto count = static_cast<int64_t>(rates.size());
  check(count >= 1 && count <= plan_capacity, "a plan has 1 to ", plan_capacity, " steps, got ",
        count);
  check(options_.weight_decay == 0 || options_.optimizer == "adamw",
        "planned steps decay weights as adamw does; choose optimizer adamw");
  if (!plan_.defined()) {
    plan_ = torch::zeros({plan_capacity, 4}, average_.options());
    next_ = torch::zeros({1}, average_.options().dtype(torch::kInt64));
  }
  Tensor table = torch::empty({count, 4}, torch::kFloat64);
  auto row = table.accessor<double, 2>();
  for (int64_t i = 0; i < count; ++i) {
    const double done = static_cast<double>(++steps_done_);
    row[i][0] = rates[i] / (1 - std::pow(options_.beta1, done));
    row[i][1] = 1 / std::sqrt(1 - std::pow(options_.beta2, done));
    row[i][2] = 1 - std::min(options_.average, done / (done + 9));
    row[i][3] = rates[i] * options_.weight_decay;
  }
  plan_.narrow(0, 0, count).copy_(table);
  next_.zero_();
}

void Adam::apply(Tensor& weights, Tensor& gradient) {
  torch::NoGradGuard no_grad;
  const Tensor factors = plan_.index_select(0, next_).squeeze(0);
  next_.add_(1);
  const Tensor norm = gradient.norm();
#ifdef DRE_WITH_CUDA
  if (weights.is_cuda() && weights.scalar_type() == torch::kFloat32) {
    kernels::adam_step(
        {weights.data_ptr<float>(), gradient.data_ptr<float>(), mean_.data_ptr<float>(),
         square_.data_ptr<float>(), average_.data_ptr<float>(), weights.numel()},
        {static_cast<float>(options_.beta1), static_cast<float>(options_.beta2),
         static_cast<float>(options_.clip)},
        factors.data_ptr<float>(), norm.data_ptr<float>(),
        c10::cuda::getCurrentCUDAStream().stream());
    return;
  }
#endif
  if (options_.clip > 0) gradient.mul_((options_.clip / (norm + 1e-12)).clamp_max(1));
  mean_.lerp_(gradient, 1 - options_.beta1);
  square_.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  weights.mul_(1 - factors[3]);
  weights.sub_(factors[0] * mean_ / (square_.sqrt().mul_(factors[1]).add_(1e-8)));
  average_.add_((weights - average_).mul_(factors[2]));
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
