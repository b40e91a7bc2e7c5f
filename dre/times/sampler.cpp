#include "dre/times/sampler.h"

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/times/density.h"
#include "dre/times/history.h"
#include "dre/times/strata.h"

namespace dre {
namespace {

/// Uniform on [clip, 1 - clip], independent or stratified.
class Uniform final : public TimeSampler {
 public:
  Uniform(double clip, Tensor (*numbers)(int64_t, at::Generator&))
      : low_(clip), high_(1 - clip), numbers_(numbers) {}

  Times draw(int64_t n, const torch::TensorOptions& options, at::Generator& generator) override {
    const Tensor t = low_ + (high_ - low_) * numbers_(n, generator);
    const Tensor weight = torch::full_like(t, high_ - low_);
    return as_times(t, weight, torch::ones_like(t), low_, high_, options);
  }

 private:
  double low_, high_;
  Tensor (*numbers_)(int64_t, at::Generator&);
};

class Tabulated final : public TimeSampler {
 public:
  Tabulated(const Tensor& heights, double clip)
      : low_(clip), high_(1 - clip), density_(heights, clip, 1 - clip) {}

  Times draw(int64_t n, const torch::TensorOptions& options, at::Generator& generator) override {
    const Tensor t = density_.inverse_cdf(stratified(n, generator));
    return as_times(t, 1 / density_(t), torch::ones_like(t), low_, high_, options);
  }

 private:
  double low_, high_;
  TabulatedDensity density_;
};

using Maker = std::unique_ptr<TimeSampler> (*)(const TimeOptions&, const Tensor& density);

const std::vector<Named<Maker>>& table() {
  static const std::vector<Named<Maker>> rows = {
      {"uniform",
       [](const TimeOptions& o, const Tensor&) -> std::unique_ptr<TimeSampler> {
         return std::make_unique<Uniform>(o.clip, independent);
       }},
      {"stratified",
       [](const TimeOptions& o, const Tensor&) -> std::unique_ptr<TimeSampler> {
         return std::make_unique<Uniform>(o.clip, stratified);
       }},
      {"tabulated",
       [](const TimeOptions& o, const Tensor& density) -> std::unique_ptr<TimeSampler> {
         return std::make_unique<Tabulated>(density, o.clip);
       }},
      {"history", [](const TimeOptions& o, const Tensor&) { return make_history(o); }},
      {"history-multiplicative",
       [](const TimeOptions& o, const Tensor&) { return make_history_multiplicative(o); }},
  };
  return rows;
}

}  // namespace

void TimeSampler::restore(const NamedTensors& state) {
  check_data(state.empty(), "this time sampler keeps no state, but a state of ", state.size(),
             " tensors was given; resume with the sampler that wrote it");
}

std::vector<std::string> time_sampler_names() { return names_of(table()); }

std::unique_ptr<TimeSampler> make_time_sampler(const TimeOptions& options, const Tensor& density) {
  validate(options);
  check(options.times == "tabulated" || !density.defined(), "times '", options.times,
        "' take no density; give one to tabulated only");
  return choose("times", table(), options.times)(options, density);
}

}  // namespace dre
