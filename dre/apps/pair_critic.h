/// A critic of pairs: log p(x,y) / (p(x) p(y)) = Gaussian reference + f(x)·g(y), with a network for
/// x and one for y; terms of x or y alone are products with a factor that is constant.
///
/// Mutual information does not change under maps of x alone and of y alone; such maps are all that
/// a network has to learn here, and what it learns of one serves every pair. Training tells the
/// partner of a row from those of all other rows of the batch, both ways, and pairs from all other
/// pairings:
///   loss_i = log mean_j e^s(i,j) / 2 + log mean_j e^s(j,i) / 2 - s(i,i)
///            + softplus(-s(i,i)) + mean_(j != i) softplus(s(i,j)).
/// The first line (InfoNCE) gives log r up to a constant, the second (logistic) all of it. A batch
/// of n rows has n(n-1) pairings for the price of 2n rows of networks, and they are new in every
/// batch, where a few shuffles of the table would be learned by heart.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dre/apps/cross_fit.h"
#include "dre/apps/fit.h"

namespace dre {

class PairCritic {
 public:
  virtual ~PairCritic() = default;

  /// Of pairs it has not seen; x: [n, dx], y: [n, dy], raw.
  virtual Opinions opinions(const Tensor& x, const Tensor& y) const = 0;
};

struct PairFit {
  std::shared_ptr<const PairCritic> critic;
  double kept = 0;  ///< 1 where training surely beat the reference, by its own held-out rows
  bool interrupted = false;
};

struct PairCriticOptions {
  int64_t rank = 16;
  int64_t members = 1;

  void visit(OptionVisitor& v) {
    v("rank", rank, at_least(1), "auto: products f_k(x) g_k(y) that the critic adds up");
    v("members", members, at_least(1), "auto: critics whose mean is taken");
  }
};

/// Row i of x belongs to row i of y. Of `fit` the training, the columns' maps, width, depth and
/// activation of the networks, reference, guard, held-out share, seed and device are used.
PairFit fit_pairs(const Tensor& x, const Tensor& y, const std::vector<std::string>& x_names,
                  const std::vector<std::string>& y_names, const PairCriticOptions& options,
                  const FitOptions& fit, Progress& progress);

}  // namespace dre
