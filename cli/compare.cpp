/// dre compare: two tables, how far they are apart and where.
#include "dre/apps/compare.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/gate.h"
#include "dre/base/version.h"
#include "dre/data/output.h"
#include "dre/report/compare_page.h"

namespace dre::cli {
namespace {

const char* const compare_command = "dre compare";

struct CompareConfig {
  SidesOptions sides;
  std::vector<std::string> fail_if;
  std::string output = "-", report;
  CompareOptions compare;
  Processors processors;

  void visit(OptionVisitor& v) {
    sides.visit(v);
    static const std::string conditions = text(
        "conditions such as 'kl > 0.1' or 'p_value < 0.01 and tv >= 0.05' that make the exit code "
        "5; of several, by commas or flags, one is enough; a number that could not be computed "
        "counts as failed; on ",
        join(Gate::names()));
    v("fail-if", fail_if, conditions.c_str());
    v("output", output, {},
      "file for the result, .json and .csv in that form unless --format is given; - is standard "
      "output");
    v("report", report, {}, "HTML page with charts to write besides");
    compare.visit(v);
    processors.visit(v);
  }
};

std::string interval(const Divergence& found, const char* unit) {
  if (std::isnan(found.value))
    return !(found.low > 0) ? "not finite"
                            : text("not finite, at least ", short_number(found.low), unit);
  return text(short_number(found.value), " [", short_number(found.low), ", ",
              short_number(found.high), "]", unit);
}

std::string percent(double share) { return text(short_number(100 * share), " %"); }

std::string as_text(const CompareResult& result, double seconds) {
  const Divergences& d = result.divergences;
  std::string out = result.verdict + "\n\n";
  out += summary({{"data", result.data}});
  out += summary_line("interval", text(percent(d.level), " confidence"));
  out += summary_line("KL(num||den)", interval(d.kl_numerator_denominator, " nats"));
  out += summary_line("KL(den||num)", interval(d.kl_denominator_numerator, " nats"));
  out += summary_line("JS", interval(d.jensen_shannon, " nats"));
  out += summary_line("TV", interval(d.total_variation, ""));
  out += summary_line("chi2", interval(d.chi_square, ""));
  out += summary_line("p-value",
                      text(short_number(result.test.p_value), ", ", p_value_source(result)));
  out += summary_line("AUC", text(short_number(result.separation.before), ", after reweighting ",
                                  std::isnan(result.separation.after.value)
                                      ? "unknown"
                                      : with_error(result.separation.after.value,
                                                   result.separation.after.standard_error) +
                                            " (should be 0.5)"));
  out += summary_line("r on den", weight_text(result.weights));
  out += summary_line("1/r on num", weight_text(result.inverse_weights));
  out +=
      summary_line("outside", text(percent(result.support.numerator_outside), " of the numerator, ",
                                   percent(result.support.denominator_outside),
                                   " of the denominator have no counterpart"));
  for (const auto& [code, message] : result.warnings)
    out += summary_line("warning", text(message, " [", code, "]"));
  out += "\n" + column_lines(result.columns);
  return out + "\n" + summary_line("seconds", short_number(seconds));
}

/// name,value,low,high: one number a line.
std::string as_csv(const CompareResult& result) {
  std::string out = "name,value,low,high\n";
  const auto cell = [](double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.10g", value);
    return std::isfinite(value) ? std::string(digits) : std::string();
  };
  const auto add = [&](const std::string& name, double value, double low, double high) {
    out += text(name, ",", cell(value), ",", cell(low), ",", cell(high), "\n");
  };
  const Divergences& d = result.divergences;
  const auto divergence = [&](const char* name, const Divergence& one) {
    add(name, one.value, one.low, one.high);
  };
  divergence("kl", d.kl_numerator_denominator);
  divergence("kl_reverse", d.kl_denominator_numerator);
  divergence("js", d.jensen_shannon);
  divergence("tv", d.total_variation);
  divergence("chi2", d.chi_square);
  const double none = std::nan("");
  add("p_value", result.test.p_value, none, none);
  add("auc", result.separation.before, none, none);
  add("auc_after", result.separation.after.value, none, none);
  add("effective_rows", result.weights.effective_rows, none, none);
  add("pareto_k", result.weights.pareto_k, none, none);
  add("outside_numerator", result.support.numerator_outside, none, none);
  add("outside_denominator", result.support.denominator_outside, none, none);
  return out;
}

std::string formatted(const CompareResult& result, const std::string& format, double seconds) {
  if (format == "csv") return as_csv(result);
  if (format == "text") return as_text(result, seconds);
  nlohmann::json json = to_json(result);
  json["seconds"] = seconds;
  json["dre_version"] = version();
  return json.dump(2) + "\n";
}

int judge_gates(const std::vector<Gate>& gates, const CompareResult& result) {
  int code = exit_fine;
  for (const auto& gate : gates) {
    if (!gate.fails(result)) continue;
    std::cerr << compare_command << ": gate failed: " << gate.text() << " ("
              << gate.measured(result) << ")" << std::endl;
    code = exit_gate;
  }
  return code;
}

int run(const CompareConfig& config, const RunFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  config.processors.set_up();
  std::vector<Gate> gates;
  for (const auto& condition : config.fail_if) gates.emplace_back(condition);
  check_page_name(config.report);
  check_outputs({config.output, config.report}, config.sides.files());
  device_by_name(config.compare.fit.device);
  ProgressBar progress(compare_command, flags.quiet);
  const Sides sides = load_sides(config.sides, config.compare.fit.seed);
  const StopSignals signals;
  const CompareResult result = compare(sides, config.compare, progress);
  if (result.interrupted) return progress.interrupted("nothing was written");
  progress.warn(result.warnings);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  write_result(config.output, formatted(result, flags.format_for(config.output), elapsed.count()));
  if (!config.report.empty()) write_page(config.report, report::compare_page(result), progress);
  return judge_gates(gates, result);
}

}  // namespace

int run_compare(int argc, char** argv) {
  CompareConfig config;
  RunFlags run_flags;
  CLI::App app(
      "Compares two tables: divergences with intervals, a valid test, columns, and whether one can "
      "be reweighted to the other.",
      compare_command);
  Flags flags(app);
  flags.group("Data", config.sides);
  group_fit(flags, config.compare.fit);
  flags.title("Compare");
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_format(app, {"text", "json", "csv"});
  run_flags.add_quiet(app);
  if (!settle(config, app, flags, run_flags, argc, argv)) return exit_fine;
  return run(config, run_flags);
}

}  // namespace dre::cli
