/// One training step of time score matching (forward, loss, backward; no optimiser), in one run:
///
///     by parts:  L = E[s^2 + 2 ds/dt] + 2 E_q[s(x0, 0)] - 2 E_p[s(x1, 1)]    (the paper's)
///     pathwise:  L = E[s^2 - 2 (grad s).(dx_t/dt)]                           (the same in the
///     mean)
///
/// by duals through dense_stack, against double backward through LibTorch's own operations.
///
/// Usage: training_step [repetitions [width]]
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dre/base/threads.h"
#include "dre/base/version.h"
#include "dre/dual/layers.h"
#include "dre/network/mlp.h"

namespace {

using dre::Dual;
using dre::Tensor;

constexpr int64_t batch = 256, columns = 2, hidden = 3;

struct Batch {
  Tensor x, t;         ///< points on the bridge and their times
  Tensor velocity;     ///< dx_t/dt
  Tensor ends, end_t;  ///< x0 at t = 0, then x1 at t = 1
};

Batch make_batch(at::Generator& generator) {
  const Tensor x0 = dre::normal({batch, columns}, torch::kFloat32, generator) + 4;
  const Tensor x1 = dre::normal({batch, columns}, torch::kFloat32, generator);
  const Tensor t = dre::uniform({batch, 1}, torch::kFloat32, generator);
  return {(1 - t) * x0 + t * x1, t, x1 - x0, at::cat({x0, x1}),
          at::cat({at::zeros({batch, 1}), at::ones({batch, 1})})};
}

Tensor loss_of(const Tensor& score, const Tensor& derivative, const Tensor& ends) {
  return (score * score + 2 * derivative).mean() +
         2 * (ends.narrow(0, 0, batch).mean() - ends.narrow(0, batch, batch).mean());
}

Tensor dual_step(dre::Mlp& mlp, const Batch& b) {
  mlp.parameters().zero_gradient();
  const Dual score = mlp.forward(b.x, {b.t, at::ones_like(b.t)});
  const Tensor loss = loss_of(score.value, score.tangent, mlp.forward(b.ends, b.end_t).value);
  loss.backward();
  return loss.detach();
}

Tensor pathwise_step(dre::Mlp& mlp, const Batch& b) {
  mlp.parameters().zero_gradient();
  const Dual score = mlp.forward({b.x, b.velocity}, b.t);
  const Tensor loss = (score.value.square() - 2 * score.tangent).mean();
  loss.backward();
  return loss.detach();
}

Tensor plain_forward(const dre::Mlp& mlp, const Tensor& x, const Tensor& t) {
  const auto& leaves = mlp.parameters().named();
  Tensor out = at::cat({x, t}, 1);
  for (size_t i = 0; i < leaves.size(); i += 2) {
    if (i > 0) out = at::elu(out);
    out = at::addmm(leaves[i + 1].second, out, leaves[i].second.t());
  }
  return out;
}

Tensor plain_step(dre::Mlp& mlp, const Batch& b) {
  mlp.parameters().zero_gradient();
  const Tensor t = b.t.clone().requires_grad_();
  const Tensor score = plain_forward(mlp, b.x, t);
  const Tensor derivative =
      torch::autograd::grad({score}, {t}, {at::ones_like(score)}, true, true)[0];
  const Tensor loss = loss_of(score, derivative, plain_forward(mlp, b.ends, b.end_t));
  loss.backward();
  return loss.detach();
}

Tensor plain_pathwise_step(dre::Mlp& mlp, const Batch& b) {
  mlp.parameters().zero_gradient();
  const Tensor x = b.x.clone().requires_grad_();
  const Tensor score = plain_forward(mlp, x, b.t);
  const Tensor gradient =
      torch::autograd::grad({score}, {x}, {at::ones_like(score)}, true, true)[0];
  const Tensor derivative = (gradient * b.velocity).sum(1, true);
  const Tensor loss = (score.square() - 2 * derivative).mean();
  loss.backward();
  return loss.detach();
}

/// Time on the clock, and time of the processor over all threads: the second stays honest on a busy
/// machine.
struct Cost {
  double wall_ms, processor_ms;
};

Cost cost(const std::function<void()>& work) {
  const std::clock_t processor = std::clock();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), 1e3 * double(std::clock() - processor) / CLOCKS_PER_SEC};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// LibTorch's own way gets the threads that the machine's BLAS starts by default; ours the one pool
