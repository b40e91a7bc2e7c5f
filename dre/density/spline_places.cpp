#include "dre/density/spline_places.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "dre/base/error.h"
#include "dre/density/spline_place.h"
#include "dre/dual/once.h"

#ifdef DRE_WITH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "dre/density/spline_kernel.h"
#endif

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t places_a_task = 512;

SplineShape shape_of(const Tensor& numbers, double bound) {
  return {static_cast<int>((numbers.size(1) + 1) / 3), bound};
}

/// Calls work(i, first) for every place: its index, and that of the first of its numbers.
template <class Work>
void every_place(const Tensor& x, const Tensor& numbers, Work work) {
  const int64_t places = x.size(1), count = numbers.size(1);
  at::parallel_for(0, x.numel(), places_a_task, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) work(i, i / places * count * places + i % places);
  });
}

template <class T>
void evaluate(const Tensor& x, const Tensor& numbers, const SplineShape& shape, bool inverse,
              const SplineValue& out) {
  T *value = out.value.data_ptr<T>(), *log_derivative = out.log_derivative.data_ptr<T>();
#ifdef DRE_WITH_CUDA
  if (x.is_cuda())
    return kernels::spline_evaluate<T>(
        {x.data_ptr<T>(), numbers.data_ptr<T>(), x.size(0), x.size(1)}, shape, inverse, value,
        log_derivative, c10::cuda::getCurrentCUDAStream().stream());
#endif
  const T *points = x.data_ptr<T>(), *all = numbers.data_ptr<T>();
  every_place(x, numbers, [&](int64_t i, int64_t first) {
    const auto found = spline_at<T>(points[i], inverse, {all + first, x.size(1)}, shape);
    value[i] = found.value;
    log_derivative[i] = found.log_derivative;
  });
}

/// x and numbers: contiguous.
SplineValue evaluated(const Tensor& x, const Tensor& numbers, double bound, bool inverse) {
  const SplineValue out{at::empty_like(x), at::empty_like(x)};
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "spline_places", [&] {
    evaluate<scalar_t>(x, numbers, shape_of(numbers, bound), inverse, out);
  });
  return out;
}

void check_places(const Tensor& x, const Tensor& numbers) {
  check(x.dim() == 2 && numbers.dim() == 3 && numbers.size(0) == x.size(0) &&
            numbers.size(2) == x.size(1) && numbers.size(1) % 3 == 2,
        "places [g, p] need numbers [g, 3 bins - 1, p], got ", x.sizes(), " and ", numbers.sizes());
  const int64_t bins = (numbers.size(1) + 1) / 3;
  check(bins >= 2 && bins <= most_place_bins, "a place's spline has 2 to ", most_place_bins,
        " bins, got ", bins);
}

struct Gradients {
  Tensor x, numbers;
};

template <class T>
void backward(const Tensor& x, const Tensor& numbers, const SplineShape& shape,
              const SplineValue& of, const Gradients& out) {
  const T *of_value = of.value.data_ptr<T>(), *of_log = of.log_derivative.data_ptr<T>();
  T *of_x = out.x.data_ptr<T>(), *of_numbers = out.numbers.data_ptr<T>();
#ifdef DRE_WITH_CUDA
  if (x.is_cuda())
    return kernels::spline_backward<T>(
        {x.data_ptr<T>(), numbers.data_ptr<T>(), x.size(0), x.size(1)}, shape, of_value, of_log,
        of_x, of_numbers, c10::cuda::getCurrentCUDAStream().stream());
#endif
  const T *points = x.data_ptr<T>(), *all = numbers.data_ptr<T>();
  every_place(x, numbers, [&](int64_t i, int64_t first) {
    of_x[i] = spline_backward_at<T>(points[i], {all + first, x.size(1)}, shape, of_value[i],
                                    of_log[i], {of_numbers + first, x.size(1)});
  });
}

class Rule : public torch::autograd::Function<Rule> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& numbers,
                               double bound) {
    context->save_for_backward({x, numbers});
    context->saved_data["bound"] = bound;
    const SplineValue out = evaluated(x, numbers, bound, false);
    return {out.value, out.log_derivative};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("spline_places");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &numbers = saved[1];
    const double bound = context->saved_data["bound"].toDouble();
    const auto given = [&](const Tensor& gradient) {
      return gradient.defined() ? gradient.contiguous() : at::zeros_like(x);
    };
    const SplineValue of{given(gradients[0]), given(gradients[1])};
    const Gradients out{at::empty_like(x), at::empty_like(numbers)};
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "spline_places", [&] {
      dre::backward<scalar_t>(x, numbers, shape_of(numbers, bound), of, out);
    });
    return {out.x, out.numbers, Tensor()};
  }
};

}  // namespace

SplineValue spline_places(const Tensor& x, const Tensor& numbers, double bound) {
  check_places(x, numbers);
  const auto out = Rule::apply(x.contiguous(), numbers.contiguous(), bound);
  return {out[0], out[1]};
}

SplineValue spline_places_inverse(const Tensor& y, const Tensor& numbers, double bound) {
  check_places(y, numbers);
  check(!y.requires_grad() && !numbers.requires_grad(),
        "the fused inverse of splines gives no gradients; use spline_inverse");
  return evaluated(y.contiguous(), numbers.contiguous(), bound, true);
}

}  // namespace dre
