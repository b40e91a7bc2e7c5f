/// What an experiment is: independent cells of work, and what their results say together.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/base/context.h"
#include "dre/base/progress.h"
#include "dre/report/page.h"
#include "dre/report/table.h"

namespace dre::experiments {

using Json = nlohmann::json;

/// How much work is done: what the figures need, or a minute or two of two cores: what tests run.
enum class Size { full, quick };

/// What decides an experiment's results.
struct Settings {
  Size size = Size::full;
  int64_t seeds = 1;
  bool sweep = false;      ///< the paper's hyper-parameters too, where an experiment has a sweep
  std::string data = "";   ///< folder of the images, where an experiment needs them
  std::string files = "";  ///< folder for what cells leave for one another: models
  /// Wall clock for a model that is trained by the clock; 0: the experiment's own. A budget decides
  /// no result by itself, so cells of other budgets stand beside each other.
  double minutes = 0;

  template <class Value>
  Value pick(Value full, Value quick) const {
    return size == Size::full ? full : quick;
  }
};

/// One unit of work: a method on a data set, say, for one seed. It needs no other, or finds what
/// an earlier one left in `Settings::files`.
struct Cell {
  std::string row;
  int64_t seed = 0;
  Json options = Json::object();  ///< everything else that decides the result
  /// Computes the result, in the context of the cell's seed. A result is a JSON object of numbers
  /// and lists that are small enough to keep.
  std::function<Json(const Context&, Progress&)> run;

  std::string name() const;  ///< "TRE(4), seed 0"
};

/// A field of a result; NaN where there is none, or where JSON could not hold it.
double number_in(const Json& result, const std::string& field);

/// The results of the cells that are there.
class Results final {
 public:
  void add(const Cell& cell, Json result) { all_[{cell.row, cell.seed}] = std::move(result); }

  /// Null where the cell has not been computed.
  const Json* find(const std::string& row, int64_t seed = 0) const;

  /// A field of a row, one number for every seed that is there; NaN where the result has none.
  std::vector<double> numbers(const std::string& row, const std::string& field) const;

  /// Their mean and its standard error over the seeds; an empty cell where there are none.
  report::Cell mean(const std::string& row, const std::string& field) const;

  bool empty() const { return all_.empty(); }

 private:
  std::map<std::pair<std::string, int64_t>, Json> all_;
};

/// Mean and standard error of some numbers, as a cell of a table.
report::Cell mean_cell(const std::vector<double>& values);

/// What the cells say together.
struct Outcome {
  std::vector<report::Table> tables;
  std::vector<report::Chart> charts;
  std::vector<std::string> notes;
  std::vector<report::Picture> pictures = {};
};

struct Description {
  std::string title;
  std::string claim;      ///< what the paper says, in a few sentences
  int64_t seeds = 1;      ///< unless the user asks for others
  std::string work = "";  ///< whose cells it shares; empty: it has its own
  bool ordered = false;   ///< whether cells need what earlier ones left
};

class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual Description describe() const = 0;

  /// Throws a usage error where the settings lack what the cells need.
  virtual void check_settings(const Settings&) const {}

  /// The work, in the order in which it is best done.
  virtual std::vector<Cell> cells(const Settings& settings) const = 0;

  /// Tables and charts of the results that are there; missing ones show as missing.
  virtual Outcome summarise(const Settings& settings, const Results& results) const = 0;
};

/// Thrown by a cell that was asked to stop before it was done.
struct Interrupted {};

}  // namespace dre::experiments
