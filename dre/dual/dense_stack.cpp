#include "dre/dual/dense_stack.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>

#include "dre/base/error.h"
#include "dre/base/threads.h"
#include "dre/dual/linear.h"
#include "dre/dual/once.h"

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows of a block: half a megabyte of activations at width 256, value and tangent.
constexpr int64_t block_rows = 128;

/// Columns of a product: with 256 at once OpenBLAS 0.3.21 is a tenth slower on a Neoverse core.
constexpr int64_t columns_at_once = 224;

/// Each block has a gradient of all parameters to itself until they are added up.
constexpr int64_t most_gradients = 16;

/// The rows cut into blocks. A block's rows lie together: its values, then its tangents.
struct Blocks {
  int64_t rows, size;
  bool pair;

  int64_t count() const { return (rows + size - 1) / size; }
  int64_t first(int64_t block) const { return block * size; }
  int64_t length(int64_t block) const { return std::min(size, rows - first(block)); }
  int64_t stacked() const { return pair ? 2 * rows : rows; }
  int64_t stacked_length(int64_t block) const { return pair ? 2 * length(block) : length(block); }

  Tensor stacked_rows(const Tensor& all, int64_t block) const {
    return all.narrow(0, pair ? 2 * first(block) : first(block), stacked_length(block));
  }
  /// The same block of a tensor that holds values only, or tangents only.
  Tensor rows_of(const Tensor& part, int64_t block) const {
    return part.narrow(0, first(block), length(block));
  }
};

Blocks cut(const Tensor& x, bool pair, bool with_gradient) {
  const int64_t rows = x.size(0);
  const int64_t most = with_gradient ? (rows + most_gradients - 1) / most_gradients : 0;
  return {rows, std::max(block_rows, most), pair};
}

void for_blocks(const Blocks& blocks, const std::function<void(int64_t)>& work) {
  const auto run = [&](int64_t begin, int64_t end) {
    torch::NoGradGuard no_grad;  // threads have a mode of their own
    for (int64_t block = begin; block < end; ++block) work(block);
  };
  if (products_have_threads())
    run(0, blocks.count());
  else
    at::parallel_for(0, blocks.count(), 1, run);
}

template <class T>
ValueRow<T> value_row(const Activation& activation) {
  if constexpr (std::is_same_v<T, float>) return activation.value_row_float;
  if constexpr (std::is_same_v<T, double>) return activation.value_row_double;
}

template <class T>
PairRow<T> pair_row(const Activation& activation) {
  if constexpr (std::is_same_v<T, float>) return activation.pair_row_float;
  if constexpr (std::is_same_v<T, double>) return activation.pair_row_double;
}

/// products: z, then zdot, replaced by slope, then bend, where `keep`. -> h, then hdot.
void activate_block(const Activation& activation, const Tensor& products, const Tensor& bias,
                    const Tensor& hidden, bool pair, bool keep) {
  AT_DISPATCH_FLOATING_TYPES(products.scalar_type(), "dense_stack", [&] {
    const int64_t n = products.size(1), half = products.numel() / 2;
    auto *z = products.data_ptr<scalar_t>(), *h = hidden.data_ptr<scalar_t>();
    const auto* b = bias.data_ptr<scalar_t>();
    const int64_t values = pair ? half : 2 * half;
    for (int64_t i = 0; i < values; i += n) {
      scalar_t* slope = keep ? z + i : nullptr;
      if (pair)
        pair_row<scalar_t>(activation)(z + i, z + half + i, b, h + i, h + half + i, slope,
                                       keep ? z + half + i : nullptr, n);
      else
        value_row<scalar_t>(activation)(z + i, b, h + i, slope, n);
    }
  });
}

/// gradients: of h, then of hdot, replaced by those of z, then of zdot; bias gets the sum of the
/// first. slopes: slope, then bend.
void pull_block(const Tensor& gradients, const Tensor& slopes, const Tensor& bias, bool pair) {
  AT_DISPATCH_FLOATING_TYPES(gradients.scalar_type(), "dense_stack", [&] {
    const int64_t n = gradients.size(1), half = gradients.numel() / 2;
    auto* g = gradients.data_ptr<scalar_t>();
    const auto* s = slopes.data_ptr<scalar_t>();
    auto* sum = bias.data_ptr<scalar_t>();
    std::fill(sum, sum + n, scalar_t(0));
    const int64_t values = pair ? half : 2 * half;
    for (int64_t i = 0; i < values; i += n) {
      scalar_t *gz = g + i, *gzdot = g + half + i;
      const scalar_t *slope = s + i, *bend = s + half + i;
      if (pair) {
        for (int64_t k = 0; k < n; ++k) {
          gz[k] = gz[k] * slope[k] + gzdot[k] * bend[k];
          gzdot[k] *= slope[k];
        }
      } else {
        for (int64_t k = 0; k < n; ++k) gz[k] *= slope[k];
      }
      for (int64_t k = 0; k < n; ++k) sum[k] += gz[k];
    }
  });
}

/// Where a layer's rows are: values and tangents of one block, together or apart.
struct Rows {
  Tensor value, tangent;
};

