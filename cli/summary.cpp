#include "cli/summary.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "cli/output.h"
#include "dre/apps/diagnostics.h"
#include "dre/base/error.h"
#include "dre/data/place.h"
#include "dre/numeric/pareto.h"

namespace dre::cli {
namespace {

using Json = nlohmann::json;

const Json& part(const Json& json, const char* name) {
  static const Json nothing = Json::object();
  return json.is_object() && json.contains(name) ? json[name] : nothing;
}

/// null is what JSON makes of NaN and infinity.
double number(const Json& json, const char* name) {
  const Json& found = part(json, name);
  return found.is_number() ? found.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string word(const Json& json, const char* name) {
  const Json& found = part(json, name);
  return found.is_string() ? found.get<std::string>() : "";
}

std::vector<std::string> words(const Json& json, const char* name) {
  std::vector<std::string> out;
  for (const auto& one : part(json, name))
    if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

std::string two_decimals(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", value);
  return digits;
}

std::string side(const Json& data, const char* name, const char* value) {
  const Json& side = part(data, name);
  const double rows = number(side, "rows"), effective = number(side, "effective_rows");
  const double different = side.value("different_rows", rows);
  std::string out = text(word(side, "file"), ", ", count_text(rows), " rows");
  if (different < rows) out += text(", ", count_text(different), " different");
  if (data.contains("domain_column"))
    out += text(" with ", word(data, "domain_column"), " = ", word(data, value));
  if (effective < different) out += text(", worth ", count_text(effective), " after weighting");
  return summary_line(name, out);
}

std::string data_lines(const Json& data) {
  const auto names = words(data, "columns"), dropped = words(data, "dropped_columns");
  std::string out = summary_line("direction", word(data, "direction"));
  out += side(data, "numerator", "numerator_value");
  out += side(data, "denominator", "denominator_value");
  out += summary_line("columns", text(names.size(), ": ", listed(names)));
  if (!dropped.empty()) out += summary_line("left out", listed(dropped));
  return out;
}

/// What the guard found; nothing where the network is used.
std::string why_not_used(const Json& training, double guard) {
  if (training.value("kept", true)) return "";
  const Json& gain = part(training, "gain");
  const bool sure = number(gain, "value") > guard * number(gain, "standard_error");
  return sure ? "; not used: it describes the bridge better than the Gaussian reference, but does "
                "not surely tell held-out rows of the sides better apart"
              : "; no sure gain over the reference, not used";
}

/// Of a fit that uses a part only of what was learned; nothing where it is all, or none.
std::string share_line(const Json& trainings) {
  double share = 0;
  for (const auto& training : trainings) share += training.value("weight", 0.0);
  if (share < 1e-9 || share > 1 - 1e-9) return "";
  return summary_line("share", text(short_number(share),
                                    " of what was learned beyond the reference is used, as much as "
                                    "held-out rows are sure of"));
}

/// Of a fit whose rows repeat; nothing elsewhere.
std::string counts_line(const Json& record) {
  const auto cells = record.value("cells", int64_t{0});
  if (cells == 0) return "";
  return summary_line("counts", text("the training rows are ", cells,
                                     " different ones; how often each was seen on either side is "
                                     "part of the reference"));
}

std::string training_line(const Json& training, double guard) {
  const int64_t best = training.value("best_step", int64_t{0});
  return text("held-out loss ", short_number(number(training, "first_loss")), " -> ",
              short_number(number(training, "best_loss")), " at step ", best, " of ",
              training.value("steps", int64_t{0}), " (", word(training, "status"), ")",
              why_not_used(training, guard));
}

std::string method_lines(const Json& record) {
  const std::string reference = word(part(record, "options"), "reference");
  const double guard = number(part(record, "options"), "guard");
  std::string out;
  for (const auto& training : part(record, "training")) {
    const std::string bridge = word(training, "bridge");
    out += summary_line("method", text(word(training, "method"),
                                       bridge.empty() ? "" : text(", ", bridge, " bridge"),
                                       reference == "gaussian" ? ", Gaussian reference" : ""));
    out += summary_line("training", training_line(training, guard));
  }
  return out + counts_line(record) + share_line(part(record, "training"));
}

std::string weight_line(const char* name, const Json& check) {
  // Files of earlier fits do not say what it should be.
  const double least = check.value("least_mean", 1.0);
  std::string out =
      text(measured_text(part(check, "mean")), " (should be ", right_mean(least), ")");
  if (std::isfinite(number(check, "pareto_k")))
    out += text(", Pareto k ", two_decimals(number(check, "pareto_k")), " (good below ",
                two_decimals(number(check, "pareto_threshold")), ")");
  out += text(", worth ", count_text(number(check, "effective_rows")), " of ",
              count_text(number(check, "rows")), " rows");
  const bool reliable = check.value("reliable", false);
  const bool few = number(check, "rows") < rows_for_tail;
  const char* const reason =
      few ? "there are few rows" : "the sides are far apart or the weights heavy-tailed";
  return summary_line(name, out) +
         (reliable ? "" : summary_line("", text("this mean says little here: ", reason)));
}

std::string reweighting_line(const Json& auc) {
  const bool known = std::isfinite(number(auc, "value"));
  return summary_line("reweighted",
                      known ? text("a fresh classifier tells the numerator from the weighted "
                                   "denominator with AUC ",
                                   measured_text(auc), " (should be 0.5)")
                            : "too few rows are left to ask a fresh classifier");
}

std::string support_line(const Json& outside) {
  const auto percent = [&](const char* side) {
    return text(short_number(100 * number(outside, side)), " % of the ", side);
  };
  return summary_line("support", text("outside of the other side's: ", percent("numerator"), ", ",
                                      percent("denominator")));
}

std::string divergence_line(const char* name, const Json& kl, const char* side) {
  const bool finite = std::isfinite(number(kl, "value"));
  return summary_line(
      name, finite ? measured_text(kl) + " nats"
                   : text("not finite: rows of the ", side, " have what the other side never has"));
}

std::string diagnostics_lines(const Json& found) {
  std::string out;
  out += summary_line(
      "held-out",
      "the lines below are about rows that no network has seen; moments are of all rows");
  out += divergence_line("KL(num||den)", part(found, "kl_numerator_denominator"), "numerator");
  out += divergence_line("KL(den||num)", part(found, "kl_denominator_numerator"), "denominator");
  out += weight_line("E_den[r]", part(found, "ratio_on_denominator"));
  out += weight_line("E_num[1/r]", part(found, "inverse_ratio_on_numerator"));
  if (found.contains("auc_after_reweighting"))
    out += reweighting_line(found["auc_after_reweighting"]);
  if (found.contains("outside")) out += support_line(found["outside"]);
  for (const auto& [path, gap] : part(found, "path_disagreement").items())
    out += summary_line(
        path + " path",
        text("differs from the horizontal one by ", short_number(number(gap, "root_mean_square")),
             " (root mean square), at most ", short_number(number(gap, "largest"))));
  if (number(found, "evaluations") > 1)
    out += summary_line(
        "integral", text("error at most ", short_number(number(found, "quadrature_error")), ", ",
                         number(found, "evaluations"), " evaluations a row"));
  return out;
}

}  // namespace

std::string measured_text(const Json& json) {
  return with_error(number(json, "value"), number(json, "standard_error"));
}

std::string summary_line(const std::string& name, const std::string& value) {
  constexpr size_t width = 14;
  return name + std::string(name.size() < width ? width - name.size() : 1, ' ') + value + "\n";
}

std::string summary(const nlohmann::json& record) {
  std::string out;
  if (record.contains("data")) out += data_lines(record["data"]);
  out += method_lines(record);
  if (record.contains("diagnostics")) out += diagnostics_lines(record["diagnostics"]);
  for (const auto& warning : part(record, "warnings"))
    out +=
        summary_line("warning", text(word(warning, "message"), " [", word(warning, "code"), "]"));
  return out;
}

}  // namespace dre::cli
