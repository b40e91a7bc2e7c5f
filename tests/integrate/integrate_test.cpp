#include "dre/integrate/integrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

const auto kDouble = torch::dtype(torch::kFloat64);

struct Function {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  std::function<double(double)> primitive;
  bool smooth = true;

  double exact(double from, double to) const { return primitive(to) - primitive(from); }
};

std::vector<Function> functions() {
  return {
      {"constant", [](const Tensor& t) { return torch::full_like(t, 3.0); },
       [](double t) { return 3 * t; }},
      {"quintic", [](const Tensor& t) { return 6 * t.pow(5) - 4 * t.pow(3) + 1; },
       [](double t) { return std::pow(t, 6) - std::pow(t, 4) + t; }},
      {"exp", [](const Tensor& t) { return (2 * t).exp(); },
       [](double t) { return std::exp(2 * t) / 2; }},
      {"wave", [](const Tensor& t) { return (9 * t).cos(); },
       [](double t) { return std::sin(9 * t) / 9; }},
      {"fast wave", [](const Tensor& t) { return (120 * t).sin(); },
       [](double t) { return -std::cos(120 * t) / 120; }, false},
      {"peak", [](const Tensor& t) { return 1 / (1e-3 + (t - 0.3).square()); },
       [](double t) { return std::atan((t - 0.3) / std::sqrt(1e-3)) / std::sqrt(1e-3); }, false},
      {"kink", [](const Tensor& t) { return (t - 0.37).abs(); },
       [](double t) { return (t - 0.37) * std::abs(t - 0.37) / 2; }, false},
      {"jump", [](const Tensor& t) { return (t > 0.41).to(t.scalar_type()); },
       [](double t) { return std::max(0.0, t - 0.41); }, false},
  };
}

/// On which the last two rules agree better than either with the truth.
std::vector<Function> accidents() {
  return {
      {"kink whose rules agree by accident", [](const Tensor& t) { return (t - 0.47).abs(); },
       [](double t) { return (t - 0.47) * std::abs(t - 0.47) / 2; }, false},
      {"small fast wave", [](const Tensor& t) { return 1 + 1e-3 * (118 * t).sin(); },
       [](double t) { return t - 1e-3 * std::cos(118 * t) / 118; }, false},
  };
}

RowIntegrand same_for_all(std::function<Tensor(const Tensor&)> f) {
  return [f](const Tensor&, const Tensor& t) { return f(t); };
}

IntegrateOptions by(const std::string& method) {
  IntegrateOptions options;
  options.method = method;
  return options;
}

bool adaptive(const std::string& method) { return method.rfind("kronrod", 0) == 0; }

double first(const Tensor& tensor) { return tensor[0].item<double>(); }

TEST(Integrate, EveryMethodMeetsItsTolerancesOnSmoothFunctions) {
  for (const auto& method : integrator_names()) {
    for (const auto& function : functions()) {
      if (!function.smooth) continue;
      SCOPED_TRACE(method + " " + function.name);
      const double exact = function.exact(0.1, 0.9);
      const auto got = integrate(same_for_all(function.f), 3, 0.1, 0.9, by(method), kDouble);
      EXPECT_EQ(got.status, Status::ok);
      EXPECT_NEAR(first(got.value), exact, 2e-5 * (1 + std::abs(exact)));
      const auto back = integrate(same_for_all(function.f), 3, 0.9, 0.1, by(method), kDouble);
      EXPECT_NEAR(first(back.value), -exact, 2e-5 * (1 + std::abs(exact)));
      // Some processors add up a batch's rows in different orders.
      EXPECT_TRUE(torch::allclose(got.value, got.value[0].expand({3}), 1e-14, 1e-14));
    }
  }
}

TEST(Integrate, AdaptiveRulesMeetTheirTolerancesOnHardFunctionsAndSayTheirError) {
  for (const auto& method : integrator_names()) {
    if (!adaptive(method)) continue;
    std::vector<Function> all = functions();
    for (const auto& function : accidents()) all.push_back(function);
    for (const auto& function : all) {
      for (const double tolerance : {1e-3, 1e-5, 1e-8}) {
        SCOPED_TRACE(text(method, " ", function.name, " ", tolerance));
        auto options = by(method);
        options.rtol = options.atol = tolerance;
        options.max_evaluations = 3000;
        const double exact = function.exact(0, 1);
        const auto got = integrate(same_for_all(function.f), 1, 0, 1, options, kDouble);
        const double error = std::abs(first(got.value) - exact);
        EXPECT_EQ(got.status, Status::ok);
        EXPECT_LE(error, tolerance * std::max(1.0, std::abs(exact)));
        EXPECT_LE(error, first(got.error) + 1e-15);
      }
    }
  }
}

