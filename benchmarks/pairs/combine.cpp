#include "benchmarks/pairs/combine.h"

#include "dre/base/error.h"

namespace dre::pairs {
namespace {

class Mixture final : public Density {
 public:
  Mixture(const std::vector<double>& weights, std::vector<DensityPtr> components)
      : components_(std::move(components)) {
    check(!components_.empty() && weights.size() == components_.size(), "a mixture of ",
          components_.size(), " components got ", weights.size(), " weights");
    const Tensor raw = torch::tensor(weights, torch::kFloat64);
    weights_ = raw / raw.sum();
  }

  int64_t dimension() const override { return components_.front()->dimension(); }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    const Tensor chosen = at::multinomial(weights_, n, /*replacement=*/true, generator);
    Tensor x = torch::empty({n, dimension()}, torch::kFloat64);
    for (size_t k = 0; k < components_.size(); ++k) {
      const Tensor rows = chosen.eq(static_cast<int64_t>(k)).nonzero().squeeze(1);
      x.index_copy_(0, rows, components_[k]->sample(rows.size(0), generator));
    }
    return x;
  }

  Tensor log_prob(const Tensor& x) const override {
    std::vector<Tensor> parts;
    for (const auto& component : components_) parts.push_back(component->log_prob(x));
    return at::logsumexp(torch::stack(parts, 1) + weights_.log(), 1);
  }

 private:
  std::vector<DensityPtr> components_;
  Tensor weights_;
};

class Product final : public Density {
 public:
  explicit Product(std::vector<DensityPtr> blocks) : blocks_(std::move(blocks)) {
    for (const auto& block : blocks_) {
      sizes_.push_back(block->dimension());
      dimension_ += block->dimension();
    }
  }

  int64_t dimension() const override { return dimension_; }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    std::vector<Tensor> parts;
    for (const auto& block : blocks_) parts.push_back(block->sample(n, generator));
    return torch::cat(parts, 1);
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, dimension_);
    const std::vector<Tensor> parts = x.split_with_sizes(sizes_, 1);
    Tensor total = torch::zeros({x.size(0)}, torch::kFloat64);
    for (size_t i = 0; i < parts.size(); ++i) total = total + blocks_[i]->log_prob(parts[i]);
    return total;
  }

 private:
  std::vector<DensityPtr> blocks_;
  std::vector<int64_t> sizes_;
  int64_t dimension_ = 0;
};

class Pushforward final : public Density {
 public:
  Pushforward(DensityPtr base, MapPtr map) : base_(std::move(base)), map_(std::move(map)) {
    check(base_->dimension() == map_->inputs(), "a map of ", map_->inputs(),
          " coordinates cannot take a density in ", base_->dimension());
  }

  int64_t dimension() const override { return map_->outputs(); }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    return map_->forward(base_->sample(n, generator));
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, dimension());
    const Tensor z = map_->inverse(x);
    return base_->log_prob(z) - map_->log_volume(z);
  }

 private:
  DensityPtr base_;
  MapPtr map_;
};

}  // namespace

DensityPtr mixture(const std::vector<double>& weights, std::vector<DensityPtr> components) {
  return std::make_shared<Mixture>(weights, std::move(components));
}

DensityPtr product(std::vector<DensityPtr> blocks) {
  return std::make_shared<Product>(std::move(blocks));
}

DensityPtr pushforward(DensityPtr base, MapPtr map) {
  return std::make_shared<Pushforward>(std::move(base), std::move(map));
}

}  // namespace dre::pairs
