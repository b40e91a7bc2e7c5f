#include "dre/objective/make_objective.h"

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/objective/classification.h"
#include "dre/objective/score_matching.h"
#include "dre/objective/velocity.h"

namespace dre {
namespace {

struct Request {
  const Score& score;
  const BridgePtr& bridge;
  const SecondMoments& moments;
  const ObjectiveOptions& options;

  template <class Concrete>
  const Concrete& as() const {
    const auto* concrete = dynamic_cast<const Concrete*>(&score);
    check(concrete, "the score was made for another method than the objective");
    return *concrete;
  }
  Matching matching() const {
    return options.matching == "pathwise" ? Matching::pathwise : Matching::boundary;
  }
  TimeWeight weight() const { return TimeWeight(options.time_weight, bridge); }
};

using Made = std::unique_ptr<Objective>;
using Maker = Made (*)(const Request&);

Made time(const Request& r) {
  return std::make_unique<TimeObjective>(r.as<TimeScore>(), r.weight(), r.matching());
}

Made joint(const Request& r) {
  const bool sliced = r.options.data_term == "sliced";
  return std::make_unique<JointObjective>(
      r.as<JointScore>(), r.weight(),
      sliced ? JointObjective::DataTerm::sliced : JointObjective::DataTerm::denoising,
      r.matching());
}

Made conditional(const Request& r) {
  return std::make_unique<ConditionalObjective>(r.as<TimeScore>(), r.moments);
}

Made conditional_vector(const Request& r) {
  return std::make_unique<ConditionalVectorObjective>(r.as<VectorTimeScore>(), r.moments);
}

Made velocity(const Request& r) {
  return std::make_unique<VelocityObjective>(r.as<VelocityScore>(), r.moments);
}

Made nce(const Request& r) { return std::make_unique<NceObjective>(r.as<ClassifierScore>()); }

Made tre(const Request& r) { return std::make_unique<TelescopeObjective>(r.as<TelescopeScore>()); }

Made which_time(const Request& r) {
  return std::make_unique<WhichTimeObjective>(r.as<WhichTimeScore>());
}

Made which_time_continuous(const Request& r) {
  return std::make_unique<ContinuousWhichTimeObjective>(r.as<ContinuousWhichTimeScore>(),
                                                        r.options.random_times);
}

Made infinitesimal(const Request& r) {
  return std::make_unique<InfinitesimalObjective>(r.as<TimeScore>(), r.options.time_step);
}

const std::vector<Named<Maker>>& makers() {
  static const std::vector<Named<Maker>> table = {
      {"which-time", which_time},
      {"which-time-continuous", which_time_continuous},
      {"time", time},
      {"joint", joint},
      {"conditional", conditional},
      {"conditional-vector", conditional_vector},
      {"velocity", velocity},
      {"nce", nce},
      {"tre", tre},
      {"infinitesimal", infinitesimal},
  };
  return table;
}

}  // namespace

Names ObjectiveOptions::matchings() { return {"pathwise", "boundary"}; }

void ObjectiveOptions::visit(OptionVisitor& v) {
  v("matching", matching, matchings(),
    "time, joint: loss along the paths of the samples, or with the paper's boundary terms");
  v("time-weight", time_weight, TimeWeight::names(),
    "time, joint: weight lambda(t) of score matching");
  v("data-term", data_term, {"sliced", "denoising"}, "joint: how the data score is matched");
  v("time-step", time_step, positive(), "infinitesimal: distance in time of the two classes");
  v("random-times", random_times, at_least(3), "which-time-continuous: times drawn for each batch");
}

std::unique_ptr<Objective> make_objective(const std::string& method, const Score& score,
                                          const BridgePtr& bridge, const SecondMoments& moments,
                                          const ObjectiveOptions& options) {
  return choose("method", makers(), method)({score, bridge, moments, options});
}

}  // namespace dre
