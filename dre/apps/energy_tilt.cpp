#include "dre/apps/energy_tilt.h"

#include <utility>
#include <vector>

#include "dre/base/error.h"
#include "dre/train/captured_step.h"

namespace dre {
namespace {

/// log r by given nodes, and its gradient, at a given number of points; recorded as a graph where
/// there is CUDA: on so few images its many small kernels cost more to launch than to run.
class RecordedSlope {
 public:
  /// shape: [m, d], of the points that are asked most.
  RecordedSlope(const EnergyModel& model, torch::IntArrayRef shape, int64_t nodes, bool record)
      : model_(model),
        z_(at::zeros(shape, model.context().options())),
        nodes_(time_nodes(model, nodes)),
        found_{at::zeros({shape[0]}, z_.options()), at::zeros_like(z_)},
        captured_([this] { ask(); }, z_.device(), {}, record) {}

  /// As many nodes as before. Of other numbers of points it is done without the graph.
  Slope operator()(const Tensor& z, const TimeNodes& nodes) {
    if (z.sizes() != z_.sizes()) return slope(z, nodes);
    z_.copy_(z);
    nodes_.t.copy_(nodes.t);
    nodes_.weight.copy_(nodes.weight);
    captured_.run();
    return {found_.value.clone(), found_.gradient.clone()};
  }

 private:
  Slope slope(const Tensor& z, const TimeNodes& nodes) const {
    return differentiated(
        [&](const Tensor& points) { return energy_log_ratio(model_, points, nodes); })(z);
  }

  void ask() {
    const Slope found = slope(z_, nodes_);
    found_.value.copy_(found.value);
    found_.gradient.copy_(found.gradient);
  }

  const EnergyModel& model_;
  Tensor z_;
  TimeNodes nodes_;
  Slope found_;
  CapturedStep captured_;
};

using SlopePtr = std::shared_ptr<RecordedSlope>;

/// The densities that the model has learned between noise and data. Asks once where value and force
/// of the same points are wanted.
class TimeTilt final : public Tilt {
 public:
  TimeTilt(const EnergyModel& model, int64_t nodes, SlopePtr recorded)
      : model_(model), count_(nodes), recorded_(std::move(recorded)) {}

  Tensor value(const Tensor& z, double beta) override {
    return beta == 0 ? at::zeros({z.size(0)}, z.options()) : at(z, beta).value;
  }
  Tensor force(const Tensor& z, double beta) override {
    return beta == 0 ? at::zeros_like(z) : at(z, beta).gradient;
  }

 private:
  const Slope& at(const Tensor& z, double beta) {
    const bool same = last_.defined() && beta == beta_;
    if (same && z.is_same(last_)) return slope_;
    if (!same) nodes_ = time_nodes(model_, count_, 1 - beta);
    slope_ = (*recorded_)(z, nodes_);
    // The model's correction, which log r has whole, belongs to the whole way.
    slope_.value.add_((beta - 1) * model_.correction);
    last_ = z;
    beta_ = beta;
    return slope_;
  }

  const EnergyModel& model_;
  int64_t count_;
  SlopePtr recorded_;
  double beta_ = 0;
  TimeNodes nodes_;  // of β
  Tensor last_;      // the points of the slope
  Slope slope_;
};

}  // namespace

std::unique_ptr<Tilt> make_tilt(const EnergyModel& model, const EnergyEvaluateOptions& options,
                                const EnergyAnnealOptions& anneal) {
  const torch::NoGradGuard no_grad;
  validate(anneal);
  const bool over_time = ability<TimeScore>(model.score()) != nullptr;
  check(anneal.path != "time" || over_time, "a model trained by the objective '",
        model.options().objective,
        "' has learned no densities between noise and data; use --anneal-path power");
  const int64_t nodes = options.nodes;
  const auto recorded = std::make_shared<RecordedSlope>(
      model, std::vector<int64_t>{anneal.chains, model.dimension()}, nodes, options.graph);
  if (anneal.path != "power" && over_time)
    return std::make_unique<TimeTilt>(model, nodes, recorded);
  return std::make_unique<PowerTilt>(
      [recorded, all = time_nodes(model, nodes)](const Tensor& z) { return (*recorded)(z, all); });
}

}  // namespace dre
