/// A page of results: prose, facts, tables, charts and pictures in one HTML file that needs nothing
/// else. It makes no request to any place, follows the reader's light or dark setting, and prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dre/report/table.h"

namespace dre::report {

/// Paragraphs, separated by empty lines; `code` stands between backquotes. Everything else is plain
/// text.
struct Prose {
  std::string text;
};

/// Names and what is to be said about each.
struct Facts {
  std::vector<std::pair<std::string, std::string>> rows;
};

struct Notice {
  enum class Kind { note, warning, failure };
  Kind kind = Kind::note;
  std::string text;
};

/// A Vega-Lite specification with its data inside.
struct Chart {
  std::string title;
  std::string caption;  ///< what is seen, also for readers who do not see it
  nlohmann::json spec;
};

struct Picture {
  std::string title;
  std::string caption;  ///< what is seen, also for readers who do not see it
  std::string png;      ///< the file's bytes by base64()
};

using Block = std::variant<Prose, Facts, Notice, Table, Chart, Picture>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Page {
  std::string title, subtitle;
  std::vector<Section> sections;
  std::string footer;
};

/// The whole file. All content is escaped; a chart may not name a place outside the page ("url").
std::string to_html(const Page& page);

/// Whether this build can draw charts; pages of one that cannot show everything else, and say so.
bool has_charts();

}  // namespace dre::report
