#include "dre/integrate/ode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dre/base/error.h"
#include "dre/integrate/tableau.h"

namespace dre {
namespace {

/// Σ_i weights_i stages_i, without the terms of weight zero.
Tensor combine(const std::vector<Tensor>& stages, const std::vector<double>& weights) {
  Tensor sum = torch::zeros_like(stages.front());
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] != 0) sum.add_(stages[i], weights[i]);
  return sum;
}

class Solver final {
 public:
  Solver(const VectorField& field, const Tensor& y0, double from, double to,
         const OdeOptions& options, const Tableau& tableau)
      : field_(field), options_(options), tableau_(tableau), t_(from), end_(to), y_(y0) {
    out_.error = torch::zeros({y0.size(0)}, y0.options().dtype(torch::kFloat64));
  }

  OdeSolution adaptive() {
    const double sign = end_ < t_ ? -1 : 1;
    if (t_ == end_ || y_.numel() == 0) return finish(true);
    slope_ = evaluate(y_, t_);
    if (!slope_.isfinite().all().item<bool>()) return finish(false);
    double size = first_step(sign);
    bool after_rejection = false;
    while (t_ != end_ && out_.status == Status::ok) {
      const double smallest = 10 * std::abs(std::nextafter(t_, sign * infinity) - t_);
      size = std::max(size, smallest);
      const Step step = attempt(sign * std::min(size, std::abs(end_ - t_)));
      const bool accept = step.error < 1;
      if (accept) advance(step);
      size = std::abs(step.h) * factor(step.error, after_rejection && accept);
      after_rejection = !accept;
      if (!accept) ++out_.rejected;
      if (!accept && size < smallest) out_.status = trouble(step);
      if (t_ != end_ && out_.accepted + out_.rejected >= options_.max_steps)
        out_.status = trouble(step);
    }
    return finish(true);
  }

  OdeSolution fixed() {
    const double start = t_, h = (end_ - start) / options_.steps;
    for (int64_t i = 0; i < options_.steps; ++i) {
      t_ = start + i * h;
      slope_ = evaluate(y_, t_);
      y_ = y_ + h * combine(stages(h), tableau_.b);
      ++out_.accepted;
    }
    out_.error.fill_(std::nan(""));
    return finish(y_.isfinite().all().item<bool>());
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Step {
    double h;
    Tensor y, slope, local_error;
    double error;  ///< in units of the tolerance
  };

  Tensor evaluate(const Tensor& y, double t) {
    ++out_.evaluations;
    const Tensor slope = field_(y, t);
    check(slope.sizes() == y.sizes(), "the vector field must give the shape ", y.sizes(),
          " of its argument, gave ", slope.sizes());
    return slope.to(y.scalar_type());
  }

  std::vector<Tensor> stages(double h) {
    std::vector<Tensor> k = {slope_};
    for (size_t i = 1; i < tableau_.c.size(); ++i)
      k.push_back(evaluate(y_ + h * combine(k, tableau_.a[i]), t_ + tableau_.c[i] * h));
    return k;
  }

  Step attempt(double h) {
    const std::vector<Tensor> k = stages(h);
    const Tensor y = y_ + h * combine(k, tableau_.b);
    const Tensor local_error = h * combine(k, tableau_.error);
    const Tensor scale = options_.atol + options_.rtol * torch::max(y_.abs(), y.abs());
    const bool reuse = tableau_.first_same_as_last;
    return {h, y, reuse ? k.back() : evaluate(y, t_ + h), local_error, norm(local_error / scale)};
  }

  void advance(const Step& step) {
    const bool last = std::abs(end_ - t_) <= std::abs(step.h);
    t_ = last ? end_ : t_ + step.h;
    y_ = step.y;
    slope_ = step.slope;
    out_.error += step.local_error.abs().amax(1).to(torch::kFloat64);
    ++out_.accepted;
  }

  /// One number a step has to come to the host: the size of the next step hangs on it.
  double norm(const Tensor& scaled) const {
    const Tensor square = scaled.to(torch::kFloat64).square();
    const Tensor mean = options_.norm == "max" ? square.mean(1).max() : square.mean();
    return std::sqrt(mean.item<double>());
  }

  /// How much longer the next step may be. Right after a rejection it does not grow.
  double factor(double error, bool after_rejection) const {
    constexpr double safety = 0.9, shortest = 0.2, longest = 10;
    if (!(error < infinity)) return shortest;
    if (error == 0) return after_rejection ? 1 : longest;
    const double wanted = safety * std::pow(error, -1.0 / (tableau_.error_order + 1));
    if (error >= 1) return std::max(shortest, wanted);
    return std::min(after_rejection ? 1.0 : longest, wanted);
  }

  /// Hairer's: an explicit Euler step of h0 measures the second derivative.
  double first_step(double sign) {
    const double length = std::abs(end_ - t_);
    const Tensor scale = options_.atol + options_.rtol * y_.abs();
    const double d0 = norm(y_ / scale), d1 = norm(slope_ / scale);
    const double h0 = std::min(length, d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1);
    const Tensor slope = evaluate(y_ + sign * h0 * slope_, t_ + sign * h0);
    const double d2 = norm((slope - slope_) / scale) / h0;
    const double steepest = std::max(d1, d2);
    const double h1 = steepest <= 1e-15
                          ? std::max(1e-6, h0 * 1e-3)
                          : std::pow(0.01 / steepest, 1.0 / (tableau_.error_order + 1));
    const double h = std::min({100 * h0, h1, length});
    return h > 0 ? h : h0;
  }

  static Status trouble(const Step& step) {
    return std::isfinite(step.error) ? Status::not_converged : Status::non_finite;
  }

  OdeSolution finish(bool finite) {
    out_.y = y_;
    if (!finite) out_.status = Status::non_finite;
    return out_;
  }

  const VectorField& field_;
  const OdeOptions& options_;
  const Tableau tableau_;
  double t_, end_;
  Tensor y_, slope_;
  OdeSolution out_;
};

}  // namespace

OdeSolution solve_ode(const VectorField& field, const Tensor& y0, double from, double to,
                      const OdeOptions& options) {
  const torch::NoGradGuard no_grad;
  validate(options);
  check(static_cast<bool>(field), "the vector field is empty; give a function of y and t");
  check(y0.dim() == 2 && y0.is_floating_point(), "the start must be floating point of shape ",
        "[n, k], got ", y0.sizes());
  check(std::isfinite(from) && std::isfinite(to), "times must be finite, got ", from, " to ", to);
  if (options.method == "rk4") return Solver(field, y0, from, to, options, classical_rk4()).fixed();
  check(options.rtol > 0 || options.atol > 0, "rk45 needs rtol or atol above 0");
  return Solver(field, y0, from, to, options, dormand_prince()).adaptive();
}

}  // namespace dre
