#include "dre/report/page.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "tests/report/browser.h"

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

TEST(Page, DrawsItsChartsInABrowserWithoutComplaints) {
  if (const std::string why = no_browser(); !why.empty()) GTEST_SKIP() << why;
  expect_drawn_without_complaints(sample(), 1);
}

}  // namespace
}  // namespace dre::report
