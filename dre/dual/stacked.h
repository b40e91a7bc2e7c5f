/// Value and tangent one after the other in one storage, so that a layer treats both by one product
/// or one convolution. Rules allocate their results so and recognise inputs that lie so; others are
/// copied.
#pragma once

#include "dre/base/error.h"
#include "dre/dual/dual.h"

namespace dre {

/// The first half of the rows as the value, the others as the tangent. both: [2n, ...]
inline Dual pair_of(const Tensor& both) {
  const int64_t n = both.size(0) / 2;
  return {both.narrow(0, 0, n), both.narrow(0, n, n)};
}

/// Uninitialised value and tangent of the given shape, halves of one storage.
inline Dual empty_pair(torch::IntArrayRef sizes, const torch::TensorOptions& options,
                       at::MemoryFormat format = at::MemoryFormat::Contiguous) {
  std::vector<int64_t> both = sizes.empty() ? std::vector<int64_t>{1} : sizes.vec();
  both[0] *= 2;
  const Dual pair = pair_of(at::empty(both, options.memory_format(format)));
  return sizes.empty() ? Dual(pair.value.squeeze(0), pair.tangent.squeeze(0)) : pair;
}

/// value, tangent: [n, ...] -> [2n, ...]; a view where they are the halves of one storage.
inline Tensor stacked(const Tensor& value, const Tensor& tangent) {
  check(value.sizes() == tangent.sizes(), "a tangent must have the shape of its value, ",
        value.sizes(), ", got ", tangent.sizes());
  const int64_t n = value.size(0);
  const bool are_halves = value.is_alias_of(tangent) && value.strides() == tangent.strides() &&
                          tangent.storage_offset() == value.storage_offset() + n * value.stride(0);
  if (!are_halves) return at::cat({value, tangent}, 0);
  std::vector<int64_t> both = value.sizes().vec();
  both[0] *= 2;
  return value.as_strided(both, value.strides(), value.storage_offset());
}

}  // namespace dre
