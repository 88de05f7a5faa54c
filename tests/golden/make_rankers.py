#!/usr/bin/env python3
"""Writes rankers.json: tiny rerankers and their scores of pairs, by Hugging Face's transformers in
float64 (pip install transformers torch). Weights are a formula, as in make_bert.py. BERT has a
classifier over a pooler and reads the second text with token type 1; the decoder has the rows of
"yes" and "no" as its head.

    make_rankers.py > rankers.json
"""

import json
import math
import os
import sys

import torch
import transformers as hf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_bert as bert
from make_bert import values
from make_decoders import EPSILON, FFN, HEAD, HEADS, KV_HEADS, VOCAB, WIDE

PAIRS = [
    [2, 5, 6, 3, 9, 10, 11, 3],
    [2, 5, 6, 3, 7, 3],
    [2, 40, 41, 42, 3, 5, 6, 7, 8, 9, 20, 21, 3],
]
HEAD_SCALE = 0.8


def filled(rows):
    weights = {}
    for seed, (name, shape, scale, base) in enumerate(rows, 1):
        flat = values(seed, math.prod(shape), scale, base)
        weights[name] = torch.tensor(flat).double().reshape(shape)
    return weights


def bert_rows():
    return [
        *bert.tensors("bert"),
        ("cls.weight", (bert.WIDE, bert.WIDE), 0.4, 0.0),
        ("cls.bias", (bert.WIDE,), 0.3, 0.0),
        ("cls.output.weight", (1, bert.WIDE), HEAD_SCALE, 0.0),
        ("cls.output.bias", (1,), 0.5, 0.0),
    ]


def bert_scores():
    config = hf.BertConfig(
        vocab_size=bert.VOCAB,
        hidden_size=bert.WIDE,
        num_hidden_layers=bert.LAYERS,
        num_attention_heads=bert.HEADS,
        intermediate_size=bert.FFN,
        max_position_embeddings=bert.POSITIONS,
        layer_norm_eps=bert.EPSILON,
        num_labels=1,
    )
    model = hf.BertForSequenceClassification(config).double().eval()
    names = {
        "token_embd": "bert.embeddings.word_embeddings",
        "token_types": "bert.embeddings.token_type_embeddings",
        "position_embd": "bert.embeddings.position_embeddings",
        "token_embd_norm": "bert.embeddings.LayerNorm",
        "cls": "bert.pooler.dense",
        "cls.output": "classifier",
    }
    for layer in range(bert.LAYERS):
        stem = f"bert.encoder.layer.{layer}."
        for name, target in (
            ("attn_q", "attention.self.query"),
            ("attn_k", "attention.self.key"),
            ("attn_v", "attention.self.value"),
            ("attn_output", "attention.output.dense"),
            ("attn_output_norm", "attention.output.LayerNorm"),
            ("ffn_up", "intermediate.dense"),
            ("ffn_down", "output.dense"),
            ("layer_output_norm", "output.LayerNorm"),
        ):
            names[f"blk.{layer}.{name}"] = stem + target
    state = {}
    for name, tensor in filled(bert_rows()).items():
        stem, kind = name.rsplit(".", 1)
        state[f"{names[stem]}.{kind}"] = tensor
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and not [m for m in missing if "position_ids" not in m], missing
    scores = []
    for pair in PAIRS:
        second = pair.index(3) + 1
        types = torch.tensor([[int(i >= second) for i in range(len(pair))]])
        with torch.no_grad():
            logits = model(torch.tensor([pair]), token_type_ids=types).logits
        scores.append(float(torch.sigmoid(logits[0, 0])))
    return scores


def qwen3_rows():
    rows = [
        ("token_embd.weight", (VOCAB, WIDE), 1.0, 0.0),
        ("output_norm.weight", (WIDE,), 0.3, 1.0),
        ("cls.output.weight", (2, WIDE), HEAD_SCALE / 8, 0.0),
    ]
    for layer in range(2):
        blk = f"blk.{layer}."
        rows += [
            (blk + "attn_norm.weight", (WIDE,), 0.3, 1.0),
            (blk + "ffn_norm.weight", (WIDE,), 0.3, 1.0),
            (blk + "attn_q.weight", (HEADS * HEAD, WIDE), 0.4, 0.0),
            (blk + "attn_k.weight", (KV_HEADS * HEAD, WIDE), 0.4, 0.0),
            (blk + "attn_v.weight", (KV_HEADS * HEAD, WIDE), 0.4, 0.0),
            (blk + "attn_output.weight", (WIDE, HEADS * HEAD), 0.4, 0.0),
            (blk + "attn_q_norm.weight", (HEAD,), 0.3, 1.0),
            (blk + "attn_k_norm.weight", (HEAD,), 0.3, 1.0),
            (blk + "ffn_gate.weight", (FFN, WIDE), 0.4, 0.0),
            (blk + "ffn_up.weight", (FFN, WIDE), 0.4, 0.0),
            (blk + "ffn_down.weight", (WIDE, FFN), 0.4, 0.0),
        ]
    return rows


def qwen3_scores():
    config = hf.Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=WIDE,
        intermediate_size=FFN,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD,
        rms_norm_eps=EPSILON,
        rope_theta=10000.0,
    )
    model = hf.Qwen3Model._from_config(config, attn_implementation="eager").double().eval()
    weights = filled(qwen3_rows())
    parts = {
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "attn_q_norm": "self_attn.q_norm",
        "attn_k_norm": "self_attn.k_norm",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
    }
    state = {
        "embed_tokens.weight": weights["token_embd.weight"],
        "norm.weight": weights["output_norm.weight"],
    }
    for layer in range(2):
        for name, target in parts.items():
            state[f"layers.{layer}.{target}.weight"] = weights[f"blk.{layer}.{name}.weight"]
    model.load_state_dict(state)
    scores = []
    for pair in PAIRS:
        with torch.no_grad():
            last = model(torch.tensor([pair])).last_hidden_state[0, -1]
        yes_no = weights["cls.output.weight"] @ last
        scores.append(float(torch.softmax(yes_no, 0)[0]))
    return scores


def main():
    models = [
        {
            "name": "bert",
            "arch": "bert",
            "vocab": bert.VOCAB,
            "keys": {
                "context_length": bert.POSITIONS,
                "block_count": bert.LAYERS,
                "embedding_length": bert.WIDE,
                "feed_forward_length": bert.FFN,
                "attention.head_count": bert.HEADS,
                "attention.layer_norm_epsilon": bert.EPSILON,
                "pooling_type": 4,
            },
            "tensors": [list(row) for row in bert_rows()],
            "scores": bert_scores(),
        },
        {
            "name": "qwen3",
            "arch": "qwen3",
            "vocab": VOCAB,
            "keys": {
                "context_length": 256,
                "block_count": 2,
                "embedding_length": WIDE,
                "feed_forward_length": FFN,
                "attention.head_count": HEADS,
                "attention.head_count_kv": KV_HEADS,
                "attention.key_length": HEAD,
                "attention.value_length": HEAD,
                "attention.layer_norm_rms_epsilon": EPSILON,
                "rope.freq_base": 10000.0,
                "pooling_type": 4,
            },
            "tensors": [list(row) for row in qwen3_rows()],
            "scores": qwen3_scores(),
        },
    ]
    out = json.dumps({"pairs": PAIRS, "models": models})
    print(out.replace('{"name"', '\n{"name"'))


if __name__ == "__main__":
    main()
