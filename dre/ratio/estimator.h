/// The estimator: everything that turns raw rows into log density ratios, r = numerator /
/// denominator.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/data/coordinates.h"
#include "dre/data/encoding.h"
#include "dre/ratio/cell_table.h"
#include "dre/ratio/path.h"
#include "dre/score/make_score.h"

namespace dre {

/// One trained score and its part in the estimate.
struct Member {
  std::string method;
  BridgeOptions bridge;
  ScoreOptions options;
  ScorePtr score;
  ReferencePtr gaussian;  ///< the Gaussian path of the two sides over this member's bridge
  double weight = 1;      ///< share of its residual in the estimate
  double correction = 0;  ///< added to its log r: removes what is left of the normalisation error
};

struct RatioOptions {
  std::string path = "horizontal";
  IntegrateOptions integrate;

  void visit(OptionVisitor& v);
};

struct Estimate {
  Tensor log_ratio;  ///< [n], float64
  Tensor error;      ///< [n]: estimated error of the numerical integration
  Tensor spread;     ///< [n]: standard deviation between members that have weight; undefined for
                     ///< fewer than two
  int64_t evaluations = 0;  ///< network evaluations of the row that needed most
  Status status = Status::ok;
};

class Estimator final {
 public:
  Estimator(Coordinates coordinates, GaussianEnds ends, bool use_reference, const Context& context);

  /// A member of this estimator with fresh weights, not yet part of it.
  Member make_member(const std::string& method, const BridgeOptions& bridge,
                     const ScoreOptions& options) const;
  void add(Member member) { members_.push_back(std::move(member)); }

  /// raw: [n, columns] in the order of names(), without gradients; columns that a fit left out, as
  /// constant ones, are not among them. Where a row gets NaN, as one with NaN in it does, the
  /// status is non_finite. Works through the rows in pieces of bounded memory.
  Estimate log_ratio(const Tensor& raw, const RatioOptions& options = {}) const;

  /// The same for rows that are in working coordinates already.
  Estimate log_ratio_at(const Tensor& z, const RatioOptions& options = {}) const;

  /// Log r by the reference alone: Gaussian, and what counts of rows that repeat add. z: rows in
  /// working coordinates -> [n], float64, on the CPU
  Tensor reference_log_ratio(const Tensor& z) const;

  const std::vector<std::string>& names() const { return coordinates_.names(); }
  const Coordinates& coordinates() const { return coordinates_; }
  const GaussianEnds& ends() const { return ends_; }
  bool uses_reference() const { return use_reference_; }
  const std::vector<Member>& members() const { return members_; }
  std::vector<Member>& members() { return members_; }
  const Context& context() const { return context_; }

  /// Part of the reference.
  CellTable cells;

  /// From the columns of a table to names(); numbers as they are unless a fit says otherwise.
  Encoding encoding;

  /// What the model file tells about the fit: options, data, versions, diagnostics.
  nlohmann::json record;

 private:
  Estimate piece(const Tensor& z, const RatioOptions& options) const;

  Coordinates coordinates_;
  GaussianEnds ends_;
  bool use_reference_;
  Context context_;
  std::vector<Member> members_;
};

}  // namespace dre
