#include "dre/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "dre/base/error.h"

namespace dre::report {
namespace {

Json six_digits(double value) {
  if (!std::isfinite(value)) return nullptr;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return std::strtod(digits, nullptr);
}

}  // namespace

Json records(const std::vector<std::pair<std::string, std::vector<double>>>& columns) {
  Json out = Json::array();
  const size_t n = columns.empty() ? 0 : columns.front().second.size();
  for (size_t i = 0; i < n; ++i) {
    Json row = Json::object();
    for (const auto& [name, values] : columns) {
      check(values.size() == n, "column '", name, "' has ", values.size(), " values, others ", n);
      row[name] = six_digits(values[i]);
    }
    out.push_back(std::move(row));
  }
  return out;
}

Json with_field(Json records, const std::string& name, const Json& value) {
  for (auto& row : records) row[name] = value;
  return records;
}

void append_records(Json& all, Json more) {
  for (auto& row : more) all.push_back(std::move(row));
}

Json quantity(const std::string& field, const std::string& title, bool zero) {
  return {
      {"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", zero}}}};
}

Json log_quantity(const std::string& field, const std::string& title) {
  Json out = quantity(field, title);
  out["scale"] = {{"type", "log"}};
  out["axis"] = {{"tickCount", 6}};  // else a grid line for every digit of every decade
  return out;
}

Json category(const std::string& field, const std::string& title) {
  Json out = {{"field", field}, {"type", "nominal"}, {"sort", nullptr}};
  out["title"] = title.empty() ? Json(nullptr) : Json(title);
  return out;
}

Json dashes(const std::string& field, const std::string& title) {
  Json out = category(field, title);
  out["legend"] = {{"symbolType", "stroke"}};
  return out;
}

Json layer(Json mark, Json encoding) {
  return {{"mark", std::move(mark)}, {"encoding", std::move(encoding)}};
}

std::vector<Json> dashed_lines(Json encoding, const std::string& field, const std::string& title) {
  const Json points =
      layer({{"type", "point"}, {"filled", true}, {"size", 30}, {"opacity", 1}}, encoding);
  encoding["strokeDash"] = dashes(field, title);
  return {layer("line", std::move(encoding)), points};
}

Json chart_spec(Json records, std::vector<Json> layers, int64_t width, int64_t height) {
  return {{"data", {{"values", std::move(records)}}},
          {"width", width},
          {"height", height},
          {"layer", std::move(layers)}};
}

Json facets(const std::string& field, Json spec, int64_t columns) {
  Json data = std::move(spec["data"]);
  spec.erase("data");
  Json order = Json::array();  // Vega-Lite would take the alphabet's
  for (const auto& row : data["values"])
    if (std::find(order.begin(), order.end(), row[field]) == order.end())
      order.push_back(row[field]);
  return {{"data", std::move(data)},
          {"facet", {{"field", field}, {"type", "nominal"}, {"title", nullptr}, {"sort", order}}},
          {"columns", columns},
          {"spec", std::move(spec)}};
}

}  // namespace dre::report
