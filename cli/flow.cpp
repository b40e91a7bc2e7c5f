/// dre flow: normalised densities. fit, eval, sample.
#include "cli/flow.h"

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/flow_data.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/data/mnist.h"
#include "dre/data/output.h"
#include "dre/data/png.h"
#include "dre/data/source.h"
#include "dre/data/writer.h"
#include "dre/density/density_file.h"

namespace dre::cli {
namespace {

struct FlowEvalConfig {
  std::string model;
  FlowSource source;
  int64_t draws = 1;
  int64_t rows = 0;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "density file of dre flow fit");
    source.visit(v);
    v("draws", draws, at_least(1), "draws of the pixels' noise to average over");
    v("rows", rows, at_least(0), "rows that are looked at, the first ones; 0: all");
    machine.visit(v);
  }
};

struct FlowSampleConfig {
  std::string model, out;
  int64_t count = 100;
  int64_t height = 28;
  int64_t columns = 10;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "density file of dre flow fit");
    v("out", out, {},
      "what to write: .npy, .csv or .tsv for rows, of images their logits; .png for a grid of "
      "images");
    v("count", count, at_least(1), "how many");
    v("height", height, at_least(1), "png: rows of an image");
    v("columns", columns, at_least(1), "png: images in a row of the grid");
    machine.visit(v);
  }
};

DensityFile read_density(const std::string& path, const Context& context) {
  check(!path.empty(), "--model FILE is missing: what dre flow fit wrote");
  return load_density(path, context);
}

int eval(int argc, char** argv) {
  const char* const who = "dre flow eval";
  FlowEvalConfig config;
  RunFlags run;
  CLI::App app("Bits per dimension of MNIST's test images or of a table's rows.", who);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.source.check();
  Context context = config.machine.context();
  context.dtype = config.source.precision();
  const auto [density, record] = read_density(config.model, context);
  const Tensor all = load_test_rows(config.source, fitted_columns(record));
  check_size(*density, config.model, all);
  const Tensor rows = rows_on(first_rows(all, config.rows), context);
  auto generator = context.device_generator("evaluation");
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  Tensor bits = torch::zeros({rows.size(0)}, torch::kFloat64);
  for (int64_t draw = 0; draw < config.draws; ++draw) {
    const Tensor judged = flow_bits(*density, rows, generator, progress);
    if (judged.size(0) < rows.size(0))
      return progress.interrupted("nothing was measured to its end");
    bits += judged;
  }
  const Tensor bad = at::isfinite(bits).logical_not().nonzero();
  if (bad.size(0) > 0)
    fail(Error::Kind::numerical, "the density of ", bad.size(0), " of ", bits.size(0),
         " rows is not a finite number, first that of row ", bad[0].item<int64_t>() + 1,
         "; is it far from those that ", config.model, " was fitted to?");
  nlohmann::json json = bits_json(bits / static_cast<double>(config.draws), density->dimension());
  json["density"] = density->name();
  print_result(run.format == "json" ? json.dump(2) + "\n"
                                    : summary_line("density", density->name()) + bits_text(json));
  return exit_fine;
}

void write_rows(const std::string& path, const Tensor& rows, std::vector<std::string> names) {
  if (names.empty())
    for (int64_t i = 0; i < rows.size(1); ++i) names.push_back(text("x", i));
  const auto writer = open_writer(path, names);
  writer->write(rows.to(torch::kCPU, torch::kFloat64));
  writer->finish();
}

int sample(int argc, char** argv) {
  FlowSampleConfig config;
  RunFlags run;
  CLI::App app("Draws from a fitted density.", "dre flow sample");
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  check(!config.out.empty(), "--out FILE is missing: where the samples are to be written");
  check_outputs({config.out}, {config.model});
  const bool images = has_ending(config.out, ".png");
  if (!images) check_table_format(config.out);
  Context context = config.machine.context();
  context.dtype = images ? torch::kFloat32 : torch::kFloat64;
  const auto [density, record] = read_density(config.model, context);
  auto generator = context.device_generator("samples");
  const Tensor x = density->sample(config.count, generator);
  if (!at::isfinite(x).all().item<bool>())
    fail(Error::Kind::numerical, config.model,
         " gives samples that are no finite numbers; nothing was written. Is the file damaged?");
  if (images)
    save_png(config.out, image_grid(to_pixels(x), config.height, config.columns));
  else
    write_rows(config.out, x, fitted_columns(record));
  return exit_fine;
}

}  // namespace

int run_flow(int argc, char** argv) {
  static const std::vector<Named<Action>> actions = {
      {"fit", fit_flow_action}, {"eval", eval}, {"sample", sample}};
  return run_action("dre flow", "normalised densities, the noise models of images", actions, argc,
                    argv);
}

}  // namespace dre::cli
