"""Processes that train one model together: each has batches of its own, gradients are summed.

Two processes with a thread each do nearly twice the work of one; two threads in one process do not,
because most operations of a small model are too short to be divided.
"""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


class Team:
    """rank 0 leads: it validates, saves and says when to stop."""

    def __init__(self, rank=0, size=1, meeting=None):
        self.rank, self.size = rank, size
        if size > 1:
            dist.init_process_group(
                "gloo", init_method=f"file://{meeting}", rank=rank, world_size=size
            )

    def sum_gradients(self, params, numbers):
        """Sums the gradients in place and gives the sums of the numbers."""
        if self.size == 1:
            return numbers
        device = params[0].device
        flat = torch.cat(
            [p.grad.flatten() for p in params] + [torch.tensor(numbers, device=device)]
        )
        dist.all_reduce(flat)
        at = 0
        for p in params:
            p.grad.copy_(flat[at : at + p.numel()].view_as(p))
            at += p.numel()
        return flat[at:].tolist()

    def leave(self):
        if self.size > 1:
            dist.destroy_process_group()


def member(rank, size, meeting, work, args):
    team = Team(rank, size, meeting)
    work(args, team)
    team.leave()


def run(work, args, size):
    """work(args, team) in `size` processes. If one fails, all end."""
    if size == 1:
        return work(args, Team())
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(member, (size, os.path.join(folder, "meeting"), work, args), nprocs=size)
