#include "benchmarks/measure.h"

#include <chrono>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre::benchmarks {

Score measure(const pairs::Pair& pair, const Method& method, int64_t rows, uint64_t seed) {
  const Context context = Context{torch::kCPU, torch::kFloat64, seed}.child(pair.name());
  auto numerator_stream = context.generator("numerator");
  auto denominator_stream = context.generator("denominator");
  auto test_stream = context.generator("test");
  const Tensor numerator = pair.sample_numerator(rows, numerator_stream);
  const Tensor denominator = pair.sample_denominator(rows, denominator_stream);
  const Tensor test = pair.sample_test(test_rows, test_stream);

  const auto start = std::chrono::steady_clock::now();
  const Tensor estimate = method(numerator, denominator, test, seed);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  check(estimate.sizes() == torch::IntArrayRef{test.size(0)}, "a method must return [",
        test.size(0), "] log ratios, got ", estimate.sizes());
  const Tensor error = estimate.to(torch::kCPU, torch::kFloat64) - pair.log_ratio(test);
  return {error.square().mean().item<double>(), elapsed.count()};
}

}  // namespace dre::benchmarks
