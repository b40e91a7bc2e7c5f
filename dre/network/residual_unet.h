/// The network of the velocity objective on images: a residual U-Net whose outputs are two images,
/// the heads of the one-sided velocity score. Three levels, padding 1, residual blocks
/// norm-silu-conv twice with the embedding of time added between.
///
/// Its inputs besides the point z: z seen in pixel space where there is a map, tanh z, and a
/// learned map of positions. Time enters as log tan(pi t / 2), the logarithm of the ratio of noise
/// to signal on the one-sided trigonometric bridge; on the meeting bridge it falls like that
/// logarithm towards the one end, rises alike towards the other, and tells the two apart.
#pragma once

#include <vector>

#include "dre/network/convolution.h"
#include "dre/network/dense.h"
#include "dre/network/pixel_map.h"

namespace dre {

struct ResidualUnetOptions {
  int64_t side = 28;
  int64_t width = 64;
  int64_t levels = 3;
  int64_t blocks = 2;
  int64_t groups = 8;
  bool pixel_head = false;
  double first_time = 0.002;
  double last_time = 0.9999;

  void visit(OptionVisitor& v) {
    v("side", side, at_least(4), "pixels along each side of an image");
    v("width", width, at_least(4), "channels of the first level; each next one has twice as many");
    v("levels", levels, between(1, 4), "levels, each of half the side");
    v("blocks", blocks, at_least(1), "residual blocks a level, down and up");
    v("groups", groups, at_least(1), "groups of a norm");
    v("pixel-head", pixel_head,
      "the first head gets one more output, in pixel space, mapped back and added");
    const Range inside{0, 1, true, true};
    v("first-time", first_time, inside, "times before this look like it");
    v("last-time", last_time, inside, "times after this look like it");
  }
};

class ResidualUnet final : public ImageNetwork {
 public:
  static constexpr int64_t heads = 2;

  /// pixels: constants, not trained and not saved with the parameters.
  ResidualUnet(const ResidualUnetOptions& options, const PixelMap& pixels, const Context& context,
               at::Generator& generator);

  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return heads * options_.side * options_.side; }

 private:
  struct Block {
    GroupNorm first_norm, second_norm;
    Conv first, second;
    Dense shift;
    Conv skip;  // weight undefined where input and output have the same channels
  };
  /// Ways down and up of one level; the resizing convolutions connect it with the one below.
  struct Level {
    std::vector<Block> down, up;
    Conv shrink, grow;
  };
  struct Maker;

  Dual input(const Dual& x) const;
  Dual apply(const Block& block, const Dual& x, const Dual& embedding) const;
  Dual output(const Dual& image, const Dual& x) const;

  ResidualUnetOptions options_;
  PixelMap pixels_;
  Parameters parameters_;
  Tensor positions_;
  DenseStack embedding_;
  Conv first_, last_;
  GroupNorm last_norm_;
  std::vector<Level> levels_;
};

/// Features of log tan(pi t / 2): itself and waves of several lengths. t: [n, 1], inside (0, 1) ->
/// [n, count].
Dual time_features(const Dual& t);
constexpr int64_t time_feature_count = 11;

}  // namespace dre
