#!/usr/bin/env python3
"""One training step of the parametric joint model for mutual information, as the paper's public code
does it: a d x d matrix inverted for every row of the batch, derivatives by double backward. The
counterpart of mutual_information_step, which prints the same figure for this library.

    OMP_NUM_THREADS=2 mutual_information_step.py [d [batch [repetitions]]]
"""
import statistics
import sys
import time

import torch


def step(S, x0, x1, t):
    t = t.clone().requires_grad_()
    x = (torch.sqrt(1 - t * t) * x0 + t * x1).detach().requires_grad_()
    identity = torch.eye(S.shape[0])

    def scores(x, t):
        M = torch.inverse(identity + (1 - t * t).unsqueeze(2) * S)  # one inverse a row
        z = torch.matmul(M, x.unsqueeze(2))
        energy = torch.matmul(z.transpose(1, 2), torch.matmul(S, z)).squeeze(2)
        trace = torch.diagonal(torch.matmul(S, M), dim1=1, dim2=2).sum(1, keepdim=True)
        return -t * (energy - trace), -z.squeeze(2)

    time_score, data_score = scores(x, t)
    by_time = torch.autograd.grad(time_score.sum(), t, create_graph=True)[0]
    v = torch.randn_like(x)
    by_x = torch.autograd.grad((data_score * v).sum(), x, create_graph=True)[0]
    weight, weight_rate = t.detach() ** 2, 2 * t.detach()
    inside = (weight * (0.5 * (data_score ** 2 + 2 * by_x * v).sum(1, keepdim=True)
                        + 0.5 * time_score ** 2 + by_time) + weight_rate * time_score)
    end = torch.full_like(t, 1 - 1e-5).detach()
    at_end = scores(torch.sqrt(1 - end * end) * x0 + end * x1, end)[0]
    loss = (inside - end ** 2 * at_end).mean()  # the weight is 0 at the start
    loss.backward()


def main():
    d, batch, repetitions = (int(a) for a in (sys.argv[1:] + ["160", "512", "3"][len(sys.argv) - 1:]))
    torch.manual_seed(0)
    S = torch.zeros(d, d, requires_grad=True)
    seconds = []
    for _ in range(repetitions):
        x0, x1, t = torch.randn(batch, d), torch.randn(batch, d), torch.rand(batch, 1)
        begin = time.perf_counter()
        step(S, x0, x1, t)
        seconds.append(time.perf_counter() - begin)
    print(f"an inverse a row, double backward: d {d}, batch {batch}, {torch.get_num_threads()} threads, "
          f"PyTorch {torch.__version__}: {1000 * statistics.median(seconds):.1f} ms a step "
          f"(median of {repetitions})")


main()
