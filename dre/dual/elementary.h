/// Elementary functions that one formula can use for a pack of numbers and for a tensor.
///
/// A pack is a GNU vector as wide as a register: loops over packs are vector code at every
/// optimisation level. The exponential is branch-free (range reduction by ln 2 in two
/// parts, Taylor polynomial on |r| <= ln(2)/2, scaling through the exponent bits); within 2 ulp for
/// normal results, which end at the smallest normal number; zero below.
#pragma once

#include <torch/types.h>

#include <array>
#include <bit>
#include <cstdint>

// Packs never cross a call: everything here is inlined.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace dre::elementary {

using torch::Tensor;

// Not wider than the registers of the target: GCC spills wider packs to memory.
#if defined(__AVX2__)
constexpr int pack_bytes = 32;
#else
constexpr int pack_bytes = 16;
#endif

template <class T>
struct Format;

template <>
struct Format<float> {
  typedef float Pack __attribute__((vector_size(pack_bytes)));
  typedef int32_t Bits __attribute__((vector_size(pack_bytes)));
  static constexpr int mantissa = 23, bias = 127, exp_terms = 7, log_terms = 8;
  static constexpr int32_t sign = INT32_MIN;
  static constexpr float rounder = 12582912.0f;  ///< 1.5 * 2^23: adding it rounds to an integer
  static constexpr float lowest = -88.0f;        ///< 2^k of its exponent has the bits of zero
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};

template <>
struct Format<double> {
  typedef double Pack __attribute__((vector_size(pack_bytes)));
  typedef int64_t Bits __attribute__((vector_size(pack_bytes)));
  static constexpr int mantissa = 52, bias = 1023, exp_terms = 13, log_terms = 17;
  static constexpr int64_t sign = INT64_MIN;
  static constexpr double rounder = 6755399441055744.0;
  static constexpr double lowest = -709.1;
  static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
};

template <class T>
using Pack = typename Format<T>::Pack;

template <class P>
using Number = std::remove_cvref_t<decltype(std::declval<P>()[0])>;

/// 1/2!, 1/3!, ..., 1/exp_terms!
template <class T>
constexpr auto inverse_factorials() {
  std::array<T, Format<T>::exp_terms - 1> out{};
  double factorial = 1;
  for (size_t k = 0; k < out.size(); ++k) {
    factorial *= static_cast<double>(k + 2);
    out[k] = static_cast<T>(1 / factorial);
  }
  return out;
}

/// 1/3, 1/5, 1/7, ...
template <class T>
constexpr auto inverse_odds() {
  std::array<T, Format<T>::log_terms> out{};
  for (size_t k = 0; k < out.size(); ++k) out[k] = static_cast<T>(1.0 / (2.0 * k + 3.0));
  return out;
}

/// c[k] + x c[k+1] + x^2 c[k+2] + ...
template <size_t k = 0, class P, size_t count>
[[gnu::always_inline]] inline P polynomial(const std::array<Number<P>, count>& c, const P& x) {
  if constexpr (k + 2 == count)
    return c[k] + x * c[k + 1];
  else
    return c[k] + x * polynomial<k + 1>(c, x);
}

/// exp(x) and exp(x) - 1, both to full relative precision.
template <class V>
struct Exponential {
  V value, minus_one;
};

/// For x <= 0 only, which is all that the activations need.
template <class P>
[[gnu::always_inline]] inline Exponential<P> exponentials(const P& x) {
  using F = Format<Number<P>>;
  using Bits = typename F::Bits;
  constexpr auto coefficients = inverse_factorials<Number<P>>();
  const P inside = x < F::lowest ? P{} + F::lowest : x;
  const P shifted = inside * static_cast<Number<P>>(1.4426950408889634) + F::rounder;
  const P steps = shifted - F::rounder;
  const P rest = (inside - steps * F::ln2_high) - steps * F::ln2_low;
  const P small = rest + rest * rest * polynomial(coefficients, rest);  // exp(rest) - 1
  const Bits exponent =
      std::bit_cast<Bits>(shifted) - std::bit_cast<decltype(F::sign + 0)>(F::rounder) + F::bias;
  const P scale = std::bit_cast<P>(Bits(exponent << F::mantissa));
  return {scale + scale * small, (scale - 1) + scale * small};
}

/// log(1 + u) for 0 <= u <= 1, as 2 artanh(u / (2 + u)).
template <class P>
[[gnu::always_inline]] inline P log_one_plus(const P& u) {
  constexpr auto odds = inverse_odds<Number<P>>();
  const P z = u / (2 + u), square = z * z;
  return 2 * (z + z * square * polynomial(odds, square));
}

template <class P>
[[gnu::always_inline]] inline P positive_part(const P& x) {
  return x < 0 ? P{} : x;
}

template <class P>
[[gnu::always_inline]] inline P negative_part(const P& x) {
  return x > 0 ? P{} : x;
}

/// `positive` where x > 0, else `other`.
template <class P>
[[gnu::always_inline]] inline P by_sign(const P& x, const P& positive, const P& other) {
  return x > 0 ? positive : other;
}

/// 1 where x > 0, else 0.
template <class P>
[[gnu::always_inline]] inline P step(const P& x) {
  return by_sign(x, P{} + 1, P{});
}

template <class P>
[[gnu::always_inline]] inline P magnitude(const P& x) {
  using F = Format<Number<P>>;
  return std::bit_cast<P>(std::bit_cast<typename F::Bits>(x) & ~F::sign);
}

/// `size`, which is not negative, with the sign of x.
template <class P>
[[gnu::always_inline]] inline P with_sign(const P& size, const P& x) {
  using F = Format<Number<P>>;
  using Bits = typename F::Bits;
  return std::bit_cast<P>(std::bit_cast<Bits>(size) | (std::bit_cast<Bits>(x) & F::sign));
}

inline Exponential<Tensor> exponentials(const Tensor& x) { return {x.exp(), x.expm1()}; }
inline Tensor log_one_plus(const Tensor& u) { return u.log1p(); }
inline Tensor positive_part(const Tensor& x) { return x.clamp_min(0); }
inline Tensor negative_part(const Tensor& x) { return x.clamp_max(0); }
inline Tensor by_sign(const Tensor& x, const Tensor& positive, const Tensor& other) {
  return at::where(x > 0, positive, other);
}
inline Tensor step(const Tensor& x) { return (x > 0).to(x.scalar_type()); }
inline Tensor magnitude(const Tensor& x) { return x.abs(); }
inline Tensor with_sign(const Tensor& size, const Tensor& x) { return at::copysign(size, x); }

}  // namespace dre::elementary
