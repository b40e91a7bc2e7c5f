#include "experiments/mnist/mnist.h"

#include <algorithm>
#include <filesystem>

#include "dre/base/error.h"
#include "experiments/mnist/plan.h"
#include "experiments/mnist/tables.h"
#include "experiments/mnist/work.h"

namespace dre::experiments {
namespace {

using namespace mnist;

class Mnist final : public Experiment {
 public:
  Description describe() const override {
    return {"Energy-based models of MNIST",
            "Table \"energy-based modeling\": bits per dimension of the test images by log q = log "
            "r + log p for three noise models p, Gaussian (2.01 alone), Gaussian copula (1.40) and "
            "RQ-NSF (1.12). DRE-∞ by time score matching, trained for about two days: 1.33, 1.21 "
            "and 1.09 direct, and the same by AIS and RAISE within 0.01. NCE 1.96, 1.33, 1.09 and "
            "TRE 1.39, 1.24, 1.09 are of Rhodes et al. (2020). An evaluation takes 118 to 267 "
            "calls of the network, 0.70 s for 100 images.",
            /*seeds=*/1, /*work=*/"", /*ordered=*/true};
  }

  void check_settings(const Settings& settings) const override {
    check(!settings.data.empty(),
          "the experiment mnist needs the images: give --data DIR, their folder; 'dre data mnist "
          "--out DIR' fetches them");
    check(std::filesystem::is_directory(settings.data), settings.data,
          " is not a folder; the images of the experiment mnist are fetched by 'dre data mnist "
          "--out DIR'");
    check(!settings.files.empty(),
          "the experiment mnist keeps its models in files: give --out DIR");
  }

  std::vector<Cell> cells(const Settings& settings) const override {
    std::vector<Cell> all;
    for (int64_t seed = 0; seed < settings.seeds; ++seed) add_seed(all, seed, settings);
    return all;
  }

  Outcome summarise(const Settings& settings, const Results& results) const override {
    return {{noise_table(settings, results), paper_table(settings, results),
             velocity_table(settings, results), anneal_table(settings, results),
             cost_table(settings, results)},
            {training_chart(settings, results), disagreement_chart(settings, results)},
            notes(settings),
            pictures(settings, results)};
  }

 private:
  /// A noise model stands before the first model that needs it, and a model before its annealing.
  static void add_seed(std::vector<Cell>& all, int64_t seed, const Settings& settings) {
    const std::vector<FitPlan> plans = fit_plans(settings);
    const Rows rows = plans.front().noise.rows;
    const Place place{std::make_shared<const Images>(settings.data, rows), settings.files};
    const auto add = [&](const auto& plan, auto run) {
      const std::string row = plan.row();
      if (std::any_of(all.begin(), all.end(),
                      [&](const Cell& cell) { return cell.row == row && cell.seed == seed; }))
        return;
      all.push_back({row, seed, plan.options(), [=](const Context& context, Progress& progress) {
                       return run(plan, place, context, progress);
                     }});
    };
    for (const FitPlan& plan : plans) {
      add(plan.noise, run_noise);
      add(plan, run_fit);
      add(anneal_plan(plan, false, settings), run_anneal);
      add(anneal_plan(plan, true, settings), run_anneal);
    }
  }

  static std::vector<std::string> notes(const Settings& settings) {
    const FitPlan fit = fit_plans(settings).front();
    const AnnealPlan plan = anneal_plan(fit, false, settings);
    const Rows& rows = fit.noise.rows;
    std::vector<std::string> out;
    if (settings.size == Size::quick)
      out.emplace_back(
          "A quick run: small models of few images, trained for seconds. Its figures show that "
          "everything runs, and nothing else; what is said below of the paper's network, batch and "
          "minutes is of the full run.");
    const std::vector<std::string> usual = {
        text("Training sees ", rows.train,
             " images with fresh noise at every step, looks and the correction a part of ",
             rows.validation, " others (velocity moments ", fit.fit.looks.rows, " and ",
             4 * fit.fit.looks.rows, "), and the figures are of ", rows.test,
             " test images, each with one draw of the noise. Errors are one standard error over "
             "images, or over seeds where there are several. Between images training draws from a "
             "store of images of the noise model, renewed bit by bit. Convolutions run in bfloat16 "
             "where there is CUDA, but not where velocity moments are judged; in annealing "
             "only those that drive the chains, or none (NCE, TRE)."),
        text("log r is the integral over time by ", fit.evaluate.nodes,
             " Gauss–Legendre nodes, between images by as many on each side. AIS and RAISE refer "
             "to the energy with ",
             plan.evaluate.nodes, " nodes: ", plan.anneal.chains, " chains, ",
             plan.anneal.leapfrogs,
             " leapfrog steps a temperature, through the densities that the model has learned "
             "between noise and data, or through powers of the ratio (between images, NCE, TRE); "
             "the lengths of "
             "these steps and the temperatures were found in a pilot run of ",
             plan.anneal.pilot_steps, " knots each way and then frozen. RAISE anneals ",
             plan.evaluate.rows,
             " test images backwards; their direct bits carry the result over to all of them. AIS "
             "takes the energy of all test images."),
        "DRE-∞ here is time score matching with the paper's U-Net and batch, its loss along the "
        "paths of the samples (no boundary terms, no derivative over time), times drawn evenly.",
        "NCE and TRE here are classifiers on the paper's U-Net without time, trained for a few "
        "minutes; the paper's figures for them are of larger networks."};
    out.insert(out.end(), usual.begin(), usual.end());
    return out;
  }
};

}  // namespace

std::unique_ptr<Experiment> make_mnist() { return std::make_unique<Mnist>(); }

}  // namespace dre::experiments
