/// The activations: phi, phi' and phi'' by one formula for a pack of numbers and for a tensor, and
/// the loop over packs that all rules share.
#pragma once

#include <cstring>

#include "dre/dual/elementary.h"

namespace dre::elementary {

/// phi, phi' and phi'' at one point.
template <class V>
struct Jet {
  V value, slope, bend;
};

// An activation is a struct that gives the jet of a pack of numbers or of a tensor.

struct Elu {
  template <class V>
  [[gnu::always_inline]] static Jet<V> jet(const V& x) {
    const Exponential<V> e = exponentials(V(negative_part(x)));  // exactly 1 and 0 for x > 0
    return {positive_part(x) + e.minus_one, e.value, e.value - step(x)};
  }
};

struct Tanh {
  template <class V>
  [[gnu::always_inline]] static Jet<V> jet(const V& x) {
    const Exponential<V> e = exponentials(V(-2 * magnitude(x)));
    const V share = 1 / (1 + e.value);
    const V value = with_sign(V(-e.minus_one * share), x);
    const V slope = 4 * e.value * share * share;  // 1 - tanh^2 would cancel
    return {value, slope, -2 * value * slope};
  }
};

/// The logistic function, nothing of it by subtraction from 1.
template <class V>
struct Logistic {
  V small, large, rest;  ///< exp(-|x|), sigma(|x|), sigma(-|x|)
  V up;                  ///< sigma(x)

  [[gnu::always_inline]] explicit Logistic(const V& x)
      : small(exponentials(V(-magnitude(x))).value),
        large(1 / (1 + small)),
        rest(small * large),
        up(by_sign(x, large, rest)) {}
};

struct Silu {
  template <class V>
  [[gnu::always_inline]] static Jet<V> jet(const V& x) {
    const Logistic<V> s(x);
    const V slope = s.large * s.rest;
    return {x * s.up, s.up + x * slope, slope * (2 - magnitude(x) * (s.large - s.rest))};
  }
};

struct Softplus {
  template <class V>
  [[gnu::always_inline]] static Jet<V> jet(const V& x) {
    const Logistic<V> s(x);
    return {positive_part(x) + log_one_plus(s.small), s.up, s.large * s.rest};
  }
};

/// x for x > 0, else 0.3 x, as the paper's classifiers have it.
struct LeakyRelu {
  template <class V>
  [[gnu::always_inline]] static Jet<V> jet(const V& x) {
    const V slope = (3 + 7 * step(x)) / 10;
    return {x * slope, slope, 0 * slope};
  }
};

/// Calls body(i, count) for blocks of one pack each; the last may be shorter.
template <class T, class Body>
[[gnu::always_inline]] inline void for_packs(int64_t n, Body&& body) {
  constexpr int64_t lanes = sizeof(Pack<T>) / sizeof(T);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, lanes);
  if (i < n) body(i, n - i);
}

template <class T>
[[gnu::always_inline]] inline Pack<T> load(const T* from, int64_t count) {
  Pack<T> pack{};
  std::memcpy(&pack, from, count * sizeof(T));
  return pack;
}

template <class T>
[[gnu::always_inline]] inline void store(const Pack<T>& pack, T* to, int64_t count) {
  std::memcpy(to, &pack, count * sizeof(T));
}

}  // namespace dre::elementary
