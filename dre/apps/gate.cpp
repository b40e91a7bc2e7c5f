#include "dre/apps/gate.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/cell.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Number = double (*)(const CompareResult&);

const std::vector<Named<Number>>& numbers() {
  static const std::vector<Named<Number>> table = {
      {"kl", [](const CompareResult& r) { return r.divergences.kl_numerator_denominator.value; }},
      {"kl_reverse",
       [](const CompareResult& r) { return r.divergences.kl_denominator_numerator.value; }},
      {"js", [](const CompareResult& r) { return r.divergences.jensen_shannon.value; }},
      {"tv", [](const CompareResult& r) { return r.divergences.total_variation.value; }},
      {"chi2", [](const CompareResult& r) { return r.divergences.chi_square.value; }},
      {"p_value", [](const CompareResult& r) { return r.test.p_value; }},
      {"auc", [](const CompareResult& r) { return r.separation.before; }},
      {"auc_after", [](const CompareResult& r) { return r.separation.after.value; }},
      {"pareto_k", [](const CompareResult& r) { return r.weights.pareto_k; }},
      {"effective_share",
       [](const CompareResult& r) {
         return r.weights.effective_rows / static_cast<double>(r.weights.rows);
       }},
      {"outside",
       [](const CompareResult& r) {
         return std::max(r.support.numerator_outside, r.support.denominator_outside);
       }},
  };
  return table;
}

const char* const how_to_read =
    "--fail-if must read like 'kl > 0.1' or 'p_value < 0.01 and tv >= 0.05', in quotes, with <, "
    "<=, > or >=, where one of several is enough after a comma; got ";

/// Six digits, and all where these are on the other side of the bound.
std::string compared_text(double value, double bound) {
  const std::string short_text = dre::text(value);
  double rounded = value;
  std::from_chars(short_text.data(), short_text.data() + short_text.size(), rounded);
  return (rounded < bound) == (value < bound) && (rounded > bound) == (value > bound)
             ? short_text
             : number_text(value);
}

}  // namespace

Gate::Gate(const std::string& condition) : text_(trimmed(condition)) {
  std::string spaced;
  for (size_t i = 0; i < condition.size(); ++i) {
    const bool sign = condition[i] == '<' || condition[i] == '>';
    const bool equal = sign && i + 1 < condition.size() && condition[i + 1] == '=';
    if (sign) spaced += ' ';
    spaced += condition[i];
    if (equal) spaced += condition[++i];
    if (sign) spaced += ' ';
  }
  std::istringstream in(spaced);
  std::string name, sign, bound, joint = "and";
  while (joint == "and" && in >> name >> sign >> bound) {
    choose("number in --fail-if", numbers(), name);
    const Cell cell = parse_cell(bound);
    const bool known = sign == ">" || sign == ">=" || sign == "<" || sign == "<=";
    check(known && cell.kind == Cell::Kind::number, how_to_read, shown(condition));
    all_.push_back({name, sign[0] == '>', sign.size() == 2, cell.value});
    joint.clear();
    in >> joint;
  }
  check(!all_.empty() && joint.empty(), how_to_read, shown(condition));
}

bool Gate::fails(const CompareResult& result) const {
  if (result.interrupted || !result.apart.empty()) return true;
  for (const auto& [name, above, or_equal, bound] : all_) {
    const double value = choose("number in --fail-if", numbers(), name)(result);
    if (std::isnan(value)) continue;
    const bool beyond = above ? value > bound : value < bound;
    if (!beyond && !(or_equal && value == bound)) return false;
  }
  return true;
}

std::string Gate::measured(const CompareResult& result) const {
  if (result.interrupted) return "the comparison was stopped, which counts as failed";
  std::vector<std::string> parts;
  for (const auto& bound : all_) {
    const double value = choose("number in --fail-if", numbers(), bound.name)(result);
    parts.push_back(std::isnan(value)
                        ? bound.name + " could not be computed, which counts as failed"
                        : dre::text(bound.name, " = ", compared_text(value, bound.bound)));
  }
  if (!result.apart.empty())
    parts.push_back(dre::text("no value of ", listed(result.apart), " is on both sides"));
  return join(parts, ", ");
}

std::vector<std::string> Gate::names() { return names_of(numbers()); }

}  // namespace dre
