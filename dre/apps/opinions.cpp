#include "dre/apps/opinions.h"

#include <algorithm>

#include "dre/ratio/correction.h"

namespace dre {
namespace {

double learned_weight(const Estimator& estimator) {
  double sum = 0;
  for (const auto& member : estimator.members()) sum += member.weight;
  return sum;
}

}  // namespace

Opinions Opinions::empty(int64_t rows) {
  return {torch::empty({rows}, torch::kFloat64), torch::empty({rows}, torch::kFloat64)};
}

void Opinions::put(const Tensor& rows, const Opinions& about_them) {
  reference.index_copy_(0, rows, about_them.reference);
  learned.index_copy_(0, rows, about_them.learned);
}

Opinions opinions(const Estimator& estimator, const Tensor& raw) {
  const at::NoGradGuard no_grad;
  Estimator whole = estimator;
  set_share(whole, 1);
  const Tensor z = whole.coordinates().forward(raw);
  const Tensor learned = whole.log_ratio_at(z).log_ratio;
  if (!whole.uses_reference()) return {learned, learned};
  return {whole.reference_log_ratio(z), learned};
}

BelievedOpinions believed_opinions(const Opinions& numerator, const Tensor& weight0,
                                   const Opinions& denominator, const Tensor& weight1) {
  return {believed_range(rated_rows(numerator.reference, weight0),
                         rated_rows(denominator.reference, weight1)),
          believed_range(rated_rows(numerator.learned, weight0),
                         rated_rows(denominator.learned, weight1))};
}

double learned_share(const Opinions& numerator, const Tensor& weight0, const Opinions& denominator,
                     const Tensor& weight1, double otherwise) {
  const RatedRows top = rated_rows(numerator.reference, weight0);
  const RatedRows bottom = rated_rows(denominator.reference, weight1);
  const auto rows = std::min(numerator.reference.size(0), denominator.reference.size(0));
  if (deciding_rows(top, bottom) < std::min(fewest_deciding_rows, 0.25 * static_cast<double>(rows)))
    return otherwise;
  return best_share(top, bottom, rated_rows(numerator.learned, weight0),
                    rated_rows(denominator.learned, weight1), 1)
      .value;
}

TwoScores best_mix(const Opinions& numerator, const Tensor& weight0, const Opinions& denominator,
                   const Tensor& weight1, double otherwise) {
  const BelievedOpinions believed = believed_opinions(numerator, weight0, denominator, weight1);
  const Opinions top = believed(numerator), bottom = believed(denominator);
  const double share = learned_share(top, weight0, bottom, weight1, otherwise);
  return {top.mixed(share), weight0, bottom.mixed(share), weight1};
}

double kept_weight(const FitResult& fit) { return learned_weight(fit.estimator); }

void set_share(Estimator& estimator, double share) {
  auto& members = estimator.members();
  const double kept = learned_weight(estimator), equal = 1 / static_cast<double>(members.size());
  for (auto& member : members) member.weight = share * (kept > 0 ? member.weight / kept : equal);
}

}  // namespace dre
