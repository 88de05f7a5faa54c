"""A deeper network that begins as the smaller one: block expansion (Wu et al. 2024, "LLaMA Pro",
arXiv 2401.02415, section 3.2).

Behind every layer stands a copy of it whose two output matrices are zero, so that the residual
stream passes unchanged and the grown network says at first exactly what the small one says.
Training then finds work for the new layers. On CPUs this is what makes a larger model worth having:
from scratch it would have to spend its few minutes on learning what is known already.
"""

import re

import torch

SILENT = (".attn_output.weight", ".ffn_down.weight")


def grown(state, small, large):
    """A state dict of Nano(small) as one of Nano(large), whose layers are a multiple in number."""
    same = ("vocab_size", "width", "heads", "kv_heads", "head_width", "ffn_width", "rope_base")
    if any(getattr(small, n) != getattr(large, n) for n in same):
        raise ValueError("a model grows in depth only")
    times, rest = divmod(large.layers, small.layers)
    if rest or large.exits != [times * n for n in small.exits]:
        raise ValueError(
            f"{large.layers} layers with exits {large.exits} are no multiple of "
            f"{small.layers} with {small.exits}"
        )
    out = {}
    for name, x in state.items():
        layer = re.match(r"blk\.(\d+)(\..*)", name)
        if not layer:
            out[name] = x
            continue
        for copy in range(times):
            silent = copy > 0 and name.endswith(SILENT)
            out[f"blk.{times * int(layer[1]) + copy}{layer[2]}"] = (
                torch.zeros_like(x) if silent else x
            )
    return out
