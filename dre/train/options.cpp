#include "dre/train/options.h"

namespace dre {

void TrainOptions::visit(OptionVisitor& v) {
  v("steps", steps, at_least(0), "optimizer steps at most; 0 trains nothing");
  v("batch", batch, at_least(2), "rows a step; of two sides, of each");
  v("optimizer", optimizer, {"adam", "adamw"},
    "adam adds weight decay to the gradient, adamw to the weights");
  v("rate", rate, positive(), "learning rate after the warm-up");
  v("beta1", beta1, below(0, 1), "decay of the gradient's average");
  v("beta2", beta2, below(0, 1), "decay of the squared gradient's average");
  v("weight-decay", weight_decay, at_least(0), "pull of the weights towards zero");
  v("schedule", schedule, {"cosine", "constant"}, "learning rate after the warm-up");
  v("warmup", warmup, at_least(0), "steps of linear growth of the learning rate");
  v("clip", clip, at_least(0), "largest norm of the gradient; 0 turns clipping off");
  v("average", average, below(0, 1), "decay of the weights' moving average, which is what is kept");
  v("evaluate-every", evaluate_every, at_least(1), "steps between two looks at the held-out loss");
  v("patience", patience, at_least(0),
    "steps without a better held-out loss before training stops; 0 never stops");
}

}  // namespace dre
