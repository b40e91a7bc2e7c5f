/// Convolutions with their parameters, and the way from rows to images and back: the common part of
/// all networks on images.
#pragma once

#include <string>

#include "dre/base/context.h"
#include "dre/dual/layers.h"
#include "dre/dual/norm_silu.h"
#include "dre/network/network.h"

namespace dre {

/// A network whose points are square images of one channel, row by row.
class ImageNetwork : public Network {
 public:
  /// Convolutions in bfloat16, parameters and everything else as they are: on CUDA twice as fast
  /// and half the memory. Off until set.
  void set_half(bool half) { half_ = half; }
  bool half() const { return half_; }

 protected:
  /// x: [n, side * side] -> [n, 1, side, side]
  static Dual images(const Dual& x, int64_t side);

  /// In the precision and memory order in which convolutions are fastest here.
  Dual packed(const Dual& x) const;

 private:
  bool half_ = false;
};

/// The network's precision for as long as this lives.
class InPrecision final {
 public:
  InPrecision(ImageNetwork& network, bool half) : network_(network), before_(network.half()) {
    network_.set_half(half);
  }
  ~InPrecision() { network_.set_half(before_); }
  InPrecision(const InPrecision&) = delete;
  InPrecision& operator=(const InPrecision&) = delete;

 private:
  ImageNetwork& network_;
  bool before_;
};

/// A convolution, or a transposed one. The weights lie channels last, which is how the images
/// lie on CUDA: [out, kernel, kernel, in], transposed [in, kernel, kernel, out].
struct Conv {
  Tensor weight;
  Tensor bias;  ///< [out], or undefined
  Convolution options;
  bool transposed = false;

  /// x: [n, in, h, w], whose precision is the result's.
  Dual operator()(const Dual& x) const;
};

struct ConvShape {
  int64_t in, out, kernel = 3;
  Convolution options = {};
  bool bias = false;
  bool transposed = false;
  bool zero = false;  ///< start at zero
};

/// Parameters `name`.weight and, where asked for, `name`.bias; uniform on +-1/sqrt(inputs of a
/// pixel).
Conv add_conv(Parameters& parameters, const std::string& name, const ConvShape& shape,
              const Context& context, at::Generator& generator);

/// Parameters `name`.weight, ones, and `name`.bias, zeros.
GroupNorm add_norm(Parameters& parameters, const std::string& name, int64_t channels,
                   int64_t groups, const Context& context);

}  // namespace dre
