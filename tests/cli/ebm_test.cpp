#include <gtest/gtest.h>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

TEST(Ebm, SaysWhatIsMissing) {
  const Directory directory;
  const auto complaint = [&](const Arguments& arguments) {
    const Outcome outcome = run_tool(directory, Arguments{"ebm"} + arguments);
    EXPECT_NE(outcome.code, 0);
    return outcome.err;
  };
  EXPECT_NE(complaint({}).find("fit, eval, sample"), std::string::npos);
  EXPECT_NE(complaint({"train"}).find("known are fit, eval, sample"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--out", "m"}).find("--data DIR is missing"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--out", "m", "--data", "nowhere"}).find("nowhere"),
            std::string::npos);
  EXPECT_NE(complaint({"eval", "--data", "x"}).find("--model FILE is missing"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--objective", "magic"}).find("velocity"), std::string::npos);
}

TEST(Ebm, ListsItsFlags) {
  const Directory directory;
  const Outcome outcome = run_tool(directory, {"ebm", "fit", "--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* flag : {"--noise", "--minutes", "--resume", "--width", "--half"})
    EXPECT_NE(outcome.out.find(flag), std::string::npos) << flag;
}

}  // namespace
}  // namespace dre::testing
