#include "dre/energy/noise.h"

#include "dre/data/mnist.h"
#include "dre/density/gaussian_density.h"

namespace dre {

DensityPtr gaussian_noise(const Tensor& pixels, int64_t draws, const Context& context) {
  GaussianFit fit;
  auto generator = context.generator("noise model");
  const Tensor host = pixels.cpu();
  for (int64_t i = 0; i < draws; ++i)
    for (const Tensor& block : host.split(5000))
      fit.add(dequantise(block, generator, torch::kFloat64).x);
  return std::make_shared<GaussianDensity>(fit.density(context));
}

DensityPtr energy_frame(const EnergyOptions& options, const Tensor& pixels,
                        const Context& context) {
  return options.bridge == "images" ? gaussian_noise(pixels, 2, context) : nullptr;
}

}  // namespace dre
