"""Write trained weights as a Hugging Face folder: model.safetensors, config.json, tokenizer.json.

    python export_hf.py --model nano --from work --to work/nano-hf

The network is Llama's with tied embeddings, and PyTorch's rotary pairs are halves as there.
`tandem convert` makes a GGUF file of the folder; the exits and the calibration are not part of it.
"""

import argparse
import json
import pathlib
import struct

import torch

from export import chat_template, load
from tokenizer import QWEN2, TYPE_CONTROL

NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ENDS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}


def their_name(name):
    """Hugging Face's name of a parameter, or None for one that has none there."""
    if name.startswith("blk."):
        _, layer, part, _ = name.split(".")
        return f"model.layers.{layer}.{NAMES[part]}.weight"
    return ENDS.get(name)


def write_safetensors(path, tensors):
    """tensors: {name: float32 tensor}. src/quant/convert/safetensors.c describes the layout."""
    header, body = {}, b""
    for name, x in tensors.items():
        raw = x.contiguous().float().numpy().tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(x.shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)


def config(c):
    return {
        "model_type": "llama",
        "vocab_size": c.vocab_size,
        "hidden_size": c.width,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_width,
        "intermediate_size": c.ffn_width,
        "max_position_embeddings": c.context,
        "rope_theta": c.rope_base,
        "rms_norm_eps": c.norm_eps,
        "tie_word_embeddings": True,
        "attention_bias": False,
    }


def tokenizer(vocab):
    ordinary = {t: i for i, t in enumerate(vocab.tokens) if vocab.types[i] != TYPE_CONTROL}
    control = [i for i, kind in enumerate(vocab.types) if kind == TYPE_CONTROL]
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": vocab.tokens[i], "special": True} for i in control],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated"},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
            ],
        },
        "model": {"type": "BPE", "vocab": ordinary, "merges": [" ".join(m) for m in vocab.merges]},
    }


def write(net, vocab, folder):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {their_name(n): x for n, x in net.state_dict().items() if their_name(n)}
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config(net.c)))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(vocab)))
    special = {
        "bos_token": vocab.tokens[vocab.pad],
        "eos_token": vocab.tokens[vocab.end],
        "pad_token": vocab.tokens[vocab.pad],
        "add_bos_token": False,
        "chat_template": chat_template(vocab),
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(special))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    parser.add_argument("--to", type=pathlib.Path, default="work/nano-hf")
    args = parser.parse_args()
    with torch.no_grad():
        net, vocab = load(args.source, args.model)
        write(net, vocab, args.to)


if __name__ == "__main__":
    main()
