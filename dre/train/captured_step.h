/// Work on the device that is the same again and again: on CUDA it is recorded once as a graph and
/// then replayed by one call, since the many small kernels of a step cost more to launch one by one
/// than to run.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace dre {

class CapturedStep final {
 public:
  /// `work` reads and writes tensors that stay where they are, asks nothing of the device that the
  /// host would wait for, and draws from `generators` only. While this lives, everything that this
  /// thread does on the device goes through one stream of its own. Where there is nothing to
  /// record (the CPU, an old LibTorch, `record` false) the work is simply done.
  CapturedStep(std::function<void()> work, torch::Device device,
               std::vector<at::Generator> generators, bool record = true);
  ~CapturedStep();
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  /// Does the work once. The first times it is done step by step, which lets LibTorch choose its
  /// algorithms.
  void run();

  bool recorded() const;

 private:
  struct Recording;
  std::function<void()> work_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace dre
