#include "dre/data/copies.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/base/numbers.h"

namespace dre {
namespace {

using Names = std::vector<std::string>;

at::Generator stream(const char* name) {
  return Context{torch::kCPU, torch::kFloat64, 1}.generator(name);
}

Tensor normal_rows(int64_t rows, at::Generator& generator) {
  return normal({rows, 2}, torch::kFloat64, generator);
}

/// Columns x0, x1, ... of numbers; NaN: missing.
Frame frame_of(const Tensor& x) {
  Frame frame{{}, x.size(0), x.size(0)};
  for (int64_t j = 0; j < x.size(1); ++j) {
    TypedColumn typed;
    typed.name = text("x", j);
    typed.numbers = numbers_of(x.select(1, j));
    frame.columns.push_back(std::move(typed));
  }
  return frame;
}

/// With a category that has these levels in turn.
Frame with_levels(Frame frame, const Names& levels) {
  TypedColumn column;
  column.name = "city";
  column.kind = TypedColumn::Kind::category;
  column.levels = levels;
  for (int64_t i = 0; i < frame.rows; ++i)
    column.codes.push_back(static_cast<int32_t>(i % static_cast<int64_t>(levels.size())));
  frame.columns.push_back(std::move(column));
  return frame;
}

Names names_of(const Frame& table) {
  Names names;
  for (const auto& column : table.columns) names.push_back(column.name);
  return names;
}

std::optional<Copies> copies_in(const Frame& table, const Frame* other = nullptr,
                                const Tensor& weight = {}) {
  return find_repeats(table, names_of(table), weight, other).copies;
}

std::optional<Copies> copies_of(const Tensor& rows) { return copies_in(frame_of(rows)); }

/// 300 rows, of which rows 0 to 99 are there twice more.
Tensor oversampled(at::Generator& generator) {
  const Tensor x = normal_rows(300, generator);
  return torch::cat({x, x.slice(0, 0, 100), x.slice(0, 0, 100)});
}

TEST(Copies, AreFoundAndTakenAsOneRowWithTheWeightOfAll) {
  auto generator = stream("copies");
  const Tensor rows = oversampled(generator);
  const auto copies = copies_of(rows);
  ASSERT_TRUE(copies.has_value());
  EXPECT_EQ(copies->rows(), 500);
  EXPECT_EQ(copies->different(), 300);
  const Tensor kept = torch::tensor(copies->kept);
  EXPECT_TRUE(kept.equal(torch::arange(300)));
  EXPECT_TRUE(rows.index_select(0, kept.index_select(0, copies->like)).equal(rows));
  EXPECT_EQ(copies->weight[0].item<double>(), 3);
  EXPECT_EQ(copies->weight[299].item<double>(), 1);
  // A row's weight is shared out among its copies.
  EXPECT_TRUE((copies->weight.index_select(0, copies->like) * copies->share)
                  .allclose(torch::ones({500}, torch::kFloat64)));
}

/// As a rare class that was made as large as the other.
TEST(Copies, AreFoundHoweverOftenRowsWereTaken) {
  auto generator = stream("oversampled");
  const Tensor x = normal_rows(300, generator);
  const auto copies = copies_of(torch::cat({x, x.slice(0, 0, 60).repeat({40, 1})}));
  ASSERT_TRUE(copies.has_value());
  EXPECT_EQ(copies->different(), 300);
  EXPECT_EQ(copies->weight[0].item<double>(), 41);
}

TEST(Copies, ShareTheirOwnWeights) {
  auto generator = stream("weighted copies");
  Tensor weight = torch::ones({500}, torch::kFloat64);
  weight.slice(0, 300, 400) = 4;
  weight[1] = weight[301] = weight[401] = 0;
  const auto copies = copies_in(frame_of(oversampled(generator)), nullptr, weight);
  ASSERT_TRUE(copies.has_value());
  EXPECT_NEAR(copies->share[300].item<double>(), 4.0 / 6, 1e-12);
  EXPECT_NEAR(copies->share[301].item<double>(), 1.0 / 3, 1e-12);  // of nothing
  EXPECT_EQ(copies->weight[0].item<double>(), 6);
  EXPECT_EQ(copies->weight[1].item<double>(), 0);
}

TEST(Copies, AreEqualInEveryColumn) {
  auto generator = stream("levels");
  const Tensor x = normal_rows(300, generator);
  const Frame twice = frame_of(torch::cat({x, x}));
  EXPECT_EQ(copies_in(with_levels(twice, {"rome", "oslo"}))->different(), 300);
  EXPECT_EQ(copies_in(with_levels(twice, {"rome", "oslo", "bern"}))->different(), 300);
  // 300 rows on, a turn of seven levels is another one.
  EXPECT_FALSE(copies_in(with_levels(twice, {"a", "b", "c", "d", "e", "f", "g"})));
  // Columns that are not used may differ.
  Frame numbered = twice;
  for (int64_t i = 0; i < 600; ++i) numbered.columns[1].numbers[static_cast<size_t>(i)] = 1.0 * i;
  EXPECT_FALSE(copies_in(numbered));
  Frame three = frame_of(torch::cat({x, x}).repeat({1, 2}));
  three.columns[3].numbers = numbered.columns[1].numbers;
  EXPECT_TRUE(find_repeats(three, {"x0", "x1", "x2"}).copies);
}

TEST(Copies, AreFoundAmongMissingCellsAndZeros) {
  auto generator = stream("missing");
  const auto some = [&](double share) {
    return uniform({500, 2}, torch::kFloat64, generator) < share;
  };
  const auto with_gaps = [&] {
    return normal_rows(500, generator).masked_fill(some(0.15), NAN).masked_fill(some(0.1), 0);
  };
  const Tensor x = with_gaps();
  // Rows that miss both, or have two zeros, are equal by chance.
  EXPECT_FALSE(copies_of(x));
  const Frame other = frame_of(with_gaps());
  const auto copies = copies_in(frame_of(x.repeat({3, 1})), &other);
  ASSERT_TRUE(copies.has_value());
  EXPECT_GT(copies->different(), 500);
  EXPECT_LT(copies->different(), 600);
}

TEST(Copies, RowsThatAreEqualByChanceAreNone) {
  auto generator = stream("by chance");
  const Tensor x = normal_rows(3000, generator);
  EXPECT_FALSE(copies_of(x));
  EXPECT_FALSE(copies_of((10 * x).round()));                 // counts
  EXPECT_FALSE(copies_of((50 * x.slice(1, 0, 1)).round()));  // one rounded column
  EXPECT_FALSE(copies_of((30 * x).round()));                 // two rounded columns
  EXPECT_FALSE(copies_of((x > 0).to(torch::kFloat64)));      // categories
  // A few by accident are not worth a word.
  EXPECT_FALSE(copies_of(torch::cat({x, x.slice(0, 0, 20)})));
  EXPECT_TRUE(copies_of(torch::cat({x, x.slice(0, 0, 40)})));
  // Minus zero is zero.
  Tensor zeros = torch::cat({x, x});
  zeros.slice(0, 0, 1) = 0;
  zeros.slice(0, 3000, 3001) = -0.0;
  EXPECT_EQ(copies_of(zeros)->different(), 3000);
}

/// One column of numbers and a category, every row three times.
TEST(Copies, OfAWholeTableAreFoundByOneColumn) {
  auto generator = stream("one column");
  const Tensor x = normal_rows(300, generator).slice(1, 0, 1);
  const auto table = [](const Tensor& numbers) {
    return with_levels(frame_of(numbers), {"rome", "oslo", "bern"});
  };
  const auto copies = copies_in(table(x.repeat({3, 1})));
  ASSERT_TRUE(copies.has_value());
  EXPECT_EQ(copies->different(), 300);
  EXPECT_TRUE(copies->weight.eq(3).all().item<bool>());
  EXPECT_FALSE(copies_in(table(x)));
  const Frame other = table(x);
  EXPECT_FALSE(copies_in(table(x.repeat({3, 1})), &other));  // values that recur
  // One row is there twice only.
  EXPECT_FALSE(copies_in(table(x.repeat({3, 1}).slice(0, 0, 899))));
  // Zeros of many different rows are one value among many places; numbers of six decimals have
  // many, too.
  Names streets;
  for (int i = 0; i < 300; ++i) streets.push_back(text("street ", i));
  for (int i = 0; i < 50; ++i) {
    const Tensor spent = uniform({600, 1}, torch::kFloat64, generator);
    spent.slice(0, 0, 290) = 0;
    EXPECT_TRUE(copies_in(with_levels(frame_of(spent.repeat({3, 1})), streets))) << i;
  }
  const Tensor decimals = (1e6 * normal_rows(20'000, generator).slice(1, 0, 1)).round();
  EXPECT_TRUE(copies_in(frame_of(decimals.repeat({2, 1}))));
  // Ages of whole years or days of a year, of which one or the other is missing.
  const Tensor years = torch::arange(60, torch::kFloat64).unsqueeze(1) + 18;
  EXPECT_FALSE(copies_of(years.repeat({15, 1})));
  EXPECT_FALSE(copies_of(torch::cat({years.slice(0, 0, 20), years.slice(0, 25)}).repeat({15, 1})));
  // 75 whole numbers up to 365, as days of a year by their number, and any dates.
  const Tensor days = torch::randperm(365, generator).slice(0, 0, 75).to(torch::kFloat64);
  EXPECT_FALSE(copies_of(days.unsqueeze(1).repeat({4, 1})));
  Frame dates = frame_of(x.repeat({3, 1}));
  dates.columns[0].kind = TypedColumn::Kind::date;
  EXPECT_FALSE(copies_in(dates));
}

TEST(Copies, TimesThatAllRowsAreThereAreCounted) {
  auto generator = stream("times");
  const auto times = [](const Frame& table) { return find_repeats(table, names_of(table)).times; };
  const Tensor rounded = (5 * normal_rows(400, generator)).round();
  EXPECT_EQ(times(frame_of(rounded)), 1);
  EXPECT_EQ(times(frame_of(rounded.repeat({3, 1}))), 3);
  EXPECT_EQ(times(with_levels(frame_of(rounded.repeat({3, 1})), {"rome", "oslo"})), 3);
  EXPECT_EQ(times(frame_of(rounded.repeat({3, 1}).slice(0, 1))), 1);
  // 40 quotas of 10 and 20, no samples of a law.
  const Tensor quotas = torch::arange(40, torch::kFloat64).unsqueeze(1);
  const Frame sample = frame_of(torch::cat({quotas, quotas.slice(0, 0, 15)}).repeat({10, 1}));
  EXPECT_EQ(times(sample), 10);
  EXPECT_FALSE(copies_in(sample));
  // Chance does it with few different rows.
  EXPECT_EQ(times(frame_of(quotas.slice(0, 0, 29).repeat({2, 1}))), 1);
  EXPECT_EQ(times(frame_of(quotas.slice(0, 0, 30).repeat({2, 1}))), 2);
}

/// They are likely or not on either side, as levels of a category are.
TEST(Copies, ValuesThatRecurAreNone) {
  auto generator = stream("values");
  // Customers without any purchase, on one side only or on both.
  Tensor zeros = normal_rows(3000, generator);
  zeros.slice(0, 0, 200) = 0;
  EXPECT_FALSE(copies_of(zeros));
  const Tensor x = normal_rows(1000, generator);
  zeros.slice(0, 1000, 2000) = x;
  zeros.slice(0, 2000, 3000) = x;
  EXPECT_EQ(copies_of(zeros)->different(), 2000);  // the zeros stay
  Frame none = frame_of(normal_rows(1000, generator));
  for (auto& column : none.columns) column.numbers[0] = 0;
  zeros.slice(0, 50, 200) = normal_rows(150, generator);
  const Frame few_zeros = frame_of(zeros);
  EXPECT_EQ(copies_in(few_zeros)->different(), 2000 - 49);
  EXPECT_EQ(copies_in(few_zeros, &none)->different(), 2000);
  // Sales of products, each with its own price and mass, in both tables.
  const auto sales = [&](int64_t products, int64_t rows) {
    auto of_products = stream("products");
    const Tensor product = normal_rows(products, of_products);
    return frame_of(
        product.index_select(0, at::randint(products, {rows}, generator, torch::kInt64)));
  };
  const Frame training = sales(2000, 3000);
  for (const Frame& today : {sales(2000, 4000), sales(2000, 40000)}) {
    EXPECT_TRUE(copies_in(today));
    EXPECT_FALSE(copies_in(today, &training));
  }
}

}  // namespace
}  // namespace dre
