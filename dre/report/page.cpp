#include "dre/report/page.h"

#include <sstream>
#include <string_view>

#include "dre/base/error.h"
#include "dre/report/assets.h"

namespace dre::report {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

/// Escaped, with what stands between backquotes as code; an odd backquote stays what it is.
std::string inlined(const std::string& text) {
  std::string out;
  size_t from = 0;
  while (true) {
    const size_t open = text.find('`', from);
    const size_t close = open == std::string::npos ? open : text.find('`', open + 1);
    if (close == std::string::npos) return out + escaped(text.substr(from));
    out += escaped(text.substr(from, open - from));
    out += "<code>" + escaped(text.substr(open + 1, close - open - 1)) + "</code>";
    from = close + 1;
  }
}

/// JSON inside a script element: "<" must not end it.
std::string script_json(const nlohmann::json& json) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  std::string out;
  for (const char c : json.dump(-1, ' ', /*ensure_ascii=*/true, replace))
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

void check_inside(const std::string& title, const nlohmann::json& spec) {
  if (!spec.is_structured()) return;
  for (const auto& [name, part] : spec.items()) {
    check(!spec.is_object() || name != "url", "chart '", title,
          "' names a url; its data must be inside the specification");
    check_inside(title, part);
  }
}

std::string section_id(size_t index) { return text("section-", index + 1); }

/// Writes the blocks, one function each.
class Writer {
 public:
  void operator()(const Prose& prose) {
    std::istringstream lines(prose.text);
    std::string paragraph;
    const auto flush = [&] {
      if (!paragraph.empty()) out_ << "<p>" << inlined(paragraph) << "</p>\n";
      paragraph.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      if (line.empty())
        flush();
      else
        paragraph += (paragraph.empty() ? "" : "\n") + line;
    }
    flush();
  }

  void operator()(const Facts& facts) {
    out_ << "<dl>\n";
    for (const auto& [name, value] : facts.rows)
      out_ << "<dt>" << escaped(name) << "</dt><dd>" << inlined(value) << "</dd>\n";
    out_ << "</dl>\n";
  }

  void operator()(const Notice& notice) {
    const char* kind = notice.kind == Notice::Kind::warning   ? " warning"
                       : notice.kind == Notice::Kind::failure ? " failure"
                                                              : "";
    out_ << "<div class=\"notice" << kind << "\" role=\"note\">" << inlined(notice.text)
         << "</div>\n";
  }

  void operator()(const Table& table) {
    check_shape(table);
    // A wide table scrolls by keyboard only where it can be focused.
    out_ << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\""
         << escaped(table.caption.empty() ? "table" : table.caption) << "\"><table>";
    if (!table.caption.empty()) out_ << "<caption>" << inlined(table.caption) << "</caption>";
    out_ << "\n<thead><tr>";
    for (size_t i = 0; i < table.columns.size(); ++i)
      out_ << "<th scope=\"col\"" << (is_numeric(table, i) ? " class=\"number\"" : "") << ">"
           << inlined(table.columns[i]) << "</th>";
    out_ << "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) write_row(table, row);
    out_ << "</tbody></table></div>\n";
    if (!table.footnote.empty()) (*this)(Prose{table.footnote});
  }

  void operator()(const Chart& chart) {
    check_inside(chart.title, chart.spec);
    out_ << "<figure>\n";
    if (has_charts()) {
      out_ << "<div class=\"chart\" role=\"img\" aria-label=\"" << escaped(chart.title) << "\">"
           << "<script type=\"application/json\">" << script_json(chart.spec)
           << "</script></div>\n";
      ++charts_;
    } else {
      out_ << "<p>(chart not included)</p>\n";
    }
    out_ << "<figcaption><b>" << escaped(chart.title) << "</b> " << inlined(chart.caption)
         << "</figcaption>\n</figure>\n";
  }

  void operator()(const Picture& picture) {
    out_ << "<figure class=\"picture\"><img alt=\""
         << escaped(picture.title + ". " + picture.caption) << "\" src=\"data:image/png;base64,"
         << escaped(picture.png) << "\">\n<figcaption><b>" << escaped(picture.title) << "</b> "
         << inlined(picture.caption) << "</figcaption></figure>\n";
  }

  std::ostringstream& out() { return out_; }
  int64_t charts() const { return charts_; }

 private:
  void write_row(const Table& table, const std::vector<Cell>& row) {
    out_ << "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const bool head = i == 0 && !row[i].words.empty();
      constexpr size_t long_words = 20;  // beside numbers, which are not broken, these would be
      const std::string classes = text(is_numeric(table, i)                ? "number"
                                       : row[i].words.size() >= long_words ? "words"
                                                                           : "",
                                       row[i].strong ? " strong" : "");
      out_ << (head ? "<th scope=\"row\"" : "<td")
           << (classes.empty() ? "" : text(" class=\"", classes, "\"")) << ">"
           << inlined(row[i].shown()) << (head ? "</th>" : "</td>");
    }
    out_ << "</tr>\n";
  }

  std::ostringstream out_;
  int64_t charts_ = 0;
};

void write_head(std::ostream& out, const Page& page) {
  // The policy forbids every request, whatever the content tries. Vega compiles its expressions,
  // hence 'unsafe-eval'.
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>"
      << escaped(page.title) << "</title>\n<style>\n"
      << page_style() << "</style>\n</head>\n<body>\n"
      << "<a class=\"skip\" href=\"#section-1\">Skip to the content</a>\n<header>\n<h1>"
      << escaped(page.title) << "</h1>\n";
  if (!page.subtitle.empty()) out << "<p class=\"subtitle\">" << inlined(page.subtitle) << "</p>\n";
  out << "<nav aria-label=\"Sections\"><ul>\n";
  for (size_t i = 0; i < page.sections.size(); ++i)
    out << "<li><a href=\"#" << section_id(i) << "\">" << escaped(page.sections[i].title)
        << "</a></li>\n";
  out << "</ul></nav>\n</header>\n<main>\n";
}

void write_scripts(std::ostream& out) {
  out << "<!-- The charts are drawn by Vega and Vega-Lite, which come with these licences.\n\n"
      << chart_licences() << "-->\n<script>" << chart_library() << "</script>\n<script>\n"
      << page_script() << "</script>\n";
}

}  // namespace

bool has_charts() { return !chart_library().empty(); }

std::string to_html(const Page& page) {
  Writer writer;
  std::ostringstream& out = writer.out();
  write_head(out, page);
  for (size_t i = 0; i < page.sections.size(); ++i) {
    out << "<section id=\"" << section_id(i) << "\" tabindex=\"-1\">\n<h2>"
        << escaped(page.sections[i].title) << "</h2>\n";
    for (const auto& block : page.sections[i].blocks) std::visit(writer, block);
    out << "</section>\n";
  }
  out << "</main>\n<footer>" << inlined(page.footer);
  if (!has_charts())
    out << " This build of dre does not include the chart library; the page shows tables only.";
  out << "</footer>\n";
  if (writer.charts() > 0) write_scripts(out);
  out << "</body>\n</html>\n";
  return out.str();
}

}  // namespace dre::report