Rows halves(const Tensor& stacked, bool pair) {
  if (!pair) return {stacked, Tensor()};
  const int64_t length = stacked.size(0) / 2;
  return {stacked.narrow(0, 0, length), stacked.narrow(0, length, length)};
}

/// out <- in matrix, some columns at a time.
void multiply(const Tensor& out, const Tensor& in, const Tensor& matrix) {
  const int64_t columns = matrix.size(1);
  for (int64_t first = 0; first < columns; first += columns_at_once) {
    const int64_t count = std::min(columns_at_once, columns - first);
    Tensor part = out.narrow(1, first, count);
    at::mm_out(part, in, matrix.narrow(1, first, count));
  }
}

/// out <- in matrix, for values and tangents.
void product(const Rows& out, const Rows& in, const Tensor& matrix) {
  multiply(out.value, in.value, matrix);
  if (in.tangent.defined()) multiply(out.tangent, in.tangent, matrix);
}

/// out <- left' right, summed over values and tangents.
void outer_product(Tensor out, const Rows& left, const Rows& right) {
  at::mm_out(out, left.value.t(), right.value);
  if (left.tangent.defined()) out.addmm_(left.tangent.t(), right.tangent);
}

/// Everything of one call: the input, the parameters, and what the forward pass leaves behind.
struct Stack {
  Blocks blocks;
  Tensor x, xdot;
  variable_list parameters;
  variable_list hidden, slopes;  ///< of each layer but the last, in the order of the blocks

  int64_t layers() const { return static_cast<int64_t>(parameters.size() / 2); }
  const Tensor& weight(int64_t layer) const { return parameters[2 * layer]; }
  const Tensor& bias(int64_t layer) const { return parameters[2 * layer + 1]; }

  Rows rows_of(const Tensor& value, const Tensor& tangent, int64_t block) const {
    if (!blocks.pair) return {blocks.rows_of(value, block), Tensor()};
    return {blocks.rows_of(value, block), blocks.rows_of(tangent, block)};
  }
  Rows input(int64_t layer, int64_t block) const {
    if (layer == 0) return rows_of(x, xdot, block);
    return halves(blocks.stacked_rows(hidden[layer - 1], block), blocks.pair);
  }
};

void forward_block(const Stack& stack, const Activation& activation, int64_t block, bool keep,
                   const Rows& y) {
  const Blocks& blocks = stack.blocks;
  const int64_t last = stack.layers() - 1;
  Rows in = stack.rows_of(stack.x, stack.xdot, block);
  Tensor together;  // the same as `in` where value and tangent lie together: one product for both
  for (int64_t layer = 0; layer < last; ++layer) {
    const Tensor weight = stack.weight(layer).t();
    Tensor z = keep ? blocks.stacked_rows(stack.slopes[layer], block)
                    : at::empty({blocks.stacked_length(block), weight.size(1)}, in.value.options());
    if (together.defined())
      multiply(z, together, weight);
    else
      product(halves(z, blocks.pair), in, weight);
    together = keep ? blocks.stacked_rows(stack.hidden[layer], block) : z;
    activate_block(activation, z, stack.bias(layer), together, blocks.pair, keep);
    in = halves(together, blocks.pair);
  }
  product(y, in, stack.weight(last).t());
  Tensor(y.value).add_(stack.bias(last));
}

/// The gradients of all parameters from one block, into `gradients` as they are laid out there;
/// `gx` where the input wants one.
void backward_block(const Stack& stack, int64_t block, const Rows& gy,
                    const variable_list& gradients, const Rows& gx) {
  const Blocks& blocks = stack.blocks;
  Rows pulled = gy;
  Tensor bias_sum = gradients.back();
  at::sum_out(bias_sum, gy.value, 0);
  for (int64_t layer = stack.layers() - 1; layer >= 0; --layer) {
    outer_product(gradients[2 * layer], pulled, stack.input(layer, block));
    if (layer == 0) break;
    const Tensor slopes = blocks.stacked_rows(stack.slopes[layer - 1], block);
    const Tensor gradient = at::empty_like(slopes);
    product(halves(gradient, blocks.pair), pulled, stack.weight(layer));
    pull_block(gradient, slopes, gradients[2 * layer - 1], blocks.pair);
    pulled = halves(gradient, blocks.pair);
  }
  if (gx.value.defined()) product(gx, pulled, stack.weight(0));
}

/// Views of one row of `storage`, one for each parameter.
variable_list parameter_views(const Tensor& storage, const variable_list& parameters) {
  variable_list views;
  int64_t start = 0;
  for (const Tensor& parameter : parameters) {
    views.push_back(storage.narrow(0, start, parameter.numel()).view(parameter.sizes()));
    start += parameter.numel();
  }
  return views;
}

int64_t total(const variable_list& parameters) {
  int64_t sum = 0;
  for (const Tensor& parameter : parameters) sum += parameter.numel();
  return sum;
}

/// The rows of `sums`, into the first of them: [p]. Faster than a sum over so few rows.
Tensor added_up(const Tensor& sums) {
  Tensor all = sums[0];
  for (int64_t block = 1; block < sums.size(0); ++block) all.add_(sums[block]);
  return all;
}

