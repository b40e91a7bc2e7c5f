#include "benchmarks/method.h"

#include <sstream>

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
Method library_method(const nlohmann::json& changed) {
  FitOptions options;
  from_json(changed, options, "the method");
  validate(options);
  return
      [=](const Tensor& numerator, const Tensor& denominator, const Tensor& test, uint64_t seed) {
        FitOptions seeded = options;
        seeded.seed = static_cast<int64_t>(seed);
        Progress silent;
        const FitResult result = fit(make_samples(numerator), make_samples(denominator),
                                     column_names(numerator.size(1)), seeded, silent);
        return result.estimator.log_ratio(test).log_ratio;
      };
}

/// "a=1" as an entry of an object; what is no JSON value is a string.
void add_option(nlohmann::json& options, const std::string& text) {
  const size_t equals = text.find('=');
  check(equals != std::string::npos, "'", text, "' is not option=value");
  const std::string value = text.substr(equals + 1);
  auto parsed = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
  options[text.substr(0, equals)] = parsed.is_discarded() ? nlohmann::json(value) : parsed;
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
  for (const auto& name : fit_method_names())
    table.push_back({name, library_method({{"method", name}})});
  return table;
}

Method method_by_name(const std::string& name) {
  std::istringstream parts(name);
  std::string part;
  std::getline(parts, part, ':');
  if (part == name) return choose("method", method_table(), name);
  nlohmann::json options = {{"method", part}};
  while (std::getline(parts, part, ':')) add_option(options, part);
  return library_method(options);
}

}  // namespace dre::benchmarks
