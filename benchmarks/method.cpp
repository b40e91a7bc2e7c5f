#include "benchmarks/method.h"

#include "dre/apps/fit.h"

namespace dre::benchmarks {
namespace {

/// log N(x; mean, covariance) without the constant, which cancels. x: [n, d] -> [n]
Tensor log_gaussian(const Tensor& x, const Tensor& mean, const Tensor& covariance) {
  const Tensor factor = at::linalg_cholesky(covariance);
  const Tensor z = at::linalg_solve_triangular(factor, (x - mean).t(), /*upper=*/false);
  return -0.5 * z.square().sum(0) - factor.diagonal().log().sum();
}

}  // namespace

Tensor gaussian_plug_in(const Tensor& numerator, const Tensor& denominator, const Tensor& test,
                        bool pooled) {
  at::NoGradGuard no_grad;
  Tensor covariance0 = numerator.t().cov(), covariance1 = denominator.t().cov();
  if (pooled) covariance0 = covariance1 = 0.5 * (covariance0 + covariance1);
  return log_gaussian(test, numerator.mean(0), covariance0) -
         log_gaussian(test, denominator.mean(0), covariance1);
}

namespace {

std::vector<std::string> column_names(int64_t d) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < d; ++i) names.push_back(text("x", i));
  return names;
}

/// A fit of the library with all options at their defaults but the ones given.
Method library_method(const std::string& method, const std::string& reference = "gaussian") {
  return
      [=](const Tensor& numerator, const Tensor& denominator, const Tensor& test, uint64_t seed) {
        FitOptions options;
        options.method = method;
        options.reference = reference;
        options.seed = static_cast<int64_t>(seed);
        Progress silent;
        const FitResult result = fit(make_samples(numerator), make_samples(denominator),
                                     column_names(numerator.size(1)), options, silent);
        return result.estimator.log_ratio(test).log_ratio;
      };
}

}  // namespace

std::vector<Named<Method>> method_table() {
  std::vector<Named<Method>> table = {
      {"gaussian-plug-in",
       [](const Tensor& numerator, const Tensor& denominator, const Tensor& test, uint64_t) {
         return gaussian_plug_in(numerator, denominator, test, /*pooled=*/false);
       }},
      {"gaussian-plug-in-pooled",
       [](const Tensor& numerator, const Tensor& denominator, const Tensor& test, uint64_t) {
         return gaussian_plug_in(numerator, denominator, test, /*pooled=*/true);
       }}};
  for (const auto& name : fit_method_names()) table.push_back({name, library_method(name)});
  for (const auto& name : fit_method_names())
    table.push_back({name + "-no-reference", library_method(name, "none")});
  return table;
}

}  // namespace dre::benchmarks