TEST(Integrate, FixedNodesSayTheirError) {
  for (const auto& function : functions()) {
    for (const int64_t nodes : {9, 20, 31, 64}) {
      SCOPED_TRACE(text(function.name, " ", nodes));
      auto options = by("legendre");
      options.nodes = nodes;
      const auto got = integrate(same_for_all(function.f), 1, 0, 1, options, kDouble);
      EXPECT_LE(std::abs(first(got.value) - function.exact(0, 1)), first(got.error) + 1e-15);
      EXPECT_EQ(got.evaluations, nodes);
    }
  }
  const auto wave = functions()[4];
  const auto rough = integrate(same_for_all(wave.f), 1, 0, 1, by("legendre"), kDouble);
  EXPECT_EQ(rough.status, Status::not_converged);
}

TEST(Integrate, SingularEnds) {
  const auto root = same_for_all([](const Tensor& t) { return t.rsqrt(); });
  for (const auto& method : integrator_names()) {
    if (!adaptive(method)) continue;
    auto options = by(method);
    options.max_evaluations = 3000;
    const auto got = integrate(root, 1, 0, 1, options, kDouble);
    EXPECT_EQ(got.status, Status::ok) << method;
    EXPECT_NEAR(first(got.value), 2, 2e-5) << method;
  }
  const auto paper = integrate(root, 1, 1, 1e-5, by("rk45"), kDouble);
  EXPECT_NEAR(first(paper.value), -2 + 2 * std::sqrt(1e-5), 1e-4);
  EXPECT_EQ(integrate(root, 1, 0, 1, by("rk45"), kDouble).status, Status::non_finite);
}

TEST(Integrate, ExactCountsOfEvaluations) {
  const auto constant = same_for_all([](const Tensor& t) { return torch::ones_like(t); });
  EXPECT_EQ(integrate(constant, 4, 0, 1, by("kronrod"), kDouble).evaluations, 7);
  EXPECT_EQ(integrate(constant, 4, 0, 1, by("kronrod15"), kDouble).evaluations, 15);
  EXPECT_EQ(integrate(constant, 4, 0, 1, by("kronrod31"), kDouble).evaluations, 31);
  EXPECT_EQ(integrate(constant, 4, 0, 1, by("legendre"), kDouble).evaluations, 31);
  for (const auto& method : integrator_names()) {
    int64_t points = 0;
    const RowIntegrand counted = [&](const Tensor& rows, const Tensor& t) {
      points += t.numel();
      return (20 * t * (1 + rows.to(t.scalar_type()))).cos();
    };
    const auto got = integrate(counted, 5, 0, 1, by(method), kDouble);
    EXPECT_EQ(got.row_evaluations.sum().item<int64_t>(), points);
    EXPECT_EQ(got.row_evaluations.max().item<int64_t>(), got.evaluations);
    if (method == "rk45") {
      EXPECT_EQ((got.evaluations - 2) % 6, 0);
    }
  }
}

TEST(Integrate, EasyRowsLeaveEarlyAndHardRowsDoNotDisturbThem) {
  const RowIntegrand mixed = [](const Tensor& rows, const Tensor& t) {
    const Tensor peak = 1 / (1e-4 + (t - 0.3).square());
    return torch::where(rows == 2, peak, torch::where(rows == 1, t.exp(), torch::ones_like(t)));
  };
  const auto got = integrate(mixed, 3, 0, 1, by("kronrod"), kDouble);
  EXPECT_EQ(got.row_evaluations[0].item<int64_t>(), 7);
  EXPECT_LE(got.row_evaluations[1].item<int64_t>(), 15);
  EXPECT_GT(got.row_evaluations[2].item<int64_t>(), 100);
  EXPECT_NEAR(got.value[1].item<double>(), std::exp(1) - 1, 1e-9);
  EXPECT_NEAR(got.value[2].item<double>(), 100 * (std::atan(70) + std::atan(30)), 3e-3);
}

