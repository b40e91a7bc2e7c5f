#include "dre/base/options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dre/base/error.h"
#include "dre/base/names.h"

namespace dre {
namespace {

void check_number(const char* name, double value, const Range& range) {
  check(range.contains(value), name, " must be ", range.describe(), ", got ", value);
}

/// A whole number that no int64 holds.
bool is_too_large(const nlohmann::json& json) {
  if (json.is_number_unsigned())
    return json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!json.is_number_float()) return false;
  const auto number = json.get<double>();
  return std::isfinite(number) && std::abs(number) >= 0x1p63;
}

void check_name(const char* name, const std::string& value, const Names& names) {
  const bool known = names.empty() || contains(names, value);
  check(known, name, " must be one of ", join(names), ", got '", value, "'");
}

}  // namespace

bool Range::contains(double value) const {
  const bool above = open_low ? value > low : value >= low;
  const bool below = open_high ? value < high : value <= high;
  return above && below;
}

std::string Range::describe() const {
  const std::string from = text(open_low ? "more than " : "at least ", low);
  if (std::isinf(high)) return from;
  if (!open_low && !open_high) return text("between ", low, " and ", high);
  return text(from, open_high ? " and less than " : " and at most ", high);
}

Range positive() { return {0, std::numeric_limits<double>::infinity(), true}; }
Range at_least(double low) { return {low, std::numeric_limits<double>::infinity()}; }
Range between(double low, double high) { return {low, high}; }
Range below(double low, double high) { return {low, high, false, true}; }

void ToJson::operator()(const char* name, bool& value, const char*) { out_[name] = value; }
void ToJson::operator()(const char* name, int64_t& value, Range, const char*) {
  out_[name] = value;
}
void ToJson::operator()(const char* name, double& value, Range, const char*) { out_[name] = value; }
void ToJson::operator()(const char* name, std::string& value, const Names&, const char*) {
  out_[name] = value;
}
void ToJson::operator()(const char* name, std::vector<std::string>& value, const char*) {
  out_[name] = value;
}

const nlohmann::json* FromJson::find(const char* name) {
  known_.emplace_back(name);
  const auto found = in_.find(name);
  return found == in_.end() ? nullptr : &*found;
}

void FromJson::operator()(const char* name, bool& value, const char*) {
  if (const auto* json = find(name)) {
    check(json->is_boolean(), name, " must be true or false, got ", json->dump());
    value = json->get<bool>();
  }
}

void FromJson::operator()(const char* name, int64_t& value, Range range, const char*) {
  if (const auto* json = find(name)) {
    check(json->is_number_integer() && !is_too_large(*json), name, " must be a whole number",
          is_too_large(*json) ? " within 64 bits" : "", ", got ", json->dump());
    value = json->get<int64_t>();
    check_number(name, static_cast<double>(value), range);
  }
}

void FromJson::operator()(const char* name, double& value, Range range, const char*) {
  if (const auto* json = find(name)) {
    check(json->is_number(), name, " must be a number, got ", json->dump());
    value = json->get<double>();
    check_number(name, value, range);
  }
}

void FromJson::operator()(const char* name, std::string& value, const Names& names, const char*) {
  if (const auto* json = find(name)) {
    check(json->is_string(), name, " must be a text, got ", json->dump());
    value = json->get<std::string>();
    check_name(name, value, names);
  }
}

void FromJson::operator()(const char* name, std::vector<std::string>& value, const char*) {
  if (const auto* json = find(name)) {
    const bool texts = json->is_array() && std::all_of(json->begin(), json->end(),
                                                       [](auto& e) { return e.is_string(); });
    check(texts, name, " must be a list of texts, got ", json->dump());
    value = json->get<std::vector<std::string>>();
  }
}

void FromJson::reject_unknown(const std::string& where) const {
  check(in_.is_object(), where, " must be a JSON object");
  for (const auto& item : in_.items()) {
    if (contains(known_, item.key())) continue;
    const std::string near = nearest(item.key(), known_);
    fail(Error::Kind::usage, where, " has an unknown option '", item.key(), "'; ",
         near.empty() ? "" : text("did you mean ", near, "? "), "known are ", join(known_));
  }
}

void Validate::operator()(const char*, bool&, const char*) {}
void Validate::operator()(const char* name, int64_t& value, Range range, const char*) {
  check_number(name, static_cast<double>(value), range);
}
void Validate::operator()(const char* name, double& value, Range range, const char*) {
  check_number(name, value, range);
}
void Validate::operator()(const char* name, std::string& value, const Names& names, const char*) {
  check_name(name, value, names);
}
void Validate::operator()(const char*, std::vector<std::string>&, const char*) {}

}  // namespace dre
