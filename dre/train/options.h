/// How training runs.
#pragma once

#include <cstdint>
#include <string>

#include "dre/base/options.h"

namespace dre {

struct TrainOptions {
  int64_t steps = 4000;
  int64_t batch = 512;
  std::string optimizer = "adam";
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  std::string schedule = "cosine";
  int64_t warmup = 100;
  double clip = 1;
  double average = 0.995;
  int64_t evaluate_every = 40;
  int64_t patience = 1000;

  void visit(OptionVisitor& v);
};

}  // namespace dre