TEST(Integrate, CallsAreBoundedAndChunksChangeNothing) {
  auto options = by("kronrod");
  const RowIntegrand waves = [](const Tensor& rows, const Tensor& t) {
    return (t * rows.to(t.scalar_type())).cos();
  };
  const auto whole = integrate(waves, 40, 0, 1, options, kDouble);
  int64_t largest = 0;
  const RowIntegrand watched = [&](const Tensor& rows, const Tensor& t) {
    largest = std::max(largest, t.numel());
    return waves(rows, t);
  };
  options.max_points_per_call = 17;
  const auto parts = integrate(watched, 40, 0, 1, options, kDouble);
  EXPECT_LE(largest, 17);
  EXPECT_TRUE(torch::equal(whole.value, parts.value));
}

TEST(Integrate, TroubleIsAStatusOfTheResult) {
  const RowIntegrand one_bad = [](const Tensor& rows, const Tensor& t) {
    return torch::where(rows == 1, t.log() * std::nan(""), t);
  };
  for (const auto& method : integrator_names()) {
    SCOPED_TRACE(method);
    const auto bad = integrate(one_bad, 3, 0, 1, by(method), kDouble);
    EXPECT_EQ(bad.status, Status::non_finite);
    EXPECT_TRUE(std::isnan(bad.value[1].item<double>()));
    EXPECT_TRUE(std::isinf(bad.error[1].item<double>()));
    if (method != "rk45") {
      EXPECT_NEAR(bad.value[2].item<double>(), 0.5, 1e-12);
    }
    auto few = by(method);
    few.max_evaluations = 31;
    const auto hard = same_for_all([](const Tensor& t) { return (1e3 * t).cos().abs(); });
    const auto unfinished = integrate(hard, 2, 0, 1, few, kDouble);
    EXPECT_EQ(unfinished.status, Status::not_converged);
    EXPECT_LE(unfinished.evaluations, 32);
    const auto none = integrate(one_bad, 0, 0, 1, by(method), kDouble);
    EXPECT_EQ(none.value.size(0), 0);
    EXPECT_EQ(none.status, Status::ok);
  }
  EXPECT_NE(describe(Status::not_converged).find("rtol"), std::string::npos);
  EXPECT_NE(describe(Status::non_finite).find("float64"), std::string::npos);
}

TEST(Integrate, MisuseIsRefused) {
  const auto f = same_for_all([](const Tensor& t) { return t; });
  EXPECT_THROW(integrate(f, 1, 0, 1, by("simpson"), kDouble), Error);
  EXPECT_THROW(integrate(f, 1, 0, std::nan(""), by("kronrod"), kDouble), Error);
  EXPECT_THROW(integrate(f, -1, 0, 1, by("kronrod"), kDouble), Error);
  EXPECT_THROW(integrate(nullptr, 1, 0, 1, by("kronrod"), kDouble), Error);
  EXPECT_THROW(integrate(f, 1, 0, 1, by("kronrod"), torch::dtype(torch::kInt64)), Error);
  const auto column = same_for_all([](const Tensor& t) { return t.unsqueeze(1); });
  EXPECT_THROW(integrate(column, 2, 0, 1, by("kronrod"), kDouble), Error);
  auto options = by("kronrod");
  options.max_evaluations = 5;
  EXPECT_THROW(integrate(f, 1, 0, 1, options, kDouble), Error);
}

/// s(x, t) of a network of three hidden layers, weights of standard deviation gain / sqrt(fan in).
struct Network {
  Tensor x;
  std::vector<Tensor> weights, biases;
  bool elu;

  Network(int64_t rows, double gain, bool elu_, uint64_t seed) : elu(elu_) {
    auto generator = Context{torch::kCPU, torch::kFloat64, seed}.generator("network");
    x = 1.5 * normal({rows, 2}, kDouble, generator);
    const std::vector<int64_t> sizes = {3, 64, 64, 64, 1};
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      const double scale = (i + 2 == sizes.size() ? 4 : gain) / std::sqrt(sizes[i]);
      weights.push_back(scale * normal({sizes[i], sizes[i + 1]}, kDouble, generator));
      biases.push_back(0.3 * normal({sizes[i + 1]}, kDouble, generator));
    }
  }

  RowIntegrand in(torch::ScalarType type) const {
    return [this, type](const Tensor& rows, const Tensor& t) {
      Tensor h = torch::cat({x.index_select(0, rows), t.unsqueeze(1)}, 1).to(type);
      for (size_t i = 0; i < weights.size(); ++i) {
        if (i > 0) h = elu ? torch::elu(h) : h.tanh();
        h = h.matmul(weights[i].to(type)) + biases[i].to(type);
      }
      return h.squeeze(1);
    };
  }
};

