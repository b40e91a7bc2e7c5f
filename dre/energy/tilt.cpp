#include "dre/energy/tilt.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "dre/base/error.h"
#include "dre/energy/log_ratio.h"
#include "dre/train/captured_step.h"

namespace dre {
namespace {

/// Asks something about points by given nodes; recorded as a graph where there is CUDA: on so few
/// images its many small kernels cost more to launch than to run.
class Recorded {
 public:
  using Answers = std::vector<Tensor>;
  using Question = std::function<Answers(const Tensor& z, const TimeNodes& nodes)>;

  /// shape: [m, d], of the points that are asked most.
  Recorded(Question question, torch::IntArrayRef shape, const TimeNodes& nodes, bool record)
      : question_(std::move(question)),
        z_(at::zeros(shape, nodes.t.options())),
        nodes_{nodes.t.clone(), nodes.weight.clone()},
        captured_([this] { ask(); }, z_.device(), {}, record) {}

  /// As many nodes as before. Of other numbers of points it is done without the graph.
  Answers operator()(const Tensor& z, const TimeNodes& nodes) {
    if (z.sizes() != z_.sizes()) return question_(z, nodes);
    z_.copy_(z);
    nodes_.t.copy_(nodes.t);
    nodes_.weight.copy_(nodes.weight);
    captured_.run();
    Answers out;
    for (const Tensor& answer : found_) out.push_back(answer.clone());
    return out;
  }

 private:
  void ask() {
    const Answers answers = question_(z_, nodes_);
    found_.resize(answers.size());
    for (size_t i = 0; i < answers.size(); ++i)
      if (found_[i].defined())
        found_[i].copy_(answers[i]);
      else
        found_[i] = answers[i].clone();
  }

  Question question_;
  Tensor z_;
  TimeNodes nodes_;
  Answers found_;
  CapturedStep captured_;
};

/// log r at the image of a latent point, where chains run.
Tensor log_ratio_of(const EnergyModel& model, const Tensor& z, const TimeNodes& nodes) {
  return energy_log_ratio(model, model.space().of_latent(z), nodes);
}

Slope slope_of(const EnergyModel& model, const Tensor& z, const TimeNodes& nodes) {
  return differentiated([&](const Tensor& at) { return log_ratio_of(model, at, nodes); })(z);
}

/// The densities that the model has learned between noise and data. The values, which decide, are
/// in full precision; what drives the chains need not be.
class TimeTilt final : public Tilt {
 public:
  TimeTilt(const EnergyModel& model, torch::IntArrayRef shape, const EnergyEvaluateOptions& options)
      : model_(model),
        count_(options.nodes),
        nodes_(time_nodes(model, count_)),
        values_(
            [&model](const Tensor& z, const TimeNodes& nodes) -> Recorded::Answers {
              const InPrecision full(model.network(), false);
              return {log_ratio_of(model, z, nodes)};
            },
            shape, nodes_, options.graph),
        forces_(
            [&model, half = options.half](const Tensor& z,
                                          const TimeNodes& nodes) -> Recorded::Answers {
              const InPrecision any(model.network(), half);
              return {slope_of(model, z, nodes).gradient};
            },
            shape, nodes_, options.graph) {}

  Tensor value(const Tensor& z, double beta) override {
    if (beta == 0) return at::zeros({z.size(0)}, z.options());
    // The model's correction, which log r has whole, belongs to the whole way.
    return values_(z, nodes(beta))[0].add_((beta - 1) * model_.correction.value);
  }

  Tensor force(const Tensor& z, double beta) override {
    return beta == 0 ? at::zeros_like(z) : forces_(z, nodes(beta))[0];
  }

 private:
  const TimeNodes& nodes(double beta) {
    if (beta != beta_) nodes_ = time_nodes(model_, count_, 1 - beta);
    beta_ = beta;
    return nodes_;
  }

  const EnergyModel& model_;
  int64_t count_;
  double beta_ = 1;
  TimeNodes nodes_;  // of β
  Recorded values_, forces_;
};

/// Powers of the ratio that another tilt ends at.
class PowersOf final : public Tilt {
 public:
  explicit PowersOf(std::unique_ptr<Tilt> end) : end_(std::move(end)) {}

  Tensor value(const Tensor& z, double beta) override {
    return beta == 0 ? at::zeros({z.size(0)}, z.options()) : beta * end_->value(z, 1);
  }

  Tensor force(const Tensor& z, double beta) override {
    return beta == 0 ? at::zeros_like(z) : beta * end_->force(z, 1);
  }

  std::optional<double> growth(double from, double to) const override {
    return growth_of_powers(from, to);
  }

 private:
  std::unique_ptr<Tilt> end_;
};

/// Powers of a classifier's ratio: value and slope of a point are wanted together.
std::unique_ptr<Tilt> power_tilt(const EnergyModel& model, torch::IntArrayRef shape,
                                 const EnergyEvaluateOptions& options) {
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const auto recorded = std::make_shared<Recorded>(
      [&model](const Tensor& z, const TimeNodes& by) -> Recorded::Answers {
        const InPrecision full(model.network(), false);
        const Slope slope = slope_of(model, z, by);
        return {slope.value, slope.gradient};
      },
      shape, nodes, options.graph);
  return std::make_unique<PowerTilt>([recorded, nodes](const Tensor& z) -> Slope {
    const Recorded::Answers answers = (*recorded)(z, nodes);
    return {answers[0], answers[1]};
  });
}

}  // namespace

std::unique_ptr<Tilt> make_tilt(const EnergyModel& model, const EnergyEvaluateOptions& options,
                                const EnergyAnnealOptions& anneal) {
  const torch::NoGradGuard no_grad;
  validate(anneal);
  const std::vector<int64_t> shape = {anneal.chains, model.dimension()};
  const bool over_time = ability<TimeScore>(model.score()), meets = model.meets();
  check(anneal.path != "time" || over_time, "a model trained by the objective '",
        model.options().objective,
        "' has learned no densities between noise and data; use --anneal-path power");
  check(anneal.path != "time" || !meets,
        "between images the learned densities lead away from both ends, to N(0, I) and back; use "
        "--anneal-path power");
  if (!over_time) return power_tilt(model, shape, options);
  auto tilt = std::make_unique<TimeTilt>(model, shape, options);
  if (anneal.path == "time" || (anneal.path == "auto" && !meets)) return tilt;
  return std::make_unique<PowersOf>(std::move(tilt));
}

}  // namespace dre
