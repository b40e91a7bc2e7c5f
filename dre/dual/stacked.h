/// Value and tangent one after the other in one storage, so that a layer treats both by one matrix
/// product. Rules allocate their results so and recognise inputs that lie so; others are copied.
#pragma once

#include "dre/dual/dual.h"

namespace dre {

/// Uninitialised value and tangent of the given shape, halves of one storage.
inline Dual empty_pair(torch::IntArrayRef sizes, const torch::TensorOptions& options) {
  std::vector<int64_t> both = {2};
  both.insert(both.end(), sizes.begin(), sizes.end());
  const Tensor storage = at::empty(both, options);
  return {storage.select(0, 0), storage.select(0, 1)};
}

/// value, tangent: [n, k] -> [2n, k]; a view where they are the halves of one storage.
inline Tensor stacked(const Tensor& value, const Tensor& tangent) {
  const bool halves = value.is_contiguous() && tangent.is_contiguous() &&
                      value.is_alias_of(tangent) && value.sizes() == tangent.sizes() &&
                      tangent.storage_offset() == value.storage_offset() + value.numel();
  if (!halves) return at::cat({value, tangent}, 0);
  const int64_t rows = value.size(0), columns = value.size(1);
  return value.as_strided({2 * rows, columns}, {columns, 1}, value.storage_offset());
}

}  // namespace dre
