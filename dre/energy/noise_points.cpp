#include "dre/energy/noise_points.h"

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr int64_t blocks = 8, batches_a_block = 4;

}  // namespace

NoisePoints::NoisePoints(const BridgeSpace& space, int64_t batch, const Context& context)
    : space_(space), block_(batches_a_block * batch), context_(context) {
  if (!space.between_images()) return;
  kept_ = torch::empty({blocks * block_, space.frame().dimension()}, context.options());
  begin_at(0);
}

Tensor NoisePoints::draw(int64_t n, at::Generator& generator) const {
  if (!kept_.defined()) return space_.draw_noise(n, generator);
  const auto index = kept_.options().dtype(torch::kInt64);
  return kept_.index_select(0, at::randint(kept_.size(0), {n}, generator, index));
}

void NoisePoints::renew() {
  if (kept_.defined()) place(oldest_++ + blocks);
}

void NoisePoints::begin_at(int64_t oldest) {
  oldest_ = oldest;
  for (int64_t i = 0; i < blocks; ++i) place(oldest + i);
}

/// A block is drawn by its number: a fit that goes on finds the same images again.
void NoisePoints::place(int64_t number) {
  const torch::NoGradGuard no_grad;
  auto generator = context_.device_generator(text("images of the noise model, block ", number));
  kept_.narrow(0, number % blocks * block_, block_).copy_(space_.draw_noise(block_, generator));
}

}  // namespace dre
