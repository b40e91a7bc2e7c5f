/// Two tables compared: are they from one distribution, how far apart, in which columns, and can
/// one be reweighted to the other.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/apps/column_effects.h"
#include "dre/apps/diagnostics.h"
#include "dre/apps/divergence.h"
#include "dre/apps/sides.h"
#include "dre/apps/support.h"
#include "dre/apps/two_sample_test.h"

namespace dre {

struct CompareOptions {
  CrossFitOptions cross_fit;
  double level = 0.95;
  int64_t permutations = 999;
  FitOptions fit = quick_fit();

  void visit(OptionVisitor& v);
};

/// How well the log-ratio tells the sides apart.
struct Separation {
  double before = 0;  ///< AUC of the out-of-fold log-ratios
  Measured after{};   ///< AUC of a fresh classifier between numerator and reweighted denominator;
                      ///< NaN where the weights leave too few rows to train one
};

/// Shares of both sides in bins of log r, and how often rows of a bin were numerator rows.
struct RatioHistogram {
  std::vector<double> edges;                   ///< one more than bins
  std::vector<double> numerator, denominator;  ///< shares, each side sums to 1
};

struct CompareResult {
  Divergences divergences;
  TwoSampleTest test;
  Separation separation;
  WeightCheck weights;          ///< of w = r on the denominator
  WeightCheck inverse_weights;  ///< of w = 1/r on the numerator
  Support support;
  std::vector<ColumnEffect> columns;
  RatioHistogram histogram;
  std::vector<double> largest_weights;  ///< the largest r, mean 1, falling; at most 200
  std::vector<CurvePoint> curve;        ///< training of the first fold
  Names paths;                          ///< of integration besides the usual one, if any
  double path_disagreement = 0;         ///< root mean square of the largest difference to them
  std::vector<Warning> warnings;
  nlohmann::json data;             ///< description of the sides
  std::vector<std::string> apart;  ///< columns without a common value, so that they tell all rows
                                   ///< apart, see Sides; all else is about the other columns
  std::string proof;    ///< of what the p-value bounds the chance, where that is smaller than the
                        ///< test's: "that rare levels of zip are so often on one side only"
  std::string verdict;  ///< in a sentence
  bool interrupted = false;  ///< then the numbers mean nothing
};

/// Divergences are corrected by what models make of rows they have seen; their intervals allow for
/// refitting, for what is left to learn, and for a test that finds no difference.
CompareResult compare(const Sides& sides, const CompareOptions& options, Progress& progress);

/// What the p-value is from: "permutation of 400 rows that the model did not see".
std::string p_value_source(const CompareResult& result);

/// The documented form, docs/compare.schema.json; a usage error where it was interrupted.
nlohmann::json to_json(const CompareResult& result);

}  // namespace dre
