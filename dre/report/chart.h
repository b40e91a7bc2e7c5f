/// Pieces of Vega-Lite specifications: data as records, channels, layers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dre/report/page.h"

namespace dre::report {

using Json = nlohmann::json;

/// Columns of equal length as a list of records, numbers cut to six digits: a page has no use for
/// more.
Json records(const std::vector<std::pair<std::string, std::vector<double>>>& columns);

/// Adds a field of one value to every record.
Json with_field(Json records, const std::string& name, const Json& value);

/// Appends the records of `more` to `all`.
void append_records(Json& all, Json more);

/// A field on an axis: {"field", "type": "quantitative", "title"}; `zero` keeps 0 in view.
Json quantity(const std::string& field, const std::string& title, bool zero = false);

/// The same on a logarithmic axis.
Json log_quantity(const std::string& field, const std::string& title);

/// A field of names as a colour with a legend, or on an axis; names keep the order of the data.
Json category(const std::string& field, const std::string& title = "");

/// A category told by the dashes of a line, which its legend shows; filled marks in the same layer
/// would hide them there.
Json dashes(const std::string& field, const std::string& title = "");

/// {"mark": mark, "encoding": encoding}; a mark is a name or an object.
Json layer(Json mark, Json encoding);

/// Two layers: lines whose dashes tell the category `field`, and a point for each record.
std::vector<Json> dashed_lines(Json encoding, const std::string& field,
                               const std::string& title = "");

/// A specification over `records` with one layer or several, of the given size in pixels.
Json chart_spec(Json records, std::vector<Json> layers, int64_t width = 560, int64_t height = 320);

/// One small chart for each value of `field`, side by side in `columns`.
Json facets(const std::string& field, Json spec, int64_t columns);

}  // namespace dre::report
