"""Muon for the matrices of the layers, AdamW for the embedding and the norms.

Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks",
https://kellerjordan.github.io/posts/muon/) replaces the momentum M of a matrix by the orthogonal
matrix nearest to it: with M = U S V^T that is U V^T, so that all directions of a matrix learn
equally fast. Five steps of a Newton-Schulz iteration come close enough:

    X <- a X + (b A + c A A) X,  A = X X^T,  a, b, c = 3.4445, -4.7750, 2.0315

Here about half of AdamW's tokens bring the same loss. Matrices of one shape go through the
iteration together, as one batched product.
"""

import torch

from precision import product_type

QUINTIC = (3.4445, -4.7750, 2.0315)  # the coefficients of the source above
STEPS = 5
EPSILON = 1e-7


def orthogonal(x):
    """[count, rows, cols] -> about U V^T of each, as precision.py says."""
    a, b, c = QUINTIC
    x = x.to(product_type(x.device))
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + EPSILON)
    for _ in range(STEPS):
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                shapes.setdefault(p.shape, []).append(p)
            for params in shapes.values():
                self.step_alike(params, group)

    def step_alike(self, params, group):
        """All matrices of one shape [rows, cols]."""
        updates = []
        for p in params:
            state = self.state[p]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(p)
            state["momentum"].lerp_(p.grad, 1 - group["momentum"])
            updates.append(p.grad.lerp(state["momentum"], group["momentum"]))  # Nesterov's form
        rows, cols = params[0].shape
        size = group["lr"] * max(1, rows / cols) ** 0.5
        for p, update in zip(params, orthogonal(torch.stack(updates)).float()):
            p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=size)


def make(net, matrix_lr, other_lr, decay):
    """The two optimizers; `base_lr` of a group is its peak."""
    matrices = [p for n, p in net.named_parameters() if p.dim() == 2 and "embd" not in n]
    others = [p for n, p in net.named_parameters() if p.dim() != 2 or "embd" in n]
    both = [
        Muon(matrices, matrix_lr, weight_decay=decay),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]
    for optimizer in both:
        for group in optimizer.param_groups:
            group["base_lr"] = group["lr"]
    return both
