#include "dre/train/result.h"

namespace dre {

std::string describe(TrainResult::Status status) {
  switch (status) {
    case TrainResult::Status::finished:
      return "finished";
    case TrainResult::Status::early:
      return "stopped early";
    case TrainResult::Status::interrupted:
      return "interrupted";
    case TrainResult::Status::not_finite:
      return "loss not finite";
  }
  return "unknown";
}

torch::Tensor curve_tensor(const std::vector<CurvePoint>& curve) {
  torch::Tensor out = torch::empty({static_cast<int64_t>(curve.size()), 3}, torch::kFloat64);
  for (size_t i = 0; i < curve.size(); ++i) {
    out[i][0] = static_cast<double>(curve[i].step);
    out[i][1] = curve[i].train;
    out[i][2] = curve[i].held_out;
  }
  return out;
}

std::vector<CurvePoint> curve_of(const torch::Tensor& tensor) {
  const auto view = tensor.accessor<double, 2>();
  std::vector<CurvePoint> curve;
  for (int64_t i = 0; i < tensor.size(0); ++i)
    curve.push_back({static_cast<int64_t>(view[i][0]), view[i][1], view[i][2]});
  return curve;
}

}  // namespace dre
