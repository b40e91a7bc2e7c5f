/// Results on standard output and in files.
#pragma once

#include <string>

#include "dre/base/progress.h"
#include "dre/numeric/measured.h"
#include "dre/report/page.h"

namespace dre::cli {

/// A full disk or a closed output is an error, not silence.
void print_result(const std::string& text);

/// To a file, written aside and renamed; "-" is standard output.
void write_result(const std::string& path, const std::string& text);

/// Throws where a page would get the name of another kind of file; empty: there is no page.
void check_page_name(const std::string& path);

/// The page as an HTML file; warns where this build cannot draw its charts.
void write_page(const std::string& path, const report::Page& page, Progress& progress);

/// "0.512 +- 0.034" with as many digits as the error leaves sense in.
std::string with_error(double value, double standard_error);

std::string with_error(const Measured& number);

/// Four significant digits.
std::string short_number(double value);

}  // namespace dre::cli
