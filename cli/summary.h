/// What a fit says about itself, in words for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dre::cli {

/// "name         value" with a line break; values start in one column.
std::string summary_line(const std::string& name, const std::string& value);

/// "1.012 +- 0.003" of an object with value and standard_error.
std::string measured_text(const nlohmann::json& json);

/// Lines about the record of a fit: sides, columns, method, training, diagnostics, warnings. What
/// the record does not have is left out.
std::string summary(const nlohmann::json& record);

}  // namespace dre::cli
