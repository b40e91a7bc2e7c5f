#include "dre/base/options.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"

namespace dre {
namespace {

struct Sample {
  int64_t steps = 10;
  double rate = 0.5;
  bool fast = false;
  std::string kind = "a";
  std::vector<std::string> columns;

  void visit(OptionVisitor& v) {
    v("steps", steps, at_least(1), "optimizer steps");
    v("rate", rate, positive(), "learning rate");
    v("fast", fast, "be quick");
    v("kind", kind, {"a", "b"}, "which one");
    v("columns", columns, "which columns");
  }
};

std::string message_of(const nlohmann::json& in) {
  Sample sample;
  try {
    from_json(in, sample, "config");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::usage);
    return error.what();
  }
  return "";
}

TEST(Options, SurviveJson) {
  Sample sample;
  sample.steps = 7;
  sample.kind = "b";
  sample.columns = {"x", "y"};
  Sample other;
  from_json(to_json(sample), other, "config");
  EXPECT_EQ(to_json(sample), to_json(other));
}

TEST(Options, UnnamedFieldsKeepTheirDefaults) {
  Sample sample;
  from_json(nlohmann::json{{"rate", 0.1}}, sample, "config");
  EXPECT_EQ(sample.steps, 10);
  EXPECT_EQ(sample.rate, 0.1);
}

TEST(Options, EveryWrongValueIsNamed) {
  EXPECT_EQ(message_of({{"steps", 0}}), "steps must be at least 1, got 0");
  EXPECT_EQ(message_of({{"steps", 1.5}}), "steps must be a whole number, got 1.5");
  for (const char* large : {"9223372036854775808", "-1e20"})
    EXPECT_EQ(message_of({{"steps", nlohmann::json::parse(large)}})
                  .find("steps must be a whole number within 64 bits, got "),
              0);
  EXPECT_EQ(message_of({{"steps", std::numeric_limits<int64_t>::max()}}), "");
  EXPECT_EQ(message_of({{"rate", 0}}), "rate must be more than 0, got 0");
  EXPECT_EQ(message_of({{"kind", "c"}}), "kind must be one of a, b, got 'c'");
  EXPECT_EQ(message_of({{"fast", 1}}), "fast must be true or false, got 1");
  EXPECT_EQ(message_of({{"columns", "x"}}), "columns must be a list of texts, got \"x\"");
  EXPECT_EQ(
      message_of({{"stepz", 1}}),
      "config has an unknown option 'stepz'; did you mean steps? known are steps, rate, fast, "
      "kind, columns");
  EXPECT_EQ(message_of({{"batch", 1}}),
            "config has an unknown option 'batch'; known are steps, rate, fast, kind, columns");
}

TEST(Options, RangesDescribeThemselves) {
  EXPECT_EQ(between(0, 1).describe(), "between 0 and 1");
  EXPECT_EQ(below(0, 1).describe(), "at least 0 and less than 1");
  EXPECT_FALSE(below(0, 1).contains(1));
  EXPECT_FALSE(positive().contains(0));
}

}  // namespace
}  // namespace dre
