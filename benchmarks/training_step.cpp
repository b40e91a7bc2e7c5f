/// One training step of time score matching (forward, loss, backward; no optimiser), in one run:
/// duals with fused activations against double backward through LibTorch's own operations.
///
///     L = E[s^2 + 2 ds/dt] + 2 E_q[s(x0, 0)] - 2 E_p[s(x1, 1)]
///
/// Usage: training_step [repetitions [width]]
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
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
  Tensor ends, end_t;  ///< x0 at t = 0, then x1 at t = 1
};

Batch make_batch(at::Generator& generator) {
  const Tensor x0 = dre::normal({batch, columns}, torch::kFloat32, generator) + 4;
  const Tensor x1 = dre::normal({batch, columns}, torch::kFloat32, generator);
  const Tensor t = dre::uniform({batch, 1}, torch::kFloat32, generator);
  return {(1 - t) * x0 + t * x1, t, at::cat({x0, x1}),
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

struct Item {
  std::string name;
  std::function<void()> work;
  Cost median{};
};

/// All items in turn, again and again, so that a slow moment of the machine hits them alike.
void measure(std::vector<Item>& items, int repetitions) {
  std::vector<std::vector<double>> wall(items.size()), processor(items.size());
  for (int i = -3; i < repetitions; ++i)
    for (size_t k = 0; k < items.size(); ++k) {
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

/// The activations of one dual step, forward and backward, with the autograd nodes they need.
std::function<void()> dual_activations(int64_t width) {
  const Tensor x = at::ones({batch, width}).neg().requires_grad_(), v = at::ones({batch, width});
  const Tensor ends = at::ones({2 * batch, width}).neg().requires_grad_();
  const Tensor g = at::ones({batch, width}), g_ends = at::ones({2 * batch, width});
  return [=] {
    for (int64_t layer = 0; layer < hidden; ++layer) {
      const Dual y = dre::elu(Dual(x, v)), y_ends = dre::elu(Dual(ends));
      torch::autograd::grad({y.value, y.tangent, y_ends.value}, {x, ends}, {g, g, g_ends});
    }
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

double gradient_difference(dre::Mlp& mlp, const Batch& b) {
  dual_step(mlp, b);
  const Tensor ours = mlp.parameters().flat_gradient().clone();
  plain_step(mlp, b);
  const Tensor theirs = mlp.parameters().flat_gradient();
  return ((ours - theirs).norm() / theirs.norm()).item<double>();
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
  std::printf("relative difference of the gradients %.1e\n\n", gradient_difference(mlp, b));

  std::vector<Item> items = {
      {"dual, fused activations", [&] { dual_step(mlp, b); }},
      {"double backward", [&] { plain_step(mlp, b); }},
      {"matrix products, value and tangent apart", products(width, {batch, batch, 2 * batch})},
      {"matrix products, all rows at once", products(width, {4 * batch})},
      {"activations of the dual step", dual_activations(width)},
      {"graph of the dual step at width 1", overhead()},
  };
  measure(items, repetitions);
  std::printf("%-44s %8s %12s\n", "median of one step, ms", "wall", "processor");
  for (const Item& item : items)
    std::printf("%-44s %8.3f %12.3f\n", item.name.c_str(), item.median.wall_ms,
                item.median.processor_ms);
  const Cost &ours = items[0].median, &theirs = items[1].median, &matrices = items[2].median;
  const double flops = 2.0 * 3 * (hidden - 1) * 4 * batch * width * width;
  std::printf(
      "\nspeed-up %.2f wall, %.2f processor; products alone %.0f GFLOP/s of the processor, "
      "%.0f %% of the dual step\n",
      theirs.wall_ms / ours.wall_ms, theirs.processor_ms / ours.processor_ms,
      flops / matrices.processor_ms * 1e-6, 100 * matrices.processor_ms / ours.processor_ms);
}
