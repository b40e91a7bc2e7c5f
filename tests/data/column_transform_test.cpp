#include "dre/data/column_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

const Context transform_context{torch::kCPU, torch::kFloat64, 11};

struct Shape {
  std::string name;
  std::function<Tensor(at::Generator&, double)> draw;  // 3000 values; the number shifts a side
};

Tensor draw_normal(at::Generator& g) { return normal({3000}, torch::kFloat64, g); }

/// Columns that break careless transforms.
std::vector<Shape> shapes() {
  return {
      {"normal", [](auto& g, double s) { return draw_normal(g) + s; }},
      {"lognormal", [](auto& g, double s) { return (2 * draw_normal(g) + s).exp(); }},
      {"cauchy", [](auto& g, double s) { return draw_normal(g) / draw_normal(g) + s; }},
      {"zero inflated", [](auto& g, double s) { return (draw_normal(g) + s).clamp_min(0).pow(3); }},
      {"rounded", [](auto& g, double s) { return ((draw_normal(g) + s).exp() * 4).round(); }},
      {"binary", [](auto& g, double s) { return (draw_normal(g) > 2 - s).to(torch::kFloat64); }},
      {"tiny range", [](auto& g, double s) { return (draw_normal(g) + s).exp() * 1e-120; }},
      {"huge offset", [](auto& g, double s) { return (draw_normal(g) + s).exp() * 1e-5 + 1e9; }},
      {"huge", [](auto& g, double s) { return (3 * draw_normal(g) + s).sinh() * 1e100; }},
      {"one outlier",
       [](auto& g, double s) {
         Tensor x = draw_normal(g);
         x[7] = 1e12 * (1 + s);
         return x;
       }},
  };
}

struct Pair {
  Samples numerator, denominator;
  std::vector<std::string> names;
};

Pair pair_of(const Shape& shape, double shift = 0.5) {
  auto generator = transform_context.generator(shape.name);
  const Tensor first = shape.draw(generator, shift), second = shape.draw(generator, 0);
  return {make_samples(first.unsqueeze(1)), make_samples(second.unsqueeze(1)), {shape.name}};
}

ColumnTransforms fit(const Pair& pair, const std::string& transform) {
  return ColumnTransforms::fit(pair.numerator, pair.denominator, pair.names, {transform});
}

const std::vector<std::string> choices = {"auto", "zscore", "rank", "asinh"};

TEST(ColumnTransforms, GoThereAndBack) {
  for (const auto& shape : shapes())
    for (const auto& choice : choices) {
      const Pair pair = pair_of(shape);
      const ColumnTransforms transforms = fit(pair, choice);
      const Tensor x = torch::cat({pair.numerator.x, pair.denominator.x});
      const Tensor back = transforms.inverse(transforms.forward(x));
      const double scale = x.abs().max().item<double>();
      const bool linear = transforms.kinds()[0] == "zscore";
      // A z-score keeps absolute precision only, the others follow each value's own size.
      const Tensor error =
          (back - x).abs() / (linear ? torch::full_like(x, scale) : x.abs() + x.std() * 1e-6);
      EXPECT_LT(error.max().item<double>(), 1e-10) << shape.name << ", " << choice;
    }
}

TEST(ColumnTransforms, IncreaseStrictlyOverTheData) {
  for (const auto& shape : shapes())
    for (const auto& choice : choices) {
      const Pair pair = pair_of(shape);
      const Tensor x = torch::cat({pair.numerator.x, pair.denominator.x}).squeeze(1);
      const Tensor sorted = std::get<0>(at::unique_consecutive(std::get<0>(x.sort())));
      const Tensor z = fit(pair, choice).forward(sorted.unsqueeze(1)).squeeze(1);
      ASSERT_TRUE(z.isfinite().all().item<bool>()) << shape.name << ", " << choice;
      // The huge values leave a z-score no room for the rest: there equality is rounding.
      const bool crowded = shape.name == "one outlier" || shape.name == "huge";
      const double least = z.diff().min().item<double>();
      EXPECT_TRUE(least > 0 || (crowded && least == 0)) << shape.name << ", " << choice;
    }
}

