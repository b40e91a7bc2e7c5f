/// Parameters replaced for as long as this lives: evaluation by averaged weights between two steps.
#pragma once

#include <torch/types.h>

#include <utility>

namespace dre {

class Swapped final {
 public:
  Swapped(torch::Tensor weights, const torch::Tensor& other)
      : weights_(std::move(weights)), kept_(weights_.clone()) {
    weights_.copy_(other);
  }
  ~Swapped() { weights_.copy_(kept_); }
  Swapped(const Swapped&) = delete;
  Swapped& operator=(const Swapped&) = delete;

 private:
  torch::Tensor weights_, kept_;
};

}  // namespace dre
