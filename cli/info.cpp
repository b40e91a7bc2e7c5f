/// dre info: what a model file holds.
#include <algorithm>
#include <map>

#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/flow_data.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "dre/base/names.h"
#include "dre/data/description.h"
#include "dre/density/density_file.h"
#include "dre/energy/model.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

/// "zscore of x, y; rank of income"
std::string transforms(const Estimator& estimator) {
  const ColumnTransforms& columns = estimator.coordinates().columns();
  std::map<std::string, std::vector<std::string>> by_kind;
  for (size_t i = 0; i < columns.names().size(); ++i)
    by_kind[columns.kinds()[i]].push_back(columns.names()[i]);
  std::vector<std::string> parts;
  for (const auto& [kind, names] : by_kind) parts.push_back(text(kind, " of ", join(names)));
  return join(parts, "; ");
}

/// Seed and machine of a fit, and the program that wrote its file.
std::string origin(const nlohmann::json& json) {
  const nlohmann::json& record = json.at("record");
  std::string out;
  const int64_t threads = record.value("threads", int64_t{0});
  if (record.contains("seed"))
    out += summary_line("seed", text(record["seed"], ", fitted on ", record.value("device", "?"),
                                     threads > 0 ? text(" with ", threads) : "",
                                     threads > 1    ? " threads"
                                     : threads == 1 ? " thread"
                                                    : ""));
  return out + summary_line("written by", text("dre ", json.value("dre_version", "?"),
                                               ", LibTorch ", json.value("torch_version", "?")));
}

std::string estimator_info(const std::string& path, const nlohmann::json& json) {
  const Estimator estimator = load_model(path);
  int64_t weights = 0;
  for (const auto& member : estimator.members())
    weights += member.score->network().parameters().count();
  return summary(estimator.record) + summary_line("transforms", transforms(estimator)) +
         summary_line("parameters",
                      text(weights, " in ", estimator.members().size(),
                           estimator.members().size() == 1 ? " network" : " networks")) +
         origin(json);
}

std::string density_info(const std::string& path, const nlohmann::json& json) {
  const auto [density, record] = load_density(path);
  std::string out =
      summary_line("density", text(density->name(), " of ", density->dimension(), " columns"));
  if (const auto columns = fitted_columns(record); !columns.empty())
    out += summary_line("columns", join(columns));
  for (const char* rows : {"test", "held_out"})
    if (record.contains(rows)) out += bits_text(record[rows]);
  return out + origin(json);
}

std::string energy_info(const std::string& path, const nlohmann::json& json) {
  const EnergyFile file = load_energy(path);
  const EnergyOptions& options = file.model->options();
  std::string out = summary_line("energy model", text(options.objective, " from the noise model ",
                                                      file.model->noise().name())) +
                    summary_line("bridge", options.bridge) +
                    summary_line("parameters", text(file.model->network().parameters().count())) +
                    summary_line("steps", text(file.record.value("steps", int64_t{0})));
  const nlohmann::json looks = file.record.value("looks", nlohmann::json::array());
  std::string validation;
  for (const char* figure : {"direct", "flow"}) {
    const nlohmann::json::json_pointer place(text("/validation/", figure));
    if (looks.empty() || !looks.back().contains(place) || !looks.back()[place].is_object())
      continue;
    validation += text(validation.empty() ? "" : ", ", figure, " ",
                       measured_text(looks.back()[place]), " bits");
  }
  if (!validation.empty()) out += summary_line("validation", validation);
  return out + origin(json);
}

using Info = std::string (*)(const std::string& path, const nlohmann::json& json);

/// By the format that a file says it has.
const std::vector<Named<Info>>& infos() {
  static const std::vector<Named<Info>> table = {
      {"dre-model", estimator_info}, {"dre-density", density_info}, {"dre-energy", energy_info}};
  return table;
}

}  // namespace

int run_info(int argc, char** argv) {
  std::string path;
  RunFlags run_flags;
  CLI::App app("Tells what a model file holds.", "dre info");
  app.add_option("model", path, "model file that dre fit, dre flow fit or dre ebm fit wrote")
      ->type_name("FILE");
  run_flags.add_format(app);
  if (parse(app, argc, argv)) return exit_fine;
  check(!path.empty(), "no model file; give one: dre info model.safetensors");
  const TensorFile file = load_safetensors(path);
  check_data(!is_checkpoint(file), path,
             " is the state of an unfinished fit: the same command with --resume goes on from it");
  const nlohmann::json json = read_any_description(file, path);
  const std::string format = json["format"];
  const auto known = std::find_if(infos().begin(), infos().end(),
                                  [&](const auto& entry) { return entry.name == format; });
  check_data(known != infos().end(), path, " is of the format ", format,
             ", which this program does not know; use a newer dre");
  const std::string lines = known->make(path, json);  // refuses damaged files
  print_result(run_flags.format == "json" ? json.dump(2) + "\n" : lines);
  return exit_fine;
}

}  // namespace dre::cli