/// An absent tangent is an empty tensor, since autograd functions take defined ones only.
class StackFunction : public torch::autograd::Function<StackFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& xdot,
                               at::TensorList parameters, const Activation* activation, bool keep) {
    const bool pair = xdot.numel() > 0;
    Stack stack{cut(x, pair, keep), x.contiguous(), xdot.contiguous(), parameters.vec(), {}, {}};
    for (int64_t layer = 0; keep && layer + 1 < stack.layers(); ++layer) {
      const auto shape = {stack.blocks.stacked(), stack.weight(layer).size(0)};
      stack.hidden.push_back(at::empty(shape, x.options()));
      stack.slopes.push_back(at::empty(shape, x.options()));
    }
    const auto shape = {x.size(0), parameters.back().size(0)};
    const Tensor y = at::empty(shape, x.options());
    const Tensor ydot = pair ? at::empty(shape, x.options()) : at::empty({0}, x.options());
    for_blocks(stack.blocks, [&](int64_t block) {
      forward_block(stack, *activation, block, keep, stack.rows_of(y, ydot, block));
    });
    if (keep) save(context, stack);
    context->saved_data["input"] = x.requires_grad() || xdot.requires_grad();
    return {y, ydot};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("dense_stack");
    const Stack stack = saved(context);
    const Blocks& blocks = stack.blocks;
    const Tensor gy = gradients[0].contiguous();
    const Tensor gydot = blocks.pair ? gradients[1].contiguous() : Tensor();
    const bool input = context->saved_data["input"].toBool();
    const Tensor gx = input ? at::empty_like(stack.x) : Tensor();
    const Tensor gxdot = input && blocks.pair ? at::empty_like(stack.xdot) : Tensor();
    const Tensor sums = at::empty({blocks.count(), total(stack.parameters)}, gy.options());
    for_blocks(blocks, [&](int64_t block) {
      backward_block(stack, block, stack.rows_of(gy, gydot, block),
                     parameter_views(sums[block], stack.parameters),
                     input ? stack.rows_of(gx, gxdot, block) : Rows{});
    });
    variable_list out = {gx, gxdot};
    for (const Tensor& view : parameter_views(added_up(sums), stack.parameters))
      out.push_back(view);
    out.resize(out.size() + 2);  // the activation and the flag have no gradient
    return out;
  }

 private:
  static void save(AutogradContext* context, const Stack& stack) {
    variable_list all = {stack.x, stack.xdot};
    for (const variable_list* part : {&stack.parameters, &stack.hidden, &stack.slopes})
      all.insert(all.end(), part->begin(), part->end());
    context->save_for_backward(all);
    context->saved_data["layers"] = stack.layers();
  }

  static Stack saved(AutogradContext* context) {
    const variable_list all = context->get_saved_variables();
    const int64_t layers = context->saved_data["layers"].toInt();
    const auto hidden = all.begin() + 2 + 2 * layers, slopes = hidden + layers - 1;
    return {cut(all[0], all[1].numel() > 0, true),
            all[0],
            all[1],
            {all.begin() + 2, hidden},
            {hidden, slopes},
            {slopes, all.end()}};
  }
};

bool wants_gradient(const Dual& x, const std::vector<Tensor>& parameters) {
  if (!torch::GradMode::is_enabled()) return false;
  const auto wants = [](const Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad();
  };
  return wants(x.value) || wants(x.tangent) ||
         std::any_of(parameters.begin(), parameters.end(), wants);
}

/// Layer by layer, for devices on which blocks do not pay.
Dual in_turn(const Dual& x, const std::vector<Tensor>& parameters, const Activation& activation) {
  Dual hidden = x;
  for (size_t i = 0; i + 2 < parameters.size(); i += 2)
    hidden = activation.apply(linear(hidden, parameters[i], parameters[i + 1]));
  return linear(hidden, parameters[parameters.size() - 2], parameters.back());
}

}  // namespace

Dual dense_stack(const Dual& x, const std::vector<Tensor>& parameters,
                 const Activation& activation) {
  check(parameters.size() >= 2 && parameters.size() % 2 == 0,
        "dense_stack takes a weight and a bias for each layer, got ", parameters.size(),
        " parameters");
  check(x.value.dim() == 2 && x.value.size(1) == parameters[0].size(1), "dense_stack takes [n, ",
        parameters[0].size(1), "], got ", x.value.sizes());
  check(!x.has_tangent() || x.tangent.sizes() == x.value.sizes(), "a tangent of shape ",
        x.tangent.defined() ? x.tangent.sizes() : torch::IntArrayRef(),
        " does not belong to a value of shape ", x.value.sizes());
  if (!x.value.is_cpu() || x.value.size(0) == 0) return in_turn(x, parameters, activation);
  const Tensor none = at::empty({0}, x.value.options());
  const variable_list out =
      StackFunction::apply(x.value, x.has_tangent() ? x.tangent : none, at::TensorList(parameters),
                           &activation, wants_gradient(x, parameters));
  return {out[0], x.has_tangent() ? out[1] : Tensor()};
}

}  // namespace dre
