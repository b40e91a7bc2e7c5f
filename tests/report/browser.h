/// A page in headless Chromium: what it makes of the page, and what it has to say about it.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "dre/report/page.h"
#include "tests/data/files.h"

namespace dre::report {

inline size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++found;
  return found;
}

inline std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> block{};
  while (const size_t got = fread(block.data(), 1, block.size(), pipe.get()))
    out.append(block.data(), got);
  return out;
}

/// Why no page can be looked at here; empty where one can.
inline std::string no_browser() {
  if (!has_charts()) return "this build has no chart library";
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) return "no chromium here";
  return {};
}

/// Every chart is drawn, nothing is logged, nothing is asked for.
inline void expect_drawn_without_complaints(const Page& page, size_t charts) {
  const dre::testing::Directory folder;
  folder.write("page.html", to_html(page));
  const std::string place = folder.path("");
  // Everything the page logs goes to standard error: errors, and requests that its policy refused.
  const std::string dom =
      output_of(text("HOME=", place,
                     " timeout 60 chromium --headless --no-sandbox --disable-gpu "
                     "--user-data-dir=",
                     place,
                     "/profile --virtual-time-budget=10000 "
                     "--enable-logging=stderr --dump-dom file://",
                     place, "/page.html 2> ", place, "/log"));
  const std::string log = folder.read("log");
  ASSERT_NE(dom.find(text("data-charts=\"", charts, "\"")), std::string::npos) << log;
  EXPECT_EQ(dom.find("data-chart-error"), std::string::npos);
  EXPECT_EQ(count(dom, "<svg"), charts);
  EXPECT_EQ(log.find("CONSOLE"), std::string::npos) << log;
}

}  // namespace dre::report
