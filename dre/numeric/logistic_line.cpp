#include "dre/numeric/logistic_line.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

struct Side {
  Tensor design;  // [n, 2]: 1, f
  Tensor share;   // [n], sums to one half
  double sign;    // of the log-odds of being right
};

Side side_of(const Tensor& f, const Tensor& weight, double sign) {
  check(f.dim() == 1 && f.size(0) > 0, "scores must be a column with rows, got ", f.sizes());
  const Tensor x = f.to(torch::kCPU, torch::kFloat64);
  const Tensor w = weight.defined() ? weight.to(torch::kCPU, torch::kFloat64) : torch::ones_like(x);
  return {torch::stack({torch::ones_like(x), x}, 1), w / (2 * w.sum()), sign};
}

/// What the line minimises: the mean logistic loss, and the weight of one row for the identity.
double penalised_loss(const Side (&sides)[2], const Tensor& line, const Tensor& prior,
                      double rows) {
  double loss = (line - prior).square().sum().item<double>() / (2 * rows);
  for (const auto& [design, share, sign] : sides)
    loss += share.dot(torch::softplus(-sign * design.mv(line))).item<double>();
  return loss;
}

double effective_rows(const Tensor& f, const Tensor& weight) {
  return weight.defined() ? effective_sample_size(weight) : static_cast<double>(f.size(0));
}

}  // namespace

Tensor LogisticLine::influence(const Tensor& f, int sample) const {
  const Tensor design = torch::stack({torch::ones_like(f), f}, 1);
  if (!inverse_information.defined()) return torch::zeros_like(design);
  const double sign = sample == 0 ? 1 : -1;
  const Tensor wrong = torch::sigmoid(-sign * (*this)(f));
  return (0.5 * sign * wrong).unsqueeze(1) * design.matmul(inverse_information);
}

LogisticLine fit_logistic_line(const TwoScores& scores) {
  const at::NoGradGuard no_grad;
  const Side sides[] = {side_of(scores.f0, scores.weight0, 1),
                        side_of(scores.f1, scores.weight1, -1)};
  const double rows =
      effective_rows(scores.f0, scores.weight0) + effective_rows(scores.f1, scores.weight1);
  const Tensor prior = torch::tensor({0.0, 1.0}, torch::kFloat64);
  Tensor line = prior.clone(), inverse;
  for (int step = 0; step < 100; ++step) {
    Tensor gradient = (line - prior) / rows;
    Tensor information = torch::eye(2, torch::kFloat64) / rows;
    for (const auto& [design, share, sign] : sides) {
      const Tensor wrong = torch::sigmoid(-sign * design.mv(line));
      gradient -= sign * design.t().mv(share * wrong);
      information += (design * (share * wrong * (1 - wrong)).unsqueeze(1)).t().mm(design);
    }
    inverse = at::linalg_inv(information);
    Tensor move = inverse.mv(gradient);
    // Far from the optimum the curvature vanishes and a full step would leave the numbers.
    const double length = move.norm().item<double>();
    if (length > 1) move /= length;
    // A few scores far from all others make the curvature change so fast that full steps may never
    // settle. The loss is convex: less of a step makes it less.
    const double before = penalised_loss(sides, line, prior, rows);
    const double least = 1e-4 * move.dot(gradient).item<double>() - 1e-14 * before;
    for (int halving = 0; halving < 60; ++halving, move /= 2)
      if (penalised_loss(sides, line - move, prior, rows) <= before - least) break;
    line -= move;
    if (length < 1e-10) break;
  }
  return {line[0].item<double>(), line[1].item<double>(), inverse};
}

}  // namespace dre