TEST(ColumnTransforms, RankTailsIncreaseTowardsABound) {
  for (const auto& shape : shapes()) {
    const Pair pair = pair_of(shape);
    const ColumnTransforms transforms = fit(pair, "rank");
    if (transforms.kinds()[0] != "rank") continue;
    const Tensor x = torch::cat({pair.numerator.x, pair.denominator.x});
    const Tensor ends = transforms.forward(torch::stack({x.min(), x.max()}).unsqueeze(1));
    // Steps in units of the outer half unit of z, which decides the slope of a tail.
    const Tensor factor = torch::logspace(-3, 3, 50, 10, torch::kFloat64).unsqueeze(1);
    const Tensor up = factor * (x.max() - transforms.inverse(ends.slice(0, 1) - 0.5));
    const Tensor down = factor * (transforms.inverse(ends.slice(0, 0, 1) + 0.5) - x.min());
    const Tensor above = torch::cat({x.max().view({1, 1}), x.max() + up});
    const Tensor below = torch::cat({x.min().view({1, 1}), x.min() - down});
    for (const Tensor& probes : {above, below}) {
      // Steps below the resolution of 1e9 + small are no steps.
      const Tensor apart = std::get<0>(at::unique_consecutive(probes)).unsqueeze(1);
      const Tensor tail =
          (transforms.forward(apart) - transforms.forward(apart[0].view({1, 1}))).abs();
      EXPECT_GT(apart.size(0), 20) << shape.name;
      EXPECT_GT(tail.diff(1, 0).min().item<double>(), 0) << shape.name;
      EXPECT_LT(tail.max().item<double>(), 2) << shape.name;
    }
    const Tensor back = transforms.inverse(transforms.forward(above)) - above;
    EXPECT_LT((back / (x.abs().max() + above.abs())).abs().max().item<double>(), 1e-10)
        << shape.name;
    EXPECT_TRUE(transforms.inverse(ends + 2.5)[1].isinf().item<bool>());
  }
}

TEST(ColumnTransforms, RankMakesThePoolNormal) {
  const Pair pair = pair_of(shapes()[1]);
  const Tensor x = torch::cat({pair.numerator.x, pair.denominator.x});
  const Tensor z = std::get<0>(fit(pair, "rank").forward(x).squeeze(1).sort());
  const Tensor level = (torch::arange(6000, torch::kFloat64) + 0.5) / 6000;
  // Straight lines between knots 0.004 apart in z.
  EXPECT_LT((z - at::special_ndtri(level)).abs().max().item<double>(), 0.01);
}

TEST(ColumnTransforms, SidesCountEquallyWhateverTheirSize) {
  auto generator = transform_context.generator("sizes");
  const Tensor few = normal({500, 1}, torch::kFloat64, generator) + 3;
  const Tensor many = normal({1500, 1}, torch::kFloat64, generator);
  for (const auto& choice : choices) {
    const auto plain =
        ColumnTransforms::fit(make_samples(few), make_samples(many), {"a"}, {choice});
    const auto repeated = ColumnTransforms::fit(make_samples(few.repeat({4, 1})),
                                                make_samples(many), {"a"}, {choice});
    EXPECT_TRUE(torch::allclose(plain.forward(many), repeated.forward(many), 1e-9, 1e-9)) << choice;
  }
  const Tensor z = ColumnTransforms::fit(make_samples(few), make_samples(many), {"a"})
                       .forward(torch::cat({few.mean(0, true), many.mean(0, true)}));
  EXPECT_NEAR(z.sum().item<double>(), 0, 1e-12);
}

