#include "dre/ratio/model_file.h"

#include <nlohmann/json.hpp>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/data/safetensors.h"

namespace dre {
namespace {

constexpr int format_version = 2;  // 1 had no encoding: all columns were numbers
const char* const format_name = "dre-model";
const char* const direction = "log(numerator / denominator)";

nlohmann::json member_json(const Member& member) {
  return {{"method", member.method},
          {"bridge", to_json(member.bridge)},
          {"score", to_json(member.options)},
          {"weight", member.weight},
          {"correction", member.correction}};
}

/// The file's description, checked to be one that this version can read.
nlohmann::json read_description(const TensorFile& file, const std::string& path) {
  const auto found = file.metadata.find("dre");
  check_data(found != file.metadata.end(), path, " is not a dre model: it has no dre metadata");
  const auto json = nlohmann::json::parse(found->second, nullptr, false);
  check_data(json.is_object() && json.contains("format") && json["format"] == format_name, path,
             " is not a dre model: its metadata cannot be read");
  const auto given = json.find("format_version");
  check_data(given != json.end() && given->is_number_integer(), path,
             " is a damaged dre model: it does not say which format it has");
  check_data(*given >= 1 && *given <= format_version, path, " has model format ", given->dump(),
             ", but this program reads formats 1 to ", format_version, "; use a newer dre");
  return json;
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
  nlohmann::json members = nlohmann::json::array();
  for (const auto& member : estimator.members()) {
    append(all, text("member", members.size()), member.score->network().parameters().named());
    members.push_back(member_json(member));
  }
  const nlohmann::json json = {{"format", format_name},
                               {"format_version", format_version},
                               {"direction", direction},
                               {"dre_version", version()},
                               {"torch_version", torch_version()},
                               {"columns", estimator.encoding.raw_names()},
                               {"encoding", estimator.encoding.description()},
                               {"coordinates", estimator.coordinates().description()},
                               {"reference", estimator.uses_reference()},
                               {"members", members},
                               {"record", estimator.record}};
  save_safetensors(path, {all, {{"dre", json.dump()}}});
}

Estimator load_model(const std::string& path, const Context& context) {
  const TensorFile file = load_safetensors(path);
  const nlohmann::json json = read_description(file, path);
  try {
    return build(json, file.tensors, context);
  } catch (const nlohmann::json::exception& error) {
    fail(Error::Kind::data, path, " is a damaged dre model: ", error.what());
  } catch (const Error& error) {
    fail(Error::Kind::data, path, " is a damaged dre model: ", error.what());
  } catch (const c10::Error& error) {
    fail(Error::Kind::data, path, " is a damaged dre model: ", error.what_without_backtrace());
  }
}

}  // namespace dre
