#include "dre/density/layer.h"

namespace dre {

Moved Sequence::forward(const Tensor& x) const {
  Moved all{x, at::zeros({x.size(0)}, x.options())};
  for (const auto& layer : layers_) {
    Moved one = layer->forward(all.point);
    all = {std::move(one.point), all.log_determinant + one.log_determinant};
  }
  return all;
}

Moved Sequence::inverse(const Tensor& y) const {
  Moved all{y, at::zeros({y.size(0)}, y.options())};
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    Moved one = (*layer)->inverse(all.point);
    all = {std::move(one.point), all.log_determinant + one.log_determinant};
  }
  return all;
}

void Sequence::initialise(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  Tensor at = x;
  for (const auto& layer : layers_) {
    layer->initialise(at);
    at = layer->forward(at).point;
  }
}

}  // namespace dre
