#include "experiments/mnist/tables.h"

#include <string>

#include "dre/base/error.h"
#include "dre/report/chart.h"

namespace dre::experiments::mnist {
namespace {

using Pointer = Json::json_pointer;

/// The part of a result at `place`, "/test/direct"; null where there is none.
Json part(const Json* result, const std::string& place) {
  const Pointer pointer(place);
  return result && result->contains(pointer) ? result->at(pointer) : Json();
}

/// Bits at `place`: of one seed with the error over images, of several with that over seeds.
report::Cell bits(const Settings& settings, const Results& results, const std::string& row,
                  const std::string& place) {
  std::vector<double> values;
  double error = 0;
  for (int64_t seed = 0; seed < settings.seeds; ++seed) {
    const Json found = part(results.find(row, seed), place);
    if (!found.is_object()) continue;
    values.push_back(number_in(found, "value"));
    error = number_in(found, "standard_error");
  }
  if (values.empty()) return "missing";
  return values.size() == 1 ? report::Cell(values[0], error) : mean_cell(values);
}

/// A plain number at `place`, as a mean over seeds.
report::Cell number(const Settings& settings, const Results& results, const std::string& row,
                    const std::string& place) {
  std::vector<double> values;
  for (int64_t seed = 0; seed < settings.seeds; ++seed) {
    const Json found = part(results.find(row, seed), place);
    if (found.is_number()) values.push_back(found.get<double>());
  }
  return mean_cell(values);
}

report::Cell strong(report::Cell cell) {
  cell.strong = cell.value.has_value();
  return cell;
}

report::Cell optional(const std::optional<PaperBits>& paper, double PaperBits::*which) {
  return paper ? report::Cell((*paper).*which) : report::Cell();
}

std::string title(const FitPlan& plan) {
  return text(plan.method.title, " from ", plan.noise.noise.title);
}

bool has_flow(const FitPlan& plan) { return std::string(plan.method.objective) == "velocity"; }

/// The slower annealing where it is there, else the faster one.
std::string best_anneal_row(const FitPlan& plan, const Settings& settings, const Results& results) {
  const std::string twice = anneal_plan(plan, true, settings).row();
  return results.find(twice) ? twice : anneal_plan(plan, false, settings).row();
}

const char* const raise_name = "RAISE (upper bound, approximately)";
const char* const ais_name = "AIS (lower bound)";

}  // namespace

report::Table noise_table(const Settings& settings, const Results& results) {
  report::Table table{"Noise models, bits per dimension of the test images",
                      {"noise model", "paper", "ours", "steps", "minutes of training"},
                      {}};
  for (const Noise& noise : noises()) {
    const std::string row = noise_plan(noise, settings).row();
    table.rows.push_back({noise.title, noise.paper, bits(settings, results, row, "/bits"),
                          number(settings, results, row, "/steps"),
                          number(settings, results, row, "/minutes")});
  }
  return table;
}

report::Table paper_table(const Settings& settings, const Results& results) {
  report::Table table{"Energy models, bits per dimension of the test images",
                      {"model", "paper: direct", "direct", "paper: RAISE", raise_name, "paper: AIS",
                       ais_name, "minutes of training"},
                      {}};
  for (const FitPlan& plan : fit_plans(settings)) {
    const auto paper = plan.paper();
    const std::string annealed = best_anneal_row(plan, settings, results);
    table.rows.push_back({title(plan), optional(paper, &PaperBits::direct),
                          strong(bits(settings, results, plan.row(), "/test/direct")),
                          optional(paper, &PaperBits::raise),
                          strong(bits(settings, results, annealed, "/annealed/raise")),
                          optional(paper, &PaperBits::ais),
                          strong(bits(settings, results, annealed, "/annealed/ais")),
                          number(settings, results, plan.row(), "/minutes")});
  }
  table.footnote =
      "The direct figure believes the model's own normaliser. AIS finds the normaliser too small "
      "on average, which makes its bits a lower bound; RAISE bounds those of the annealed model "
      "from above, which comes near the model's own as annealing gets slow. Only where all three "
      "agree can they be believed.";
  return table;
}

report::Table velocity_table(const Settings& settings, const Results& results) {
  report::Table table{
      "Velocity moments by every estimator, bits per dimension",
      {"model", "direct", "corrected", "direct, exact divergence", "along arcs",
       "flow, variance head", "flow, exact divergence", raise_name, ais_name,
       "|corrected − flow, variance head| of an image", "error of the noise model's half"},
      {}};
  for (const FitPlan& plan : fit_plans(settings)) {
    if (!has_flow(plan)) continue;
    const auto cell = [&](const char* field) {
      return bits(settings, results, plan.row(), text("/test/", field));
    };
    const std::string annealed = best_anneal_row(plan, settings, results);
    table.rows.push_back({title(plan), cell("direct"), cell("corrected"), cell("direct_exact"),
                          cell("arc"), cell("flow_by_variance"), strong(cell("flow")),
                          bits(settings, results, annealed, "/annealed/raise"),
                          bits(settings, results, annealed, "/annealed/ais"), cell("disagreement"),
                          plan.method.between_images ? cell("noise_half") : report::Cell()});
  }
  table.footnote =
      "The exact divergence, of the velocity itself by Hutchinson's probes, takes the place of the "
      "variance head's. The flow with it is a normalised density, and its "
      "figure can be believed without annealing; the direct integral with it is not one, nor is "
      "what the scores say along an arc from each image to a draw of N(0, I), though it asks them "
      "where they were trained. AIS and "
      "RAISE speak of the energy, which is the "
      "direct one, normalised, so that a correction drops out, and in single precision (with CUDA: "
      "convolutions in TF32); they do not bound the flow's figure. Between "
      "images one half of the way leads from N(0, I) to the noise model, whose "
      "density is known: the last column is its bits by the integral less its own.";
  return table;
}

report::Table anneal_table(const Settings& settings, const Results& results) {
  const AnnealPlan any = anneal_plan(fit_plans(settings).front(), false, settings);
  const std::string n = text(any.anneal.steps), twice = text(2 * any.anneal.steps);
  report::Table table{
      text("Annealing over ", n, " and ", twice, " temperatures"),
      {"model", "AIS, " + n, "AIS, " + twice, "RAISE, " + n, "RAISE, " + twice, "acceptance of AIS",
       "acceptance of RAISE", "effective chains", "log Z", "error of the nodes, nats", "its mean"},
      {}};
  for (const FitPlan& plan : fit_plans(settings)) {
    const std::string once = anneal_plan(plan, false, settings).row();
    const std::string slow = anneal_plan(plan, true, settings).row();
    const std::string best = best_anneal_row(plan, settings, results);
    const auto value = [&](const char* place) { return number(settings, results, best, place); };
    table.rows.push_back({title(plan), bits(settings, results, once, "/annealed/ais"),
                          bits(settings, results, slow, "/annealed/ais"),
                          bits(settings, results, once, "/annealed/raise"),
                          bits(settings, results, slow, "/annealed/raise"),
                          value("/annealed/ais_acceptance"), value("/annealed/raise_acceptance"),
                          value("/annealed/effective_chains"),
                          bits(settings, results, best, "/annealed/log_normaliser"),
                          value("/node_shift/rms"), value("/node_shift/mean")});
  }
  table.footnote = text(
      "Where n and 2n differ by more than their errors, or AIS is above RAISE, annealing was too "
      "fast. Where about one chain counts, the error of AIS is larger than the one shown. The last "
      "columns are how far log r with ",
      any.evaluate.nodes,
      " nodes, to which AIS and RAISE refer, and direct bits of a full run, is from that with "
      "twice as many: root "
      "mean square over images, and mean; where it is positive, direct bits come out too low, by "
      "0.0018 for each nat. AIS and RAISE are normalised, so that its mean drops out.");
  return table;
}

report::Table cost_table(const Settings& settings, const Results& results) {
  report::Table table{
      "What an evaluation costs",
      {"model", "evaluations, direct", "seconds for 100 images", "evaluations, flow", "parameters"},
      {}};
  table.rows.push_back({"paper, DRE-∞", "118 to 267", 0.70, {}, 3'714'066.0});
  for (const FitPlan& plan : fit_plans(settings)) {
    const auto value = [&](const char* place) {
      return number(settings, results, plan.row(), place);
    };
    const report::Cell evaluations = value("/test/direct_evaluations");
    table.rows.push_back({title(plan), evaluations.value ? evaluations : report::Cell("missing"),
                          value("/test/seconds_for_100_ratios"),
                          has_flow(plan) ? value("/test/flow_evaluations") : report::Cell(),
                          value("/parameters")});
  }
  table.footnote = "Seconds of log r of points in the space of the bridge, on a warm device.";
  return table;
}

report::Chart training_chart(const Settings& settings, const Results& results) {
  Json data = Json::array();
  for (const FitPlan& plan : fit_plans(settings))
    for (const Json& look : part(results.find(plan.row()), "/looks"))
      for (const char* estimate : {"direct", "flow"})
        if (look[estimate].is_object())
          data.push_back({{"minutes", look["minutes"]},
                          {"bits", look[estimate]["value"]},
                          {"method", plan.method.title},
                          {"estimate", estimate},
                          {"noise model", plan.noise.noise.title}});
  const Json spec = report::chart_spec(
      data,
      report::dashed_lines({{"x", report::quantity("minutes", "minutes of training")},
                            {"y", report::quantity("bits", "bits per dimension")},
                            {"color", report::category("method")}},
                           "estimate"),
      270, 240);
  return {"Validation bits against minutes of training",
          "Averaged weights, seed 0, without the correction that the end of training adds; direct, "
          "and along the flow where there is one.",
          report::facets("noise model", spec, 3)};
}

report::Chart disagreement_chart(const Settings& settings, const Results& results) {
  Json data = Json::array();
  for (const FitPlan& plan : fit_plans(settings))
    for (const Json& look : part(results.find(plan.row()), "/looks"))
      if (look["disagreement"].is_object())
        data.push_back({{"minutes", look["minutes"]},
                        {"bits", look["disagreement"]["value"]},
                        {"model", title(plan)}});
  return {"Disagreement between the paths while training runs",
          "Mean of |direct − flow| over validation images, in bits per dimension, both by the "
          "variance head; an exact score would have none.",
          report::chart_spec(
              data, {report::layer({{"type", "line"}, {"point", true}},
                                   {{"x", report::quantity("minutes", "minutes of training")},
                                    {"y", report::quantity("bits", "bits per dimension", true)},
                                    {"color", report::category("model")}})})};
}

std::vector<report::Picture> pictures(const Settings& settings, const Results& results) {
  std::vector<report::Picture> all;
  const auto add = [&](const std::string& row, const std::string& name, const char* caption) {
    const Json found = part(results.find(row), "/picture");
    if (found.is_string()) all.push_back({name, caption, found.get<std::string>()});
  };
  for (const Noise& noise : noises())
    add(noise_plan(noise, settings).row(), text("Noise model ", noise.title),
        "Samples of the noise model.");
  for (const FitPlan& plan : fit_plans(settings)) {
    add(plan.row(), title(plan), "Samples by the learned flow.");
    add(best_anneal_row(plan, settings, results), title(plan), "Ends of the AIS chains.");
  }
  return all;
}

}  // namespace dre::experiments::mnist
