#include "dre/dual/dual.h"

#include <algorithm>

#include "dre/base/error.h"

namespace dre {
namespace {

template <class Function>
Dual linear_map(const Dual& a, Function&& map) {
  return {map(a.value), a.has_tangent() ? map(a.tangent) : Tensor()};
}

/// The sum of two optional tangents; one alone takes the shape that broadcasting gave the value.
Tensor add_tangents(const Tensor& a, const Tensor& b, const Tensor& value) {
  if (a.defined() && b.defined()) return a + b;
  if (a.defined()) return a.expand_as(value);
  if (b.defined()) return b.expand_as(value);
  return {};
}

}  // namespace

Dual operator+(const Dual& a, const Dual& b) {
  Tensor value = a.value + b.value;
  Tensor tangent = add_tangents(a.tangent, b.tangent, value);
  return {value, tangent};
}

Dual operator-(const Dual& a, const Dual& b) {
  Tensor value = a.value - b.value;
  if (a.has_tangent() && b.has_tangent()) return {value, a.tangent - b.tangent};
  Tensor tangent = add_tangents(a.tangent, b.has_tangent() ? -b.tangent : Tensor(), value);
  return {value, tangent};
}

Dual operator*(const Dual& a, const Dual& b) {
  Tensor value = a.value * b.value;
  Tensor left = a.has_tangent() ? a.tangent * b.value : Tensor();
  Tensor right = b.has_tangent() ? a.value * b.tangent : Tensor();
  return {value, add_tangents(left, right, value)};
}

Dual operator-(const Dual& a) {
  return linear_map(a, [](const Tensor& x) { return -x; });
}

Dual operator*(const Dual& a, double factor) {
  return linear_map(a, [factor](const Tensor& x) { return x.mul(factor); });
}

Dual operator*(double factor, const Dual& a) { return a * factor; }

Dual operator+(const Dual& a, double term) { return {a.value.add(term), a.tangent}; }

Dual square(const Dual& a) {
  return {a.value * a.value, a.has_tangent() ? (a.value * a.tangent).mul(2) : Tensor()};
}

Dual reciprocal(const Dual& a) {
  Tensor value = a.value.reciprocal();
  return {value, a.has_tangent() ? -(value * value * a.tangent) : Tensor()};
}

Dual sum(const Dual& a, int64_t dim, bool keepdim) {
  return linear_map(a, [=](const Tensor& x) { return x.sum({dim}, keepdim); });
}

Dual narrow(const Dual& a, int64_t start, int64_t length) {
  return linear_map(a, [=](const Tensor& x) { return x.narrow(-1, start, length); });
}

std::vector<Dual> split(const Dual& a, const std::vector<int64_t>& sizes) {
  int64_t start = 0;
  std::vector<Dual> parts;
  for (const int64_t size : sizes) {
    parts.push_back(narrow(a, start, size));
    start += size;
  }
  check(start == a.value.size(-1), "parts of ", start, " columns do not make up the ",
        a.value.size(-1), " columns that were given");
  return parts;
}

Dual cat(const std::vector<Dual>& parts, int64_t dim) {
  check(!parts.empty(), "cat needs at least one part");
  const bool any =
      std::any_of(parts.begin(), parts.end(), [](const Dual& part) { return part.has_tangent(); });
  std::vector<Tensor> values, tangents;
  for (const Dual& part : parts) {
    values.push_back(part.value);
    if (any) tangents.push_back(part.has_tangent() ? part.tangent : at::zeros_like(part.value));
  }
  return {at::cat(values, dim), any ? at::cat(tangents, dim) : Tensor()};
}

Dual detach(const Dual& a) {
  return linear_map(a, [](const Tensor& x) { return x.detach(); });
}

}  // namespace dre
