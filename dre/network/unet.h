/// The paper's U-Net: four 3x3 convolutions without padding, strides 1, 2, 2, 2, mirrored by
/// transposed ones that also see the image of their own level; group norm and swish between. Time
/// is embedded by a small network and added, through three dense layers a level, before each norm.
/// On 28 x 28 images with one output it has the paper's 3,714,066 parameters. With a data score its
/// last convolution makes a second image, which is added to -x, the data score of N(0, I). Where
/// there is a pixel map, the point seen by it is a second channel of the input.
#pragma once

#include <vector>

#include "dre/network/convolution.h"
#include "dre/network/dense.h"
#include "dre/network/pixel_map.h"

namespace dre {

struct UnetOptions {
  int64_t side = 28;
  int64_t outputs = 1;
  bool time = true;
  bool data_score = false;
  int64_t width = 64;
  int64_t embedding = 256;
  int64_t groups = 32;

  void visit(OptionVisitor& v) {
    v("side", side, at_least(20), "pixels along each side of an image");
    v("outputs", outputs, at_least(1), "columns of the output");
    v("time", time, "take time as an input");
    v("data-score", data_score, "a column for every pixel, too, after the others");
    v("width", width, at_least(1), "channels of the first level; each next one has twice as many");
    v("embedding", embedding, at_least(8), "units of the time embedding");
    v("groups", groups, at_least(1), "groups of a norm; the first level has 4");
  }
};

class Unet final : public ImageNetwork {
 public:
  /// map: not trained and not saved with the parameters.
  Unet(const UnetOptions& options, const PixelMap& map, const Context& context,
       at::Generator& generator);
  Unet(const UnetOptions& options, const Context& context, at::Generator& generator)
      : Unet(options, {}, context, generator) {}

  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override {
    return options_.outputs + (options_.data_score ? pixels() : 0);
  }

 private:
  int64_t pixels() const { return options_.side * options_.side; }

  /// A convolution and what follows it.
  struct Level {
    Conv conv;
    DenseStack shift;  // of the embedding; no layers where the network has no time
    GroupNorm norm;
  };
  Level add_level(const std::string& name, const ConvShape& shape, int64_t groups,
                  const Context& context, at::Generator& generator);
  Dual apply(const Level& level, const Dual& x, const Dual& embedding) const;
  Dual head_of_last(const Dual& image) const;
  Dual images_and_head(const Dual& image, const Dual& x) const;

  UnetOptions options_;
  PixelMap map_;
  Parameters parameters_;
  DenseStack embedding_;
  std::vector<Level> down_, up_;
  Conv last_;
  Dense head_;
};

}  // namespace dre
