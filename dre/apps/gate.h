/// Gates for pipelines: "kl > 0.1", "p_value < 0.01 and tv > 0.05". A gate that holds is a failure.
#pragma once

#include <string>
#include <vector>

#include "dre/apps/compare.h"

namespace dre {

class Gate final {
 public:
  /// Usage error where the text is none; it lists the known names.
  explicit Gate(const std::string& condition);

  /// A number that could not be computed (chi2 of heavy tails) exceeds every bound, and so does
  /// everything where the sides have no value of a column in common or the comparison was stopped.
  bool fails(const CompareResult& result) const;

  /// "kl = 0.312, chi2 could not be computed, which counts as failed"
  std::string measured(const CompareResult& result) const;

  const std::string& text() const { return text_; }

  /// Names that conditions can use.
  static std::vector<std::string> names();

 private:
  struct Bound {
    std::string name;
    bool above;  ///< fails above the bound, else below it
    bool or_equal;
    double bound;
  };
  std::string text_;
  std::vector<Bound> all_;  ///< fails where all hold
};

}  // namespace dre
