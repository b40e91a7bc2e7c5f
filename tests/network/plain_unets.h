/// The U-Nets written with LibTorch's own operations, for the battery of the networks.
#pragma once

#include <torch/types.h>

#include <cmath>
#include <map>
#include <string>

#include "dre/base/error.h"
#include "dre/network/residual_unet.h"

namespace dre::testing {

using Plain = std::map<std::string, Tensor>;

struct PlainUnet {
  const Plain& p;

  Tensor kernel(const std::string& name) const {
    return p.at(name + ".weight").permute({0, 3, 1, 2});
  }
  Tensor bias(const std::string& name) const {
    const auto found = p.find(name + ".bias");
    return found == p.end() ? Tensor() : found->second;
  }
  Tensor conv(const std::string& name, const Tensor& x, int64_t stride, int64_t padding) const {
    return torch::conv2d(x, kernel(name), bias(name), stride, padding);
  }
  Tensor dense(const std::string& name, const Tensor& x) const {
    return torch::mm(x, p.at(name + ".weight").t()) + p.at(name + ".bias");
  }
  Tensor norm_silu(const std::string& name, const Tensor& x, int64_t groups) const {
    const Tensor rows = x.reshape({x.size(0), groups, -1});
    const Tensor centred = rows - rows.mean({-1}, true);
    const Tensor unit = centred / ((centred * centred).mean({-1}, true) + 1e-5).sqrt();
    const Tensor y = unit.reshape(x.sizes()) * p.at(name + ".weight").view({-1, 1, 1}) +
                     p.at(name + ".bias").view({-1, 1, 1});
    return y * torch::sigmoid(y);
  }
};

inline Tensor plain_tanh_stack(const PlainUnet& net, const std::string& name, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    if (i > 0) x = torch::tanh(x);
    x = net.dense(text(name, ".", i), x);
  }
  return x;
}

inline Tensor plain_unet(const Plain& p, const Tensor& x, const Tensor& t, int64_t side,
                         int64_t groups, const Tensor& view = {}) {
  const PlainUnet net{p};
  const Tensor embedding = plain_tanh_stack(net, "embedding", t);
  const auto level = [&](const std::string& name, const Tensor& image, int64_t own_groups) {
    const Tensor shift = plain_tanh_stack(net, name + ".shift", embedding);
    return net.norm_silu(name + ".norm", image + shift.unsqueeze(2).unsqueeze(3), own_groups);
  };
  const auto image_of = [&](const Tensor& a) { return a.reshape({a.size(0), 1, side, side}); };
  Tensor image = image_of(x);
  if (view.defined()) image = torch::cat({image, image_of(view)}, 1);
  std::vector<Tensor> seen;
  for (int k = 0; k < 4; ++k) {
    const std::string name = text("down.", k);
    image = level(name, net.conv(name + ".conv", image, k > 0 ? 2 : 1, 0), k > 0 ? groups : 4);
    seen.push_back(image);
  }
  for (int k = 3; k > 0; --k) {
    const std::string name = text("up.", k);
    if (k < 3) image = torch::cat({image, seen[k]}, 1);
    const int64_t missing = seen[k - 1].size(2) - (2 * image.size(2) + 1);
    image =
        level(name, torch::conv_transpose2d(image, net.kernel(name + ".conv"), {}, 2, 0, missing),
              groups);
  }
  image = torch::conv_transpose2d(torch::cat({image, seen[0]}, 1), net.kernel("last"),
                                  net.bias("last"));
  const Tensor head = net.dense("head", image.select(1, 0).reshape({x.size(0), -1}));
  if (image.size(1) == 1) return head;
  return torch::cat({head, image.select(1, 1).reshape(x.sizes()) - x}, 1);
}

inline Tensor plain_residual_unet(const Plain& p, const Tensor& x, const Tensor& t,
                                  const ResidualUnetOptions& o, const Tensor& to_pixels,
                                  const Tensor& offset) {
  const PlainUnet net{p};
  const auto silu = [](const Tensor& a) { return a * torch::sigmoid(a); };
  const int64_t n = x.size(0), d = x.size(1);
  const Tensor l = torch::log(torch::tan(t * (M_PI / 2)));
  std::vector<Tensor> features = {l / 3};
  for (const double f : {0.2, 0.4, 0.8, 1.6, 3.2}) {
    features.push_back(torch::sin(l * f));
    features.push_back(torch::cos(l * f));
  }
  const Tensor embedding =
      silu(net.dense("embedding.1", silu(net.dense("embedding.0", torch::cat(features, 1)))));
  const auto image_of = [&](const Tensor& a) { return a.reshape({n, 1, o.side, o.side}); };
  const Tensor seen_as_pixels = torch::mm(x, to_pixels.t()) + offset;
  Tensor image =
      torch::cat({image_of(x), image_of(torch::tanh(x)),
                  p.at("positions").expand({n, 1, o.side, o.side}), image_of(seen_as_pixels)},
                 1);
  const auto block = [&](const std::string& name, const Tensor& a) {
    const Tensor shift = net.dense(name + ".shift", embedding).unsqueeze(2).unsqueeze(3);
    const Tensor h = net.conv(name + ".conv0", net.norm_silu(name + ".norm0", a, o.groups), 1, 1);
    const Tensor moved =
        net.conv(name + ".conv1", net.norm_silu(name + ".norm1", h + shift, o.groups), 1, 1);
    return moved + (p.count(name + ".skip.weight") ? net.conv(name + ".skip", a, 1, 0) : a);
  };
  image = net.conv("first", image, 1, 1);
  std::vector<Tensor> seen;
  for (int64_t k = 0; k < o.levels; ++k) {
    if (k > 0) image = net.conv(text("level.", k - 1, ".shrink"), image, 2, 1);
    for (int64_t i = 0; i < o.blocks; ++i)
      seen.push_back(image = block(text("level.", k, ".down.", i), image));
  }
  for (int64_t k = o.levels - 1; k >= 0; --k) {
    for (int64_t i = 0; i < o.blocks; ++i, seen.pop_back())
      image = block(text("level.", k, ".up.", i), torch::cat({image, seen.back()}, 1));
    if (k > 0)
      image = net.conv(text("level.", k - 1, ".grow"),
                       image.repeat_interleave(2, 2).repeat_interleave(2, 3), 1, 1);
  }
  const Tensor out =
      net.conv("last", net.norm_silu("last_norm", image, o.groups), 1, 1).reshape({n, -1});
  const std::vector<Tensor> all = out.split(d, 1);
  return torch::cat({all[0] + torch::mm(all[2], torch::inverse(to_pixels).t()), all[1]}, 1);
}

}  // namespace dre::testing
