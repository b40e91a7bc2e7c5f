#include "benchmarks/pairs/pair.h"

#include "dre/base/error.h"

namespace dre::pairs {

Pair::Pair(std::string name, PairParts parts) : name_(std::move(name)), parts_(std::move(parts)) {
  check(parts_.numerator && parts_.denominator, "pair ", name_, " needs two densities");
  check(parts_.numerator->dimension() == parts_.denominator->dimension(), "pair ", name_, " has ",
        parts_.numerator->dimension(), " and ", parts_.denominator->dimension(), " dimensions");
  if (!parts_.test_numerator) parts_.test_numerator = parts_.numerator;
  if (!parts_.test_denominator) parts_.test_denominator = parts_.denominator;
}

Tensor Pair::sample_numerator(int64_t n, at::Generator& generator) const {
  return parts_.numerator->sample(n, generator);
}

Tensor Pair::sample_denominator(int64_t n, at::Generator& generator) const {
  return parts_.denominator->sample(n, generator);
}

Tensor Pair::sample_test(int64_t n, at::Generator& generator) const {
  const int64_t half = n / 2;
  return torch::cat({parts_.test_numerator->sample(n - half, generator),
                     parts_.test_denominator->sample(half, generator)});
}

Tensor Pair::log_ratio(const Tensor& x) const {
  at::NoGradGuard no_grad;
  return parts_.numerator->log_prob(x) - parts_.denominator->log_prob(x);
}

}  // namespace dre::pairs
