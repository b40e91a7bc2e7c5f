#include "cli/flow_data.h"

#include <algorithm>
#include <cstdlib>

#include "cli/output.h"
#include "cli/summary.h"
#include "dre/base/error.h"
#include "dre/data/checksum.h"
#include "dre/data/mnist.h"
#include "dre/data/reader.h"
#include "dre/data/split.h"
#include "dre/numeric/measured.h"

namespace dre::cli {
namespace {

Table table_of(const std::string& path) {
  ReadOptions options;
  options.missing = "error";
  return read_table(path, options);
}

/// Whether columns have only the names x0, x1, ... that the reader gives to those without.
bool nameless(const std::vector<std::string>& columns) {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] != text("x", i)) return false;
  return true;
}

}  // namespace

std::string mnist_folder(const std::string& given) {
  const char* const shared = std::getenv("DRE_DATA");
  return !given.empty() || !shared ? given : text(shared, "/mnist");
}

void FlowSource::visit(OptionVisitor& v) {
  v("data", data, {},
    "folder of the MNIST files, see dre data mnist; where neither it nor --input is given, "
    "DRE_DATA/mnist of the environment");
  v("input", input, {}, "or a table of numbers: .npy, .npz, .csv");
}

void FlowSource::settle() {
  if (input.empty()) data = mnist_folder(data);
  dre::check(data.empty() != input.empty(),
             "give either --data DIR, the folder of the MNIST files, or --input FILE, a table");
}

FlowRows load_flow_rows(const FlowSource& source, double held_out, const Context& context) {
  FlowRows rows;
  if (!source.data.empty()) {
    const MnistSplit mnist = load_mnist(source.data);
    rows = {{mnist.train, mnist.validation}, mnist.test, "test", {{"kind", "mnist"}}};
  } else {
    auto generator = context.generator("flow split");
    const Table table = table_of(source.input);
    const Split parts = split(make_samples(table.values, {}, source.input), held_out, generator);
    check_data(parts.held_out.rows() >= 2, source.input, " has ", table.rows(), " rows, of which ",
               parts.held_out.rows(),
               " would be held out to judge by; add rows or raise --held-out");
    rows = {{parts.train.x, parts.held_out.x},
            parts.held_out.x,
            "held_out",
            {{"kind", "table"}, {"columns", table.columns}}};
  }
  rows.description["checksum"] = tensor_checksum(rows.data.train);
  rows.description["rows"] = {rows.data.train.size(0), rows.data.held_out.size(0)};
  return rows;
}

Tensor load_test_rows(const FlowSource& source, const std::vector<std::string>& columns) {
  if (!source.data.empty()) return load_mnist(source.data).test;
  const Table table = table_of(source.input);
  const bool by_place = table.columns.size() == columns.size() &&
                        (nameless(table.columns) || nameless(columns)) &&
                        !std::is_permutation(columns.begin(), columns.end(), table.columns.begin());
  return columns.empty() || by_place ? table.values : select_columns(table, columns);
}

std::vector<std::string> fitted_columns(const nlohmann::json& record) {
  const auto place = nlohmann::json::json_pointer("/data/columns");
  return record.contains(place) ? record[place].get<std::vector<std::string>>()
                                : std::vector<std::string>();
}

Tensor first_rows(const Tensor& rows, int64_t count) {
  return count > 0 ? rows.slice(0, 0, count) : rows;
}

void check_size(const Density& density, const std::string& path, const Tensor& rows) {
  check_data(rows.size(1) == density.dimension(), path, " is a density of ", density.dimension(),
             " columns, and the rows have ", rows.size(1),
             "; give the kind of data that it was fitted to");
}

nlohmann::json bits_json(const Tensor& bits, int64_t dimension) {
  const double nats = -nats_of_a_bit(dimension);
  const Measured mean = mean_of(bits);
  return {{"rows", bits.size(0)},
          {"bits_per_dimension", mean.value},
          {"standard_error", mean.standard_error},
          {"log_density", nats * mean.value}};
}

std::string bits_text(const nlohmann::json& bits) {
  const std::string value = with_error(bits["bits_per_dimension"], bits["standard_error"]);
  return summary_line("bits", text(value, " per dimension, ", bits["rows"], " rows")) +
         summary_line("log-density", text(short_number(bits["log_density"]), " nats on average"));
}

}  // namespace dre::cli
