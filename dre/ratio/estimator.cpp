#include "dre/ratio/estimator.h"

#include <algorithm>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"

namespace dre {
namespace {

Estimate joined(const std::vector<Estimate>& pieces) {
  Estimate all;
  std::vector<Tensor> log_ratio, error, spread;
  for (const auto& piece : pieces) {
    log_ratio.push_back(piece.log_ratio);
    error.push_back(piece.error);
    if (piece.spread.defined()) spread.push_back(piece.spread);
    all.evaluations = std::max(all.evaluations, piece.evaluations);
    if (all.status == Status::ok) all.status = piece.status;
  }
  all.log_ratio = torch::cat(log_ratio);
  all.error = torch::cat(error);
  if (!spread.empty()) all.spread = torch::cat(spread);
  return all;
}

}  // namespace

void RatioOptions::visit(OptionVisitor& v) {
  v("path", path, path_names(),
    "path of the integral; line needs joint or velocity, flow needs velocity");
  integrate.visit(v);
}

Estimator::Estimator(Coordinates coordinates, GaussianEnds ends, bool use_reference,
                     const Context& context)
    : coordinates_(std::move(coordinates)),
      ends_(ends.to(context.device)),
      use_reference_(use_reference),
      context_(context) {
  encoding = Encoding(names());
}

Member Estimator::make_member(const std::string& method, const BridgeOptions& bridge_options,
                              const ScoreOptions& options) const {
  const BridgePtr bridge = make_bridge(bridge_options);
  const auto gaussian = std::make_shared<const GaussianPath>(bridge, ends_);
  const Context own = context_.child(method);
  const int64_t dimension = ends_.mean0.size(0);
  ScorePtr score =
      make_score(method, options, bridge, use_reference_ ? gaussian : nullptr, dimension, own);
  return {method, bridge_options, options, std::move(score), gaussian};
}

Estimate Estimator::log_ratio(const Tensor& raw, const RatioOptions& options) const {
  check(raw.dim() == 2 && raw.size(1) == static_cast<int64_t>(names().size()), "rows must be [n, ",
        names().size(), "], the columns that the model uses (", join(names()), "), got ",
        raw.sizes());
  torch::NoGradGuard no_grad;
  return log_ratio_at(coordinates_.forward(raw), options);
}

Estimate Estimator::log_ratio_at(const Tensor& z, const RatioOptions& options) const {
  torch::NoGradGuard no_grad;
  const int64_t rows_at_once = 8192;
  std::vector<Estimate> pieces;
  for (int64_t start = 0; start < z.size(0) || pieces.empty(); start += rows_at_once)
    pieces.push_back(piece(z.slice(0, start, std::min(start + rows_at_once, z.size(0))), options));
  return joined(pieces);
}

Tensor Estimator::reference_log_ratio(const Tensor& z) const {
  if (!use_reference_) return torch::zeros({z.size(0)}, torch::kFloat64);
  return gaussian_log_ratio(ends_, z.to(context_.options())).cpu() + cells.deviation(z);
}

Estimate Estimator::piece(const Tensor& z, const RatioOptions& options) const {
  const Tensor x = z.to(context_.options());
  Estimate out;
  // Deviations from the reference, weighted: a total weight below one shrinks towards it.
  const Tensor base = reference_log_ratio(z).to(context_.device);
  out.log_ratio = base.clone();
  out.error = torch::zeros_like(base);
  std::vector<Tensor> each;
  double total = 0;
  for (const auto& member : members_) {
    check_path(options.path, *member.score);
    if (member.weight == 0) continue;  // nor do its failures count
    const PathRatio ratio =
        path_ratio(options.path, *member.score, *member.gaussian, x, options.integrate);
    const Tensor log_ratio = ratio.log_ratio + member.correction;
    each.push_back(log_ratio);
    total += member.weight;
    out.log_ratio += member.weight * (log_ratio - base);
    out.error += member.weight * ratio.error;
    out.evaluations = std::max(out.evaluations, ratio.evaluations);
    if (out.status == Status::ok) out.status = ratio.status;
  }
  if (each.size() > 1) out.spread = total * torch::stack(each).std(0, false).cpu();
  out.log_ratio = out.log_ratio.cpu();
  out.error = out.error.cpu();
  if (out.status == Status::ok && out.log_ratio.isnan().any().item<bool>())
    out.status = Status::non_finite;
  return out;
}

}  // namespace dre
