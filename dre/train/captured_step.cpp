#include "dre/train/captured_step.h"

#include <torch/version.h>

#include <utility>

// Generators other than the default one can be part of a graph since 2.4.
#if defined(DRE_WITH_CUDA) && \
    (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))
#define DRE_WITH_GRAPHS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace dre {

#ifdef DRE_WITH_GRAPHS

struct CapturedStep::Recording {
  static constexpr int plain_runs = 3;

  explicit Recording(std::vector<at::Generator> generators_)
      : stream(c10::cuda::getStreamFromPool()), generators(std::move(generators_)) {
    c10::cuda::device_synchronize();  // work on the stream before may still be running
  }
  ~Recording() { c10::cuda::device_synchronize(); }

  void run(const std::function<void()>& work) {
    if (done++ < plain_runs) return work();
    if (!graph) {
      graph = std::make_unique<at::cuda::CUDAGraph>();
      for (const auto& generator : generators) graph->register_generator_state(generator);
      graph->capture_begin();
      work();
      graph->capture_end();
    }
    graph->replay();
  }

  c10::cuda::CUDAStreamGuard stream;
  std::vector<at::Generator> generators;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
  int64_t done = 0;
};

CapturedStep::CapturedStep(std::function<void()> work, torch::Device device,
                           std::vector<at::Generator> generators, bool record)
    : work_(std::move(work)) {
  if (device.is_cuda() && record) recording_ = std::make_unique<Recording>(std::move(generators));
}

void CapturedStep::run() { recording_ ? recording_->run(work_) : work_(); }

bool CapturedStep::recorded() const { return recording_ && recording_->graph; }

#else

struct CapturedStep::Recording {};

CapturedStep::CapturedStep(std::function<void()> work, torch::Device, std::vector<at::Generator>,
                           bool)
    : work_(std::move(work)) {}

void CapturedStep::run() { work_(); }

bool CapturedStep::recorded() const { return false; }

#endif

CapturedStep::~CapturedStep() = default;

}  // namespace dre
