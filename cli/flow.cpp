/// dre flow: normalised densities. fit, eval, sample.
#include "cli/flow.h"

#include <algorithm>
#include <memory>

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
    v("height", height, at_least(1),
      "png: rows of an image; of a density of a table it must be given");
    v("columns", columns, at_least(1), "png: images in a row of the grid");
    machine.visit(v);
  }

  bool images() const { return has_ending(out, ".png"); }

  void check(const Flags& flags) const {
    dre::check(!out.empty(), "--out FILE is missing: where the samples are to be written");
    check_outputs({out}, {model});
    if (images()) return;
    check_table_format(out);
    flags.refuse({"height", "columns"}, "--out FILE.png");
  }

  /// Whether samples of this density are images; `names` of its columns, where it is a table's.
  void check_density(const Density& density, const std::vector<std::string>& names,
                     bool height_is_given) const {
    if (!images()) return;
    dre::check(names.empty() || height_is_given, model, " is a density of a table's columns, ",
               names.front(), density.dimension() > 1 ? ", ..." : "",
               ", and not of images; write rows, --out FILE.csv, or where they are logits of "
               "pixels say how many rows an image has, --height N");
    dre::check(density.dimension() % height == 0, model, " is a density of ", density.dimension(),
               " columns, which do not make images of ", height,
               " rows; give another --height, or write rows, --out FILE.csv");
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
  config.source.settle();
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

/// Where samples go, a block at a time; without finish() no file is left.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void add(const Tensor& x) = 0;
  virtual void finish() = 0;
};

class RowSink final : public SampleSink {
 public:
  RowSink(const std::string& path, std::vector<std::string> names, int64_t dimension) {
    if (names.empty())
      for (int64_t i = 0; i < dimension; ++i) names.push_back(text("x", i));
    writer_ = open_writer(path, names);
  }
  void add(const Tensor& x) override { writer_->write(x.to(torch::kCPU, torch::kFloat64)); }
  void finish() override { writer_->finish(); }

 private:
  std::unique_ptr<TableWriter> writer_;
};

class GridSink final : public SampleSink {
 public:
  explicit GridSink(const FlowSampleConfig& config) : config_(config) {}
  void add(const Tensor& x) override { pixels_.push_back(to_pixels(x).to(torch::kCPU)); }
  void finish() override {
    save_png(config_.out, image_grid(at::cat(pixels_), config_.height, config_.columns));
  }

 private:
  const FlowSampleConfig& config_;
  std::vector<Tensor> pixels_;
};

std::unique_ptr<SampleSink> open_sink(const FlowSampleConfig& config, int64_t dimension,
                                      const std::vector<std::string>& names) {
  if (config.images()) return std::make_unique<GridSink>(config);
  return std::make_unique<RowSink>(config.out, names, dimension);
}

/// False where a stop was asked for. On the CPU blocks are so small that it does not wait long.
bool draw_samples(const Density& density, const FlowSampleConfig& config, at::Generator& generator,
                  SampleSink& sink, Progress& progress) {
  // Multiples of 16 numbers: at::randn then draws on the CPU what it would draw at once.
  const int64_t block = density.options().device().is_cpu() ? 192 : 1024;
  progress.begin("drawing", config.count);
  for (int64_t done = 0; done < config.count;) {
    if (progress.stop_requested()) return false;
    const Tensor x = density.sample(std::min(block, config.count - done), generator);
    if (!at::isfinite(x).all().item<bool>())
      fail(Error::Kind::numerical, config.model,
           " gives samples that are no finite numbers; no file was written. Is it damaged?");
    sink.add(x);
    progress.advance(done += x.size(0), "");
  }
  progress.end();
  return !progress.stop_requested();
}

int sample(int argc, char** argv) {
  const char* const who = "dre flow sample";
  FlowSampleConfig config;
  RunFlags run;
  CLI::App app("Draws from a fitted density.", who);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.check(flags);
  check(run.format != "json" || config.out != "-",
        "--format json is about what --out FILE gets; standard output has the samples");
  Context context = config.machine.context();
  context.dtype = config.images() ? torch::kFloat32 : torch::kFloat64;
  const auto [density, record] = read_density(config.model, context);
  const std::vector<std::string> names = fitted_columns(record);
  config.check_density(
      *density, names,
      flags.overrides().contains("height") || read_config(run.config).contains("height"));
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("samples");
  const auto sink = open_sink(config, density->dimension(), names);
  if (!draw_samples(*density, config, generator, *sink, progress))
    return progress.interrupted("no file was written");
  sink->finish();
  if (config.out == "-") return exit_fine;  // the rows are the result
  const char* const kind = config.images() ? "images" : "rows";
  const nlohmann::json json = {{kind, config.count}, {"file", config.out}};
  print_result(run.format == "json"
                   ? json.dump(2) + "\n"
                   : summary_line(kind, text(config.count)) + summary_line("file", config.out));
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