TEST(ColumnTransforms, AWeightOfKIsTheRowKTimes) {
  for (const auto& shape : shapes()) {
    const Pair pair = pair_of(shape);
    const Tensor k = torch::arange(3000) % 4;  // zero among them
    const Samples weighted = make_samples(pair.numerator.x, k.to(torch::kFloat64));
    const Samples repeated = make_samples(pair.numerator.x.repeat_interleave(k, 0));
    for (const auto& choice : choices) {
      const auto first = ColumnTransforms::fit(weighted, pair.denominator, pair.names, {choice});
      const auto second = ColumnTransforms::fit(repeated, pair.denominator, pair.names, {choice});
      ASSERT_EQ(first.kinds(), second.kinds()) << shape.name;
      const Tensor difference =
          first.forward(pair.denominator.x) - second.forward(pair.denominator.x);
      EXPECT_LT(difference.abs().max().item<double>(), 1e-9) << shape.name << ", " << choice;
    }
  }
}

TEST(ColumnTransforms, AutoRanksTailsAndSkewOfASideOnly) {
  const std::vector<std::string> ranked = {"lognormal", "cauchy",     "zero inflated",
                                           "rounded",   "tiny range", "huge offset",
                                           "huge",      "one outlier"};
  for (const auto& shape : shapes()) {
    const bool rank = std::find(ranked.begin(), ranked.end(), shape.name) != ranked.end();
    EXPECT_EQ(fit(pair_of(shape), "auto").kinds()[0], rank ? "rank" : "zscore") << shape.name;
  }
  // Far apart and of unequal size: the pool has kurtosis and skewness, no side has.
  EXPECT_EQ(fit(pair_of(shapes()[0], 100), "auto").kinds()[0], "zscore");
  const Pair tails = pair_of(shapes()[1]), plain = pair_of(shapes()[0]);
  EXPECT_EQ(ColumnTransforms::fit(plain.numerator, tails.denominator, {"a"}).kinds()[0], "rank");
  EXPECT_EQ(ColumnTransforms::fit(tails.numerator, plain.denominator, {"a"}).kinds()[0], "rank");
}

/// Nothing else is asked for than a rank, and only of what was left to the rows.
TEST(ColumnTransforms, OutliersOfThePoolAreRanked) {
  const auto asked = [](const Pair& pair, const ColumnTransformOptions& options = {}) {
    return with_outliers_ranked(options, pair.numerator, pair.denominator, pair.names).single;
  };
  const std::vector<std::string> none;
  for (const auto& shape : shapes()) {
    if (shape.name == "one outlier") {
      EXPECT_EQ(asked(pair_of(shape)), std::vector<std::string>{"one outlier=rank"});
      EXPECT_EQ(asked(pair_of(shape), {"auto", {"one outlier=auto"}}),
                std::vector<std::string>{"one outlier=rank"});
      EXPECT_EQ(asked(pair_of(shape), {"zscore"}), none);
      EXPECT_EQ(asked(pair_of(shape), {"auto", {"one outlier=asinh"}}),
                std::vector<std::string>{"one outlier=asinh"});
    }
    if (shape.name == "normal" || shape.name == "binary") {
      EXPECT_EQ(asked(pair_of(shape)), none) << shape.name;
    }
  }
  // Far apart, and one side much larger: no row is an outlier of its side.
  const Pair apart = pair_of(shapes()[0], 100);
  const Samples few = make_samples(apart.numerator.x.slice(0, 0, 60));
  EXPECT_EQ(with_outliers_ranked({}, few, apart.denominator, apart.names).single, none);
}

TEST(ColumnTransforms, AtomsStayApartFromTheirNeighbours) {
  const Pair pair = pair_of(shapes()[3]);  // zero inflated
  const Tensor x = torch::cat({pair.numerator.x, pair.denominator.x});
  const double share = (x == 0).to(torch::kFloat64).mean().item<double>();
  const Tensor z = fit(pair, "rank").forward(torch::zeros({1, 1}, torch::kFloat64));
  // The atom stands at the middle of its mass.
  EXPECT_NEAR(z.item<double>(),
              at::special_ndtri(torch::tensor(share / 2, torch::kFloat64)).item<double>(), 1e-9);
}

