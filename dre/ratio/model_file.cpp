#include "dre/ratio/model_file.h"

#include <nlohmann/json.hpp>

#include "dre/base/error.h"
#include "dre/data/description.h"

namespace dre {
namespace {

/// Format 1 had no encoding: all columns were numbers; 2 no counts of rows that repeat.
const FileKind model_kind{"dre-model", "model", 3};
const char* const direction = "log(numerator / denominator)";

nlohmann::json member_json(const Member& member) {
  return {{"method", member.method},
          {"bridge", to_json(member.bridge)},
          {"score", to_json(member.options)},
          {"weight", member.weight},
          {"correction", member.correction}};
}

Member read_member(const Estimator& estimator, const nlohmann::json& json,
                   const NamedTensors& weights) {
  BridgeOptions bridge;
  ScoreOptions options;
  from_json(json.at("bridge"), bridge, "the model's bridge");
  from_json(json.at("score"), options, "the model's score");
  Member member = estimator.make_member(json.at("method").get<std::string>(), bridge, options);
  member.score->network().parameters().load(weights);
  member.weight = json.at("weight").get<double>();
  member.correction = json.at("correction").get<double>();
  return member;
}

Estimator build(const nlohmann::json& json, const NamedTensors& tensors, const Context& context) {
  const NamedTensors ends = under(tensors, "reference");
  Estimator estimator(
      Coordinates::load(under(tensors, "coordinates"), json.at("coordinates")),
      {at(ends, "mean0"), at(ends, "variance0"), at(ends, "mean1"), at(ends, "variance1")},
      json.at("reference").get<bool>(), context);
  estimator.cells = CellTable::load(under(tensors, "cells"));
  int64_t index = 0;
  for (const auto& member : json.at("members"))
    estimator.add(read_member(estimator, member, under(tensors, text("member", index++))));
  estimator.record = json.at("record");
  if (json.contains("encoding")) estimator.encoding = Encoding::load(json.at("encoding"));
  check_data(estimator.encoding.names() == estimator.names(),
             "the encoding gives other columns than the model needs");
  return estimator;
}

}  // namespace

void save_model(const std::string& path, const Estimator& estimator) {
  const GaussianEnds& ends = estimator.ends();
  NamedTensors all;
  append(all, "coordinates", estimator.coordinates().tensors());
  append(all, "reference",
         {{"mean0", ends.mean0},
          {"variance0", ends.variance0},
          {"mean1", ends.mean1},
          {"variance1", ends.variance1}});
  append(all, "cells", estimator.cells.tensors());
  nlohmann::json members = nlohmann::json::array();
  for (const auto& member : estimator.members()) {
    append(all, text("member", members.size()), member.score->network().parameters().named());
    members.push_back(member_json(member));
  }
  nlohmann::json json = {{"direction", direction},
                         {"columns", estimator.encoding.raw_names()},
                         {"encoding", estimator.encoding.description()},
                         {"coordinates", estimator.coordinates().description()},
                         {"reference", estimator.uses_reference()},
                         {"members", members},
                         {"record", estimator.record}};
  save_described(path, model_kind, std::move(json), all);
}

Estimator load_model(const std::string& path, const Context& context) {
  const TensorFile file = load_safetensors(path);
  const nlohmann::json json = read_description(file, path, model_kind);
  return guard_damage(path, model_kind, [&] { return build(json, file.tensors, context); });
}

}  // namespace dre