/// that use_threads leaves.
enum class Threads { as_found, one_pool };

void choose_threads(Threads threads) {
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set) set(at::get_num_threads());
  if (threads == Threads::one_pool) dre::use_threads(0);
}

struct Item {
  std::string name;
  Threads threads;
  std::function<void()> work;
  Cost median{};
};

/// All items in turn, again and again, so that a slow moment of the machine hits them alike.
void measure(std::vector<Item>& items, int repetitions) {
  std::vector<std::vector<double>> wall(items.size()), processor(items.size());
  for (int i = -3; i < repetitions; ++i)
    for (size_t k = 0; k < items.size(); ++k) {
      choose_threads(items[k].threads);
      const Cost once = cost(items[k].work);
      if (i < 0) continue;
      wall[k].push_back(once.wall_ms);
      processor[k].push_back(once.processor_ms);
    }
  for (size_t k = 0; k < items.size(); ++k)
    items[k].median = {median(wall[k]), median(processor[k])};
}

/// The matrix products of one step without anything around them, into outputs that exist.
/// Rows: batch values, batch tangents, 2 * batch values at the ends.
std::function<void()> products(int64_t width, const std::vector<int64_t>& row_blocks) {
  struct Block {
    Tensor in, out, weight, weight_gradient;
  };
  std::vector<Block> blocks;
  for (const int64_t rows : row_blocks)
    blocks.push_back({at::ones({rows, width}), at::ones({rows, width}), at::ones({width, width}),
                      at::empty({width, width})});
  return [blocks] {
    for (int64_t layer = 1; layer < hidden; ++layer)
      for (Block b : blocks) {
        at::mm_out(b.out, b.in, b.weight.t());
        at::mm_out(b.out, b.in, b.weight);
        at::mm_out(b.weight_gradient, b.in.t(), b.in);
      }
  };
}

/// The activations of one pathwise step, forward: bias, value, tangent, slope and bend of each row.
std::function<void()> activations(int64_t width) {
  const Tensor z = at::ones({4, batch, width}).neg(), out = at::empty({2, batch, width});
  const Tensor bias = at::zeros({width});
  const dre::PairRow<float> row = dre::activations().front().pair_row_float;
  return [=] {
    const int64_t half = batch * width;
    float *in = z.data_ptr<float>(), *y = out.data_ptr<float>();
    for (int64_t layer = 0; layer < hidden; ++layer)
      for (int64_t i = 0; i < half; i += width)
        row(in + i, in + half + i, bias.data_ptr<float>(), y + i, y + half + i, in + 2 * half + i,
            in + 3 * half + i, width);
  };
}

/// Tensors of no size worth mentioning: what remains is the price of the graph.
std::function<void()> overhead() {
  auto generator = dre::Context{}.generator("overhead");
  dre::MlpOptions options;
  options.inputs = columns;
  options.width = 1;
  auto mlp = std::make_shared<dre::Mlp>(options, dre::Context{}, generator);
  mlp->parameters().flatten();
  const Batch b = make_batch(generator);
  return [=] { dual_step(*mlp, b); };
}

using Step = Tensor (*)(dre::Mlp&, const Batch&);

double gradient_difference(dre::Mlp& mlp, const Batch& b, Step dual, Step plain) {
  dual(mlp, b);
  const Tensor ours = mlp.parameters().flat_gradient().clone();
  plain(mlp, b);
  const Tensor theirs = mlp.parameters().flat_gradient();
  return ((ours - theirs).norm() / theirs.norm()).item<double>();
}

/// The gradients of many batches: their mean, and the root of the summed variances of its entries.
struct Spread {
  Tensor mean;
  double noise;
};

