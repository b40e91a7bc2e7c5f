/// What the pages of several jobs show alike: the sides, the tail of the weights, the columns
/// before and after reweighting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/apps/column_effects.h"
#include "dre/apps/diagnostics.h"
#include "dre/report/chart.h"

namespace dre::report {

/// "a.csv", or "all.csv (city = rome)" where one file has both sides: the numerator or the
/// denominator in a description of sides.
std::string side_name(const nlohmann::json& data, const std::string& side);

/// The same with the number of its rows.
std::string side_text(const nlohmann::json& data, const std::string& side);

/// Middles of bins, one less than edges.
std::vector<double> bin_centres(const std::vector<double>& edges);

/// "0.3, good below 0.7", or why there is none.
std::string tail_text(const WeightCheck& check);

/// "1.02 ± 0.03, should be 1", or that it says little.
std::string mean_text(const WeightCheck& check);

/// The largest weights by rank, with the Pareto k of all.
Chart tail_chart(const std::vector<double>& largest, const WeightCheck& check);

/// Bars and a table of all columns, and charts of the marginals of the first ones.
Section columns_section(const std::vector<ColumnEffect>& columns);

}  // namespace dre::report
