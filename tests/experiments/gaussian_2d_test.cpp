#include "experiments/gaussian_2d/gaussian_2d.h"

#include <gtest/gtest.h>

#include "experiments/gaussian_2d/rows.h"

namespace dre::experiments {
namespace {

const report::Table& table_of(const Outcome& outcome, const std::string& caption) {
  for (const auto& table : outcome.tables)
    if (table.caption.find(caption) != std::string::npos) return table;
  throw std::out_of_range(caption);
}

/// Of a row that begins with `name`, the cell in `column`.
report::Cell cell_of(const report::Table& table, const std::string& name,
                     const std::string& column) {
  for (size_t i = 0; i < table.columns.size(); ++i)
    for (const auto& row : table.rows)
      if (table.columns[i] == column && row[0].words == name) return row[i];
  throw std::out_of_range(name + ", " + column);
}

Results sweep_of(const PaperRow& row, int64_t seeds) {
  Results results;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    double mse = 1;
    for (const auto& sweep : sweeps()) {
      // The lower the loss, the larger the error: who looks at the truth takes the first.
      results.add({sweep_row(row, sweep), seed, {}, {}},
                  {{"mse", mse}, {"corrected_mse", mse / 2}, {"held_out", -mse}});
      ++mse;
    }
  }
  return results;
}

TEST(Gaussian2d, TheSweepIsDecidedByHeldOutLoss) {
  Settings settings;
  settings.seeds = 2;
  settings.sweep = true;
  const PaperRow& tre = paper_rows()[1];
  const Outcome outcome = make_gaussian_2d()->summarise(settings, sweep_of(tre, 2));
  const report::Table& table = table_of(outcome, "sweep");
  EXPECT_EQ(*cell_of(table, tre.name, "chosen by held-out loss").value, 12);
  EXPECT_EQ(*cell_of(table, tre.name, "chosen, corrected").value, 6);
  EXPECT_EQ(*cell_of(table, tre.name, "best of the sweep (by the truth)").value, 1);
  EXPECT_EQ(*cell_of(table, tre.name, "seeds").value, 2);
  EXPECT_EQ(*cell_of(table, tre.name, "ours / paper").value, 12 / *tre.mse);
  EXPECT_EQ(*cell_of(table, "TRE(9)", "seeds").value, 0);
}

TEST(Gaussian2d, TellsWhereARowIsTheReferenceItself) {
  Settings settings;
  settings.seeds = 3;
  Results results;
  for (int64_t seed = 0; seed < 3; ++seed)
    results.add({"velocity", seed, {}, {}}, {{"mse", 0.1}, {"kept", seed == 1}});
  const Outcome outcome = make_gaussian_2d()->summarise(settings, results);
  const report::Table& table = table_of(outcome, "the library's methods");
  EXPECT_EQ(cell_of(table, "velocity", "networks kept").words, "1 of 3");
  EXPECT_EQ(cell_of(table, pooled_row, "networks kept").shown(), "–");
}

TEST(Gaussian2d, SaysWhatReachesThePaperAndWhatDoesNot) {
  Settings settings;
  settings.sweep = true;
  Results results;
  const auto add = [&](const char* row, const char* field, double mse) {
    results.add({row, 0, {}, {}}, {{field, mse}});
  };
  add("NCE", "mse", 31);  // below the paper's 952.8: nothing to say
  add("TRE(4)", "mse", 1.9);
  add("tre, without reference", "mse", 27);
  add("Time", "mse", 13);
  add("time, without reference", "mse", 0.49);
  const Outcome outcome = make_gaussian_2d()->summarise(settings, results);
  const std::string& note = table_of(outcome, "sweep").footnote;
  const size_t missed = note.find("Above the paper's");
  ASSERT_NE(missed, std::string::npos) << note;
  EXPECT_LT(note.find("Time 0.49"), missed) << note;
  EXPECT_GT(note.find("TRE(4) 27"), missed) << note;
  EXPECT_EQ(note.find("NCE"), std::string::npos) << note;
}

}  // namespace
}  // namespace dre::experiments
