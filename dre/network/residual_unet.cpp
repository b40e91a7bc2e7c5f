#include "dre/network/residual_unet.h"

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

Dual wave(const Dual& a, Tensor (*function)(const Tensor&), const Tensor& slope) {
  return {function(a.value), a.has_tangent() ? slope * a.tangent : Tensor()};
}

Dual sine(const Dual& a) {
  return wave(
      a, [](const Tensor& x) { return x.sin(); }, a.value.cos());
}

Dual cosine(const Dual& a) {
  return wave(
      a, [](const Tensor& x) { return x.cos(); }, -a.value.sin());
}

Dual log_tangent(const Dual& t) {
  constexpr double quarter_turn = M_PI / 2;
  const Tensor theta = quarter_turn * t.value;
  if (!t.has_tangent()) return theta.tan().log();
  return {theta.tan().log(), quarter_turn / (theta.sin() * theta.cos()) * t.tangent};
}

/// The nearest time of the interval, which has no slope outside of it.
Dual clamped(const Dual& t, double first, double last) {
  const Tensor inside = t.value.clamp(first, last);
  return {inside, t.has_tangent() ? t.tangent * (inside == t.value) : Tensor()};
}

/// Each pixel four times, as twice the side.
Dual enlarged(const Dual& x) {
  const auto enlarge = [](const Tensor& a) {
    return a.defined() ? at::upsample_nearest2d(a, {2 * a.size(2), 2 * a.size(3)}) : a;
  };
  return {enlarge(x.value), enlarge(x.tangent)};
}

}  // namespace

Dual time_features(const Dual& t) {
  const Dual l = log_tangent(t);
  std::vector<Dual> features = {l * (1.0 / 3)};
  for (const double frequency : {0.2, 0.4, 0.8, 1.6, 3.2}) {
    features.push_back(sine(l * frequency));
    features.push_back(cosine(l * frequency));
  }
  return cat(features, 1);
}

/// Makes the parts in the order in which they are used, so that the parameters lie in that order.
struct ResidualUnet::Maker {
  Parameters& parameters;
  const ResidualUnetOptions& options;
  const Context& context;
  at::Generator& generator;

  int64_t embedding() const { return 4 * options.width; }
  int64_t channels(int64_t level) const { return options.width << level; }

  Conv conv(const std::string& name, const ConvShape& shape) const {
    return add_conv(parameters, name, shape, context, generator);
  }
  GroupNorm norm(const std::string& name, int64_t size) const {
    return add_norm(parameters, name, size, options.groups, context);
  }
  Block block(const std::string& name, int64_t in, int64_t out) const {
    Block made;
    made.first_norm = norm(name + ".norm0", in);
    made.first = conv(name + ".conv0", {in, out, 3, {1, 1}});
    made.shift =
        add_dense(parameters, name + ".shift", embedding(), out, false, context, generator);
    made.second_norm = norm(name + ".norm1", out);
    made.second = conv(name + ".conv1", {out, out, 3, {1, 1}, false, false, true});
    if (in != out) made.skip = conv(name + ".skip", {in, out, 1});
    return made;
  }
  Level level(int64_t k) const {
    const std::string name = text("level.", k);
    const int64_t width = channels(k);
    Level made;
    for (int64_t i = 0; i < options.blocks; ++i)
      made.down.push_back(block(text(name, ".down.", i), width, width));
    for (int64_t i = 0; i < options.blocks; ++i)
      made.up.push_back(block(text(name, ".up.", i), 2 * width, width));
    if (k + 1 == options.levels) return made;
    made.shrink = conv(name + ".shrink", {width, 2 * width, 3, {2, 1}, true});
    made.grow = conv(name + ".grow", {2 * width, width, 3, {1, 1}, true});
    return made;
  }
};

ResidualUnet::ResidualUnet(const ResidualUnetOptions& options, const PixelMap& pixels,
                           const Context& context, at::Generator& generator)
    : options_(options), pixels_(pixels) {
  validate(options);
  const int64_t side = options.side;
  check(side % (int64_t{1} << (options.levels - 1)) == 0, "images of side ", side,
        " cannot be halved ", options.levels - 1, " times");
  const Maker make{parameters_, options_, context, generator};
  positions_ = parameters_.add("positions", at::zeros({1, 1, side, side}, context.options()));
  embedding_ =
      add_stack(parameters_, "embedding", {time_feature_count, make.embedding(), make.embedding()},
                "silu", false, context, generator);
  const int64_t inputs = pixels ? 4 : 3, out = heads + (options.pixel_head ? 1 : 0);
  check(!options.pixel_head || pixels.back, "a pixel head needs a map with a way back");
  check(options.first_time < options.last_time, "the first time, ", options.first_time,
        ", must be before the last, ", options.last_time);
  first_ = make.conv("first", {inputs, options.width, 3, {1, 1}, true});
  for (int64_t k = 0; k < options.levels; ++k) levels_.push_back(make.level(k));
  last_norm_ = make.norm("last_norm", options.width);
  last_ = make.conv("last", {options.width, out, 3, {1, 1}, true, false, true});
}

Dual ResidualUnet::input(const Dual& x) const {
  const int64_t n = x.value.size(0), side = options_.side;
  const Dual image = images(x, side);
  std::vector<Dual> channels = {image, images(tanh(x), side),
                                positions_.expand({n, 1, side, side})};
  if (pixels_) channels.push_back(images(pixels_.view(x), side));
  return packed(cat(channels, 1));
}

Dual ResidualUnet::apply(const Block& block, const Dual& x, const Dual& embedding) const {
  const Dual hidden = block.first(norm_silu(x, {}, block.first_norm));
  const Dual moved = block.second(norm_silu(hidden, block.shift(embedding), block.second_norm));
  return moved + (block.skip.weight.defined() ? block.skip(x) : x);
}

Dual ResidualUnet::output(const Dual& image, const Dual& x) const {
  const auto rows = [&](const Tensor& a) {
    return a.defined() ? a.to(x.value.scalar_type()).reshape({a.size(0), -1}) : a;
  };
  const Dual all{rows(image.value), rows(image.tangent)};
  if (!options_.pixel_head) return all;
  const int64_t d = options_.side * options_.side;
  const std::vector<Dual> parts = split(all, {d, d, d});
  return cat({parts[0] + pixels_.back(x, parts[2]), parts[1]}, 1);
}

Dual ResidualUnet::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.side * options_.side, true);
  const Dual time = clamped(t, options_.first_time, options_.last_time);
  const Dual embedding = silu(embedding_(time_features(time)));
  std::vector<Dual> seen;
  Dual image = first_(input(x));
  for (size_t k = 0; k < levels_.size(); ++k) {
    if (k > 0) image = levels_[k - 1].shrink(image);
    for (const Block& block : levels_[k].down)
      seen.push_back(image = apply(block, image, embedding));
  }
  for (size_t k = levels_.size(); k-- > 0;) {
    for (const Block& block : levels_[k].up) {
      image = apply(block, cat_channels(image, seen.back()), embedding);
      seen.pop_back();
    }
    if (k > 0) image = levels_[k - 1].grow(enlarged(image));
  }
  return output(last_(norm_silu(image, {}, last_norm_)), x);
}

}  // namespace dre