Spread spread(dre::Mlp& mlp, Step step, int batches) {
  auto generator = dre::Context{}.generator("batches");
  std::vector<Tensor> all;
  for (int i = 0; i < batches; ++i) {
    step(mlp, make_batch(generator));
    all.push_back(mlp.parameters().flat_gradient().to(torch::kFloat64));
  }
  const Tensor gradients = at::stack(all);
  return {gradients.mean(0), std::sqrt(gradients.var(0).sum().item<double>())};
}

/// Both losses on the same batches: one gradient in the mean, and how noisy each is.
void print_spreads(dre::Mlp& mlp) {
  const int batches = 400;
  const Spread parts = spread(mlp, dual_step, batches), path = spread(mlp, pathwise_step, batches);
  const double error = std::hypot(parts.noise, path.noise) / std::sqrt(double(batches));
  std::printf(
      "mean gradient of %d batches: by parts and pathwise differ by %.2f standard errors of its "
      "norm; noise of one batch by parts %.3g, pathwise %.3g\n\n",
      batches, (parts.mean - path.mean).norm().item<double>() / error, parts.noise, path.noise);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 60;
  const int64_t width = argc > 2 ? std::atoi(argv[2]) : 256;
  const dre::Context context;
  auto generator = context.generator("benchmark");
  dre::MlpOptions options;
  options.inputs = columns;
  options.width = width;
  dre::Mlp mlp(options, context, generator);
  mlp.parameters().flatten();
  const Batch b = make_batch(generator);

#if defined(__aarch64__)
  const char* arch = "aarch64";
#elif defined(__x86_64__)
  const char* arch = "x86_64";
#else
  const char* arch = "other";
#endif
  std::printf("%s, %u cores, %d threads, LibTorch %s, float32\n", arch,
              std::thread::hardware_concurrency(), at::get_num_threads(),
              dre::torch_version().c_str());
  std::printf("MLP %ld+1 -> %ld x %ld ELU -> 1, batch %ld, %d repetitions\n", long(columns),
              long(hidden), long(width), long(batch), repetitions);
  std::printf("relative difference of the gradients: by parts %.1e, pathwise %.1e\n",
              gradient_difference(mlp, b, dual_step, plain_step),
              gradient_difference(mlp, b, pathwise_step, plain_pathwise_step));
  print_spreads(mlp);

  std::vector<Item> items = {
      {"duals, pathwise", Threads::one_pool, [&] { pathwise_step(mlp, b); }},
      {"duals, by parts", Threads::one_pool, [&] { dual_step(mlp, b); }},
      {"double backward, pathwise", Threads::as_found, [&] { plain_pathwise_step(mlp, b); }},
      {"double backward, by parts", Threads::as_found, [&] { plain_step(mlp, b); }},
      {"matrix products by parts", Threads::as_found, products(width, {2 * batch, 2 * batch})},
      {"matrix products pathwise", Threads::as_found, products(width, {2 * batch})},
      {"activations pathwise, one thread", Threads::one_pool, activations(width)},
      {"graph of the step by parts at width 1", Threads::one_pool, overhead()},
  };
  measure(items, repetitions);
  std::printf("%-44s %8s %12s\n", "median of one step, ms", "wall", "processor");
  for (const Item& item : items)
    std::printf("%-44s %8.3f %12.3f\n", item.name.c_str(), item.median.wall_ms,
                item.median.processor_ms);
  const auto faster = [&](const char* what, size_t ours, size_t theirs) {
    std::printf("%s: %.2f wall, %.2f processor\n", what,
                items[theirs].median.wall_ms / items[ours].median.wall_ms,
                items[theirs].median.processor_ms / items[ours].median.processor_ms);
  };
  std::printf("\nspeed-up over double backward\n");
  faster("  pathwise, the same loss", 0, 2);
  faster("  by parts, the same loss", 1, 3);
  faster("  our default, pathwise, over the paper's loss by parts", 0, 3);
  const double flops = 2.0 * 3 * (hidden - 1) * 4 * batch * width * width;
  const Cost& matrices = items[4].median;
  std::printf("products by parts alone: %.0f GFLOP/s, %.0f %% of the step by parts\n",
              flops / matrices.wall_ms * 1e-6, 100 * matrices.wall_ms / items[1].median.wall_ms);
}
