/// What a page carries in itself besides its content; made at build time by assets.cmake.
#pragma once

#include <string_view>

namespace dre::report {

std::string_view page_style();   ///< CSS
std::string_view page_script();  ///< draws the charts

/// Vega and Vega-Lite; empty where the build could not fetch them.
std::string_view chart_library();
std::string_view chart_licences();

}  // namespace dre::report