TEST(Integrate, NetworksNeed31EvaluationsAndErrLessThanRk45) {
  struct Case {
    double gain;
    bool elu;
  };
  for (const auto& [gain, elu] : std::vector<Case>{{0.6, true}, {0.6, false}, {1.2, false}}) {
    for (const auto type : {torch::kFloat64, torch::kFloat32}) {
      SCOPED_TRACE(text("gain ", gain, " elu ", elu, " ", torch::toString(type)));
      const Network network(200, gain, elu, 7);
      auto tight = by("kronrod31");
      tight.rtol = tight.atol = 1e-9;
      tight.max_evaluations = 4000;
      const auto truth = integrate(network.in(torch::kFloat64), 200, 1, 0, tight, kDouble);
      const auto nested = integrate(network.in(type), 200, 1, 0, by("kronrod"), torch::dtype(type));
      const auto rk45 = integrate(network.in(type), 200, 1, 0, by("rk45"), torch::dtype(type));
      ASSERT_EQ(truth.status, Status::ok);
      EXPECT_EQ(nested.status, Status::ok);
      EXPECT_LE(nested.evaluations, 31);
      EXPECT_GE(rk45.evaluations, 32);
      const Tensor error = (nested.value - truth.value).abs();
      // Both may be down to the rounding of the network's own sums.
      const double rounding = type == torch::kFloat32 ? 1e-6 : 0;
      EXPECT_LE(error.max().item<double>(),
                (rk45.value - truth.value).abs().max().item<double>() + rounding);
      const Tensor bounded = (error <= nested.error + 1e-7).to(torch::kFloat64);
      EXPECT_GE(bounded.mean().item<double>(), 0.95);
    }
  }
}

/// The error that is told covers the true one in nine rows of ten, on networks as rough as training
/// makes them, and nearly all rows keep the tolerance they were asked for.
TEST(Integrate, ErrorsOfNetworksAreCovered) {
  for (const bool elu : {true, false})
    for (const double gain : {0.6, 0.9, 1.2})
      for (const uint64_t seed : {1, 2}) {
        SCOPED_TRACE(text("gain ", gain, " elu ", elu, " seed ", seed));
        const Network network(200, gain, elu, seed);
        auto tight = by("kronrod31");
        tight.rtol = tight.atol = 1e-9;
        tight.max_evaluations = 4000;
        const auto truth = integrate(network.in(torch::kFloat64), 200, 1, 0, tight, kDouble);
        const auto got = integrate(network.in(torch::kFloat64), 200, 1, 0, by("kronrod"), kDouble);
        EXPECT_EQ(got.status, Status::ok);
        const Tensor error = (got.value - truth.value).abs();
        const Tensor allowed = (1e-5 * truth.value.abs()).clamp_min(1e-5);
        EXPECT_GE((error <= got.error).to(torch::kFloat64).mean().item<double>(), 0.9);
        EXPECT_GE((error <= allowed).to(torch::kFloat64).mean().item<double>(), 0.99);
      }
}

TEST(Integrate, DoesNotChaseTheNoiseOfFloat32) {
  const auto noisy = same_for_all([](const Tensor& t) { return (1000 + (9 * t).cos()).to(t); });
  auto options = by("kronrod");
  options.rtol = options.atol = 1e-9;
  const auto got = integrate(noisy, 1, 0, 1, options, torch::dtype(torch::kFloat32));
  EXPECT_EQ(got.status, Status::ok);
  EXPECT_LE(got.evaluations, 31);
  EXPECT_GE(first(got.error), 1e-6 * 1000);
  EXPECT_NEAR(first(got.value), 1000 + std::sin(9) / 9, 1e-3);
}

}  // namespace
}  // namespace dre
