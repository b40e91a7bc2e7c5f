// Fits two Gaussians of known ratio through the installed headers, saves and loads the model, rates
// a table by it, and compares with the truth: N(1, 1) over N(0, 1) has log r = x - 1/2.
#include <dre/dre.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace {

void write_table(const std::string& path, const std::string& column, const torch::Tensor& rows) {
  const auto writer = dre::open_writer(path, {column});
  writer->write(rows);
  writer->finish();
}

void rate(const dre::Estimator& estimator, const std::string& from, const std::string& to) {
  const auto reader = dre::open_table(from, dre::read_options_for(estimator));
  const auto writer = dre::open_writer(to, dre::rated_columns(estimator));
  dre::Progress silent;
  dre::rate_table(*reader, *writer, estimator, from, {}, silent);
}

}  // namespace

int main(int, char** arguments) {
  try {
    auto generator = dre::Context{}.generator("consumer");
    const auto standard = [&] { return dre::normal({2000, 1}, torch::kFloat64, generator); };
    const dre::Samples numerator = dre::make_samples(standard() + 1);
    const dre::Samples denominator = dre::make_samples(standard());

    dre::FitOptions options;
    options.device = "cpu";
    options.train.steps = 50;
    options.score.width = 16;
    dre::Progress silent;
    const dre::Sides sides = dre::make_sides(numerator, denominator, {"x"});
    const dre::FitSidesResult result = dre::fit_sides(sides, options, silent);
    const std::string model = arguments[1];
    dre::save_model(model, result.fit.estimator);

    const dre::Estimator estimator = dre::load_model(model);
    const torch::Tensor x = torch::linspace(-1, 2, 31, torch::kFloat64).unsqueeze(1);
    const std::string rows = model + ".rows.csv", rated = model + ".log_ratio.csv";
    write_table(rows, "x", x);
    rate(estimator, rows, rated);
    const torch::Tensor log_ratio = dre::read_table(rated).values;
    const double error = (log_ratio - (x - 0.5)).abs().max().item<double>();
    // Means of 2000 rows have a standard error of 0.022 each; five of both, at the far point.
    std::printf("dre %s: largest error of log r %.3f\n", dre::version().c_str(), error);
    const bool has_record = estimator.record.at("data").at("numerator").at("rows") == 2000;
    return error < 0.5 && has_record ? 0 : 1;
  } catch (const dre::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
