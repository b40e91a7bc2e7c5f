#include "dre/train/best_so_far.h"

#include <cmath>

namespace dre {

BestSoFar::BestSoFar(const TrainOptions& options, const Tensor& weights)
    : most_steps_(options.steps), patience_(options.patience), weights_(weights.detach().clone()) {}

bool BestSoFar::look(double train_loss, double held_out_loss, const Tensor& weights) {
  result_.curve.push_back({result_.steps, train_loss, held_out_loss});
  if (result_.curve.size() > 1 && !(held_out_loss < result_.best_loss)) return false;
  result_.best_loss = held_out_loss;
  result_.best_step = result_.steps;
  weights_.copy_(weights);
  return true;
}

TrainResult::Status BestSoFar::verdict() const {
  if (!std::isfinite(result_.curve.back().held_out)) return TrainResult::Status::not_finite;
  const bool out_of_patience = patience_ > 0 && result_.steps - result_.best_step >= patience_;
  return out_of_patience ? TrainResult::Status::early : TrainResult::Status::finished;
}

bool BestSoFar::over() const {
  return verdict() != TrainResult::Status::finished || result_.steps >= most_steps_;
}

void BestSoFar::end(bool stopped) {
  result_.status = stopped ? TrainResult::Status::interrupted : verdict();
}

NamedTensors BestSoFar::state() const {
  return {{"best", weights_.clone()},
          {"curve", curve_tensor(result_.curve)},
          {"progress", torch::tensor({result_.steps, result_.best_step}, torch::kInt64)},
          {"best_loss", torch::tensor({result_.best_loss}, torch::kFloat64)}};
}

void BestSoFar::restore(const NamedTensors& state) {
  weights_.copy_(at(state, "best"));
  result_.curve = curve_of(at(state, "curve"));
  result_.steps = at(state, "progress")[0].item<int64_t>();
  result_.best_step = at(state, "progress")[1].item<int64_t>();
  result_.best_loss = at(state, "best_loss").item<double>();
}

}  // namespace dre
