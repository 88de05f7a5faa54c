"""Which numbers products are made of: bfloat16 where the machine has it, else float32.

A processor that must emulate bfloat16 multiplies 2.6 times slower than with float32 (28 and 74
GFLOP/s on one core with AVX-512 of 2021). Weights and their averages are float32 everywhere.
"""

import torch


def product_type(device):
    if device.type != "cpu":
        return torch.bfloat16
    has = torch.cpu.get_capabilities()
    return torch.bfloat16 if has.get("avx512_bf16") or has.get("amx_bf16") else torch.float32


def mixed(device):
    """A context in which products are made of product_type(device)."""
    dtype = product_type(device)
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=dtype != torch.float32)
