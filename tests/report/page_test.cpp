#include "dre/report/page.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "dre/base/error.h"
#include "tests/data/files.h"

namespace dre::report {
namespace {

using nlohmann::json;

json points() {
  return {{"data",
           {{"values",
             {{{"x", 1}, {"y", 2}, {"c", "</script><b>"}}, {{"x", 3}, {"y", 1}, {"c", "b"}}}}}},
          {"mark", "point"},
          {"encoding",
           {{"x", {{"field", "x"}, {"type", "quantitative"}}},
            {"y", {{"field", "y"}, {"type", "quantitative"}}},
            {"color", {{"field", "c"}, {"type", "nominal"}}}}}};
}

Page sample() {
  Section first{"One <b>",
                {Prose{"Five `a<b` seeds & more.\n\nSecond."}, Facts{{{"seed", "`1`"}}}}};
  first.blocks.emplace_back(Notice{Notice::Kind::warning, "<script>alert(1)</script>"});
  Section second{"Two", {Table{"caption", {"method", "ours"}, {{"<i>NCE", {1.5, 0.25}}}}}};
  second.blocks.emplace_back(Chart{"Points \"quoted\"", "Two points.", points()});
  return {"Title </title>", "subtitle", {first, second}, "footer"};
}

size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++found;
  return found;
}

TEST(Page, EscapesEveryPieceOfContent) {
  const std::string html = to_html(sample());
  EXPECT_NE(html.find("Title &lt;/title&gt;"), std::string::npos);
  EXPECT_NE(html.find("<code>a&lt;b</code> seeds &amp; more.</p>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(html.find("&lt;i&gt;NCE"), std::string::npos);
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert(1)"), std::string::npos);
}

TEST(Page, IsOneFileOfModestSizeThatAsksForNothing) {
  const std::string html = to_html(sample());
  EXPECT_LT(html.size(), 2'000'000U);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  const std::string body = html.substr(0, html.find("<!-- The charts"));
  EXPECT_EQ(body.find("src=\""), std::string::npos);
  EXPECT_EQ(count(body, "href=\""), 4U);  // icon (inline), skip, two sections
  EXPECT_EQ(count(body, "href=\"#section-"), 3U);
}

TEST(Page, CarriesItsPictures) {
  Page page = sample();
  page.sections[0].blocks.emplace_back(Picture{"Grid \"A\"", "Digits.", "iVBORw0K"});
  const std::string html = to_html(page);
  EXPECT_NE(html.find("src=\"data:image/png;base64,iVBORw0K\""), std::string::npos);
  EXPECT_NE(html.find("alt=\"Grid &quot;A&quot;. Digits.\""), std::string::npos);
}

TEST(Page, WithoutChartsItIsSmall) {
  Page page = sample();
  page.sections[1].blocks.pop_back();
  EXPECT_LT(to_html(page).size(), 20'000U);
}

TEST(Page, RefusesChartsWithDataElsewhere) {
  Page page = sample();
  json spec = points();
  spec["layer"] = json::array({{{"data", {{"url", "elsewhere.csv"}}}}});
  page.sections[1].blocks.emplace_back(Chart{"bad", "", spec});
  EXPECT_THROW(to_html(page), Error);
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> block{};
  while (const size_t got = fread(block.data(), 1, block.size(), pipe.get()))
    out.append(block.data(), got);
  return out;
}

TEST(Page, DrawsItsChartsInABrowserWithoutComplaints) {
  if (!has_charts()) GTEST_SKIP() << "this build has no chart library";
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) GTEST_SKIP() << "no chromium here";
  const dre::testing::Directory folder;
  folder.write("page.html", to_html(sample()));
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
  ASSERT_NE(dom.find("data-charts=\"1\""), std::string::npos) << log;
  EXPECT_EQ(dom.find("data-chart-error"), std::string::npos);
  EXPECT_EQ(count(dom, "<svg"), 1U);
  EXPECT_EQ(log.find("CONSOLE"), std::string::npos) << log;
}

}  // namespace
}  // namespace dre::report
