/// dre ratio: log-ratios of the rows of a file, a block at a time.
#include <algorithm>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "dre/apps/diagnostics.h"
#include "dre/data/frame.h"
#include "dre/data/output.h"
#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/source.h"
#include "dre/data/writer.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

const char* const who = "dre ratio";

struct RatioConfig {
  std::string model, input, output = "-";
  bool with_error = false;
  RatioOptions ratio;
  std::string device = "auto";
  Processors processors;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file that dre fit wrote");
    v("input", input, {}, "file with the rows; - is standard input");
    v("output", output, {}, "file for the log-ratios, .csv, .tsv or .npy; - is standard output");
    v("with-error", with_error,
      "also write the error of the integral, and how far members or paths differ");
    ratio.visit(v);
    v("device", device, {"auto", "cpu", "cuda"}, "where the networks live");
    processors.visit(v);
  }
};

struct Counts {
  int64_t rows = 0;
  int64_t unseen = 0, pooled = 0;                // cells, see Encoding::Result
  int64_t not_finite = 0, first_not_finite = 0;  // rows from 1
  Status status = Status::ok;
};

/// Rates blocks of rows, in columns that are the same for every block.
class Rating {
 public:
  Rating(const Estimator& estimator, const RatioConfig& config)
      : estimator_(estimator), config_(config), paths_(other_paths(estimator)) {
    if (!config.with_error) return;
    columns_.emplace_back("error");
    if (has_spread())
      columns_.emplace_back("spread");
    else if (!paths_.empty())
      columns_.emplace_back("disagreement");
  }

  const std::vector<std::string>& columns() const { return columns_; }

  /// values: [n, columns of the model] -> [n, columns()]
  Tensor operator()(const Tensor& values, Counts& counts) const {
    const Estimate estimate = estimator_.log_ratio(values, config_.ratio);
    std::vector<Tensor> out;
    out.reserve(columns_.size());
    out.push_back(estimate.log_ratio);
    if (config_.with_error) out.push_back(estimate.error);
    if (config_.with_error && has_spread())
      out.push_back(estimate.spread);
    else if (config_.with_error && !paths_.empty())
      out.push_back(path_disagreement(estimator_, values, config_.ratio.integrate));
    const Tensor bad = estimate.log_ratio.isfinite().logical_not();
    const auto how_many = bad.sum().item<int64_t>();
    if (how_many > 0 && counts.not_finite == 0)
      counts.first_not_finite = counts.rows + bad.nonzero()[0].item<int64_t>() + 1;
    counts.not_finite += how_many;
    counts.rows += values.size(0);
    if (counts.status == Status::ok) counts.status = estimate.status;
    return torch::stack(out, 1);
  }

 private:
  /// A spread means something between members that take part in the estimate.
  bool has_spread() const {
    const auto& members = estimator_.members();
    return std::count_if(members.begin(), members.end(),
                         [](const Member& member) { return member.weight != 0; }) > 1;
  }

  const Estimator& estimator_;
  const RatioConfig& config_;
  Names paths_;
  std::vector<std::string> columns_ = {"log_ratio"};
};

/// A block of raw cells in the columns of the model.
Tensor encode(const Estimator& estimator, const Table& block, const std::string& file,
              Counts& counts) {
  FrameOptions options = estimator.encoding.frame_options();
  options.rows_before = counts.rows;
  FrameBuilder builder(file, block.columns, options);
  builder.add(block);
  const Encoding::Result result = estimator.encoding.encode(std::move(builder).finish());
  check_data(result.missing_row == 0,
             Place{file, counts.rows + result.missing_row, 0, result.missing_column}.describe(),
             ": the value is missing, but the rows of the fit had no missing values there; fill it "
             "in, or leave the row out");
  counts.unseen += result.unseen;
  counts.pooled += result.pooled;
  return result.values;
}

/// False where a stop was asked for before the end.
bool stream(TableReader& reader, TableWriter& writer, const Estimator& estimator,
            const Rating& rate, const std::string& file, Progress& progress, Counts& counts) {
  const StopSignals signals;
  const auto width = static_cast<int64_t>(estimator.names().size());
  const int64_t block_rows = std::clamp<int64_t>((int64_t{1} << 20) / width, 1, 16384);
  progress.begin("rows", 0);
  while (const auto block = reader.next(block_rows)) {
    writer.write(rate(encode(estimator, *block, file, counts), counts));
    progress.advance(counts.rows, "");
    if (progress.stop_requested()) return false;
  }
  progress.end();
  writer.finish();
  return true;
}

void warn_of_categories(int64_t cells, const char* which, Progress& progress) {
  if (cells > 0)
    progress.warn("unseen-category", text(cells, cells == 1 ? " cell has" : " cells have", which));
}

int judge(const Counts& counts, Progress& progress) {
  warn_of_categories(counts.unseen,
                     " a category that the fit never saw; it counts as the most frequent one",
                     progress);
  warn_of_categories(counts.pooled,
                     " a category that was rare in the fit or that it never saw; it counts as the "
                     "rare ones, which are taken as one",
                     progress);
  if (counts.status != Status::ok)
    progress.warn("integration", text("the integral over time: ", describe(counts.status)));
  if (counts.not_finite > 0)
    fail(Error::Kind::numerical, counts.not_finite, " of ", counts.rows,
         " log-ratios are not finite, the first of them that of row ", counts.first_not_finite);
  return exit_fine;
}

int run(const RatioConfig& config, bool quiet) {
  check(!config.model.empty(), "--model FILE is missing");
  check(!config.input.empty(), "--input FILE is missing");
  config.processors.set_up();
  check_outputs({config.output}, {config.input, config.model});
  Context context;
  context.device = device_by_name(config.device);
  const Estimator estimator = load_model(config.model, context);
  const Rating rate(estimator, config);
  ReadOptions read;
  read.columns = estimator.encoding.raw_names();
  read.words = "keep";
  read.numbers = estimator.encoding.numbers();
  const auto reader = open_table(config.input, read);
  const auto writer = open_writer(config.output, rate.columns());
  ProgressBar progress(who, quiet);
  Counts counts;
  if (!stream(*reader, *writer, estimator, rate, input_name(config.input), progress, counts))
    return interrupted(who, text(counts.rows, " rows were rated",
                                 config.output == "-" ? "" : ", nothing was written"));
  return judge(counts, progress);
}

}  // namespace

int run_ratio(int argc, char** argv) {
  RatioConfig config;
  RunFlags run_flags;
  CLI::App app("Writes log(numerator / denominator) of every row of a file, in its order.", who);
  Flags flags(app);
  flags.group("Integral", config.ratio);
  flags.title("Ratio");
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_quiet(app);
  if (!settle(config, app, flags, run_flags, argc, argv)) return exit_fine;
  return run(config, run_flags.quiet);
}

}  // namespace dre::cli
