"""The yardstick of image_step: one step of time score matching with the paper's U-Net, batch 500,
by double backward in eager PyTorch (TF32), as a user would write it. Prints milliseconds a step."""
import time

import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True


def dense(channels):
    return nn.Sequential(nn.Linear(256, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(),
                         nn.Linear(32, channels))


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        c = [64, 128, 256, 512]
        self.embed = nn.Sequential(nn.Linear(1, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(),
                                   nn.Linear(256, 256))
        self.down = nn.ModuleList(
            nn.Conv2d(c[k - 1] if k else 1, c[k], 3, stride=2 if k else 1, bias=False)
            for k in range(4))
        self.up = nn.ModuleList([
            nn.ConvTranspose2d(512, 256, 3, stride=2, bias=False),
            nn.ConvTranspose2d(512, 128, 3, stride=2, output_padding=1, bias=False),
            nn.ConvTranspose2d(256, 64, 3, stride=2, output_padding=1, bias=False)])
        widths = c + [256, 128, 64]
        self.shift = nn.ModuleList(dense(w) for w in widths)
        self.norm = nn.ModuleList(nn.GroupNorm(32 if i else 4, w) for i, w in enumerate(widths))
        self.last = nn.ConvTranspose2d(128, 1, 3)
        self.head = nn.Linear(784, 1)

    def forward(self, x, t):
        e = self.embed(t)

        def level(i, h):
            return nn.functional.silu(self.norm[i](h + self.shift[i](e)[:, :, None, None]))

        h, seen = x.view(-1, 1, 28, 28), []
        for i, conv in enumerate(self.down):
            h = level(i, conv(h))
            seen.append(h)
        for i, conv in enumerate(self.up):
            h = level(4 + i, conv(h if i == 0 else torch.cat([h, seen[3 - i]], 1)))
        return self.head(self.last(torch.cat([h, seen[0]], 1)).flatten(1)).squeeze(1)


def main(batch=500, steps=20):
    net = Unet().cuda()
    assert sum(p.numel() for p in net.parameters()) == 3714066
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)

    def step():
        x0, x1 = torch.randn(batch, 784, device="cuda"), torch.randn(batch, 784, device="cuda")
        t = torch.rand(batch, 1, device="cuda", requires_grad=True)
        angle = t.detach() * torch.pi / 2
        s = net(torch.cos(angle) * x0 + torch.sin(angle) * x1, t)
        slope = torch.autograd.grad(s.sum(), t, create_graph=True)[0].squeeze(1)
        ends = net(torch.cat([x0, x1]), torch.cat([torch.zeros_like(t), torch.ones_like(t)]))
        loss = (s * s + 2 * slope).mean() + 2 * (ends[:batch] - ends[batch:]).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    print(f"eager double backward, batch {batch}: {1000 * (time.perf_counter() - start) / steps:.2f} ms a step")


if __name__ == "__main__":
    main()
