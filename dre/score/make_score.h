/// Named scores: from a method's name to network and head formula.
#pragma once

#include "dre/base/options.h"
#include "dre/score/score.h"

namespace dre {

struct ScoreOptions {
  int64_t width = 128;
  int64_t depth = 3;
  std::string activation = "silu";
  int64_t classes = 9;
  int64_t bridges = 4;
  int64_t polynomials = 8;

  void visit(OptionVisitor& v);
};

using ScorePtr = std::shared_ptr<Score>;

/// The score that `method` trains, with fresh weights from the context's stream "weights".
/// `reference` may be null.
ScorePtr make_score(const std::string& method, const ScoreOptions& options, BridgePtr bridge,
                    ReferencePtr reference, int64_t dimension, const Context& context);

/// Every method that has a score.
Names method_names();

/// The methods whose score has the ability, for messages.
enum class AbilityKind { data_score, flow };
Names methods_with(AbilityKind kind);

}  // namespace dre