TEST(ColumnTransforms, SurviveAFile) {
  std::vector<Tensor> first, second;
  std::vector<std::string> names;
  for (const auto& shape : shapes()) {
    const Pair pair = pair_of(shape);
    first.push_back(pair.numerator.x);
    second.push_back(pair.denominator.x);
    names.push_back(shape.name);
  }
  const Samples top = make_samples(torch::cat(first, 1)),
                bottom = make_samples(torch::cat(second, 1));
  for (const auto& choice : choices) {
    const auto transforms = ColumnTransforms::fit(top, bottom, names, {choice});
    const auto text = transforms.description().dump();
    const auto loaded = ColumnTransforms::load(transforms.tensors(), nlohmann::json::parse(text));
    EXPECT_EQ(loaded.names(), names);
    EXPECT_EQ(loaded.kinds(), transforms.kinds());
    EXPECT_TRUE(torch::equal(loaded.forward(top.x), transforms.forward(top.x)));
  }
}

TEST(ColumnTransforms, DamagedFilesAreRefused) {
  const ColumnTransforms transforms = fit(pair_of(shapes()[1]), "rank");
  const auto description = transforms.description();
  const Tensor all = transforms.tensors()[0].second;
  EXPECT_THROW(ColumnTransforms::load({}, description), Error);
  EXPECT_THROW(ColumnTransforms::load({{"transform.parameters", all.slice(0, 1)}}, description),
               Error);
  EXPECT_THROW(ColumnTransforms::load({{"transform.parameters", all.flip(0)}}, description), Error);
  EXPECT_THROW(ColumnTransforms::load(transforms.tensors(), {{{"name", "a"}}}), Error);
  auto unknown = description;
  unknown[0]["kind"] = "cube";
  try {
    ColumnTransforms::load(transforms.tensors(), unknown);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data);
  }
  EXPECT_THROW(transforms.forward(torch::zeros({3, 2})), Error);
}

TEST(ConstantColumns, AreToldApart) {
  const Tensor top =
      torch::tensor({{1.0, 1.0, 1.0, 1.0}, {1.0, 2.0, 1.0, 2.0}, {1.0, 9.0, 1.0, 9.0}});
  const Tensor bottom = torch::tensor({{1.0, 5.0, 2.0, 1.0}, {1.0, 5.0, 2.0, 2.0}});
  const auto found = constant_columns(make_samples(top), make_samples(bottom));
  EXPECT_EQ(found.constant, std::vector<size_t>{0});
  EXPECT_EQ(found.one_sided, std::vector<size_t>{1});
  EXPECT_EQ(found.separated, std::vector<size_t>{2});
  EXPECT_EQ(found.others, (std::vector<size_t>{1, 2, 3}));
  // A row without weight does not make a column vary.
  const Samples weighted = make_samples(top, torch::tensor({1.0, 0.0, 0.0}));
  EXPECT_EQ(constant_columns(weighted, make_samples(top)).one_sided.size(), 2u);
}

TEST(ColumnTransforms, SingleColumnsCanBeNamed) {
  auto generator = Context{torch::kCPU, torch::kFloat64, 3}.generator("single");
  const Samples a = make_samples(normal({200, 3}, torch::kFloat64, generator));
  const Samples b = make_samples(normal({200, 3}, torch::kFloat64, generator));
  const std::vector<std::string> names = {"a", "b=c", "d"};
  ColumnTransformOptions options;
  options.transform = "rank";
  options.single = {"b=c=asinh", "d=zscore"};
  options.check_columns(names);
  EXPECT_EQ(ColumnTransforms::fit(a, b, names, options).kinds(),
            (std::vector<std::string>{"rank", "asinh", "zscore"}));
  for (const char* bad : {"a", "a=cube", "e=rank", "=rank"}) {
    options.single = {bad};
    EXPECT_THROW(options.check_columns(names), Error) << bad;
  }
  options.single = {"a=rank", "a=asinh"};
  EXPECT_THROW(options.check_columns(names), Error);
}

}  // namespace
}  // namespace dre
