"""The sizes of the tiny decoders of make_decoders.py."""

WIDE, HEADS, KV_HEADS, HEAD, FFN, VOCAB, EXPERTS, USED = 32, 4, 2, 16, 48, 64, 4, 2
WINDOW, CONTEXT, EPSILON, BASE = 8, 256, 1e-5, 10000.0
