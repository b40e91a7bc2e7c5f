/// Layers over images [n, channels, height, width].
#pragma once

#include "dre/density/layer.h"
#include "dre/density/spline.h"
#include "dre/density/triangular_pair.h"

namespace dre {

/// Rows as images of one channel: [n, height * width] -> [n, 1, height, width].
class ToImage final : public Layer {
 public:
  ToImage(int64_t height, int64_t width) : height_(height), width_(width) {}

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

 private:
  int64_t height_, width_;
};

/// Squares of 2 x 2 places become channels: [n, c, h, w] -> [n, 4c, h/2, w/2].
class Squeeze final : public Layer {
 public:
  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;
};

/// A layer the other way round.
template <class Forward>
class Inverse final : public Layer {
 public:
  template <class... Arguments>
  explicit Inverse(Arguments&&... arguments) : layer_(std::forward<Arguments>(arguments)...) {}

  Moved forward(const Tensor& x) const override { return layer_.inverse(x); }
  Moved inverse(const Tensor& y) const override { return layer_.forward(y); }

 private:
  Forward layer_;
};

/// y = W x + b over the channels of every place. W = L U after the order of the channels is turned
/// round, so that a following coupling sees the other half from the start.
class ChannelMix final : public Layer {
 public:
  ChannelMix(Parameters& parameters, const std::string& name, int64_t channels,
             const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

 private:
  Tensor log_determinant(const Tensor& x) const;

  TriangularPair matrix_;
  Tensor bias_;  ///< [channels]
};

/// The spline coupling of Durkan et al. 2019: the second half of the channels goes through splines
/// whose knots a convolutional network 3x3, 1x1, 3x3 makes of the first half, which stays.
class SplineCoupling final : public Layer {
 public:
  struct Options {
    int64_t channels;  ///< of the image, even
    int64_t hidden;    ///< channels of the network
    int64_t bins;
    double bound;
  };

  /// Starts as the identity: the last layer of the network is zero.
  SplineCoupling(Parameters& parameters, const std::string& name, const Options& options,
                 const Context& context, at::Generator& generator);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

 private:
  struct Convolution {
    Tensor weight, bias;  ///< [out, in, k, k], [out]
  };

  Convolution convolution(Parameters& parameters, const std::string& name, int64_t in, int64_t out,
                          int64_t kernel, bool zero, const Context& context,
                          at::Generator& generator) const;
  Tensor network(const Tensor& half) const;

  struct Halves {
    Tensor kept;     ///< [n, channels / 2, h, w]
    Tensor changed;  ///< [n channels / 2, h w]
    Tensor numbers;  ///< [n channels / 2, 3 bins - 1, h w], of their splines
  };
  Halves split(const Tensor& x) const;
  Moved join(const Halves& halves, const SplineValue& moved) const;

  Options options_;
  std::vector<Convolution> convolutions_;
};

}  // namespace dre
