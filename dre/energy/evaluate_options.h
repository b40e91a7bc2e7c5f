/// How an energy model is evaluated.
#pragma once

#include "dre/base/options.h"

namespace dre {

struct EnergyEvaluateOptions {
  int64_t nodes = 16;
  int64_t flow_steps = 20;
  int64_t rows = 0;
  int64_t rows_at_once = 500;
  bool half = false;
  bool graph = true;

  void visit(OptionVisitor& v) {
    v("nodes", nodes, between(2, 200),
      "Gauss-Legendre nodes of the integral over time, between images on each side");
    v("flow-steps", flow_steps, at_least(1),
      "Runge-Kutta steps of the flow, four evaluations each, between images on each side");
    v("rows", rows, at_least(0), "images that are looked at, the first ones; 0: all");
    v("rows-at-once", rows_at_once, at_least(1),
      "images that go through the network together; on the CPU at most 20");
    v("half", half,
      "convolutions in bfloat16, where there is CUDA; of annealing those that drive the chains");
    v("graph", graph, "record the energy's gradient as a graph and replay it, where there is CUDA");
  }
};

}  // namespace dre
