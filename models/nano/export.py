"""Write the trained weights as nano.gguf: matrices Q8_0, norms F32, vocabulary, chat template.

    python export.py --from work --to nano.gguf

Tied embeddings: there is no output.weight, readers take token_embd.weight for both ends.
"""

import argparse
import pathlib

import torch

from gguf_writer import BOOL, F32, I32, STRING, U32, ALIGNMENT, Writer
from model import Config, Nano
from tokenizer import Vocabulary

VERSION = "0"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] "
    "+ '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def add_general(out):
    out.add("general.architecture", STRING, "llama")
    out.add("general.name", STRING, "tandem-nano")
    out.add("general.version", STRING, VERSION)
    out.add("general.license", STRING, "apache-2.0")
    out.add("general.file_type", U32, 7)             # mostly Q8_0
    out.add("general.quantization_version", U32, 2)
    out.add("general.alignment", U32, ALIGNMENT)
    out.add("tandem.nano.version", STRING, VERSION)


def add_shape(out, c):
    out.add("llama.block_count", U32, c.layers)
    out.add("llama.context_length", U32, c.context)
    out.add("llama.embedding_length", U32, c.width)
    out.add("llama.feed_forward_length", U32, c.ffn_width)
    out.add("llama.attention.head_count", U32, c.heads)
    out.add("llama.attention.head_count_kv", U32, c.kv_heads)
    out.add("llama.attention.layer_norm_rms_epsilon", F32, c.norm_eps)
    out.add("llama.rope.dimension_count", U32, c.head_width)
    out.add("llama.rope.freq_base", F32, c.rope_base)
    out.add("llama.vocab_size", U32, c.vocab_size)


def add_vocabulary(out, vocab):
    out.add("tokenizer.ggml.model", STRING, "gpt2")
    out.add("tokenizer.ggml.pre", STRING, "qwen2")
    out.add_array("tokenizer.ggml.tokens", STRING, vocab.tokens)
    out.add_array("tokenizer.ggml.token_type", I32, vocab.types)
    out.add_array("tokenizer.ggml.merges", STRING, [" ".join(m) for m in vocab.merges])
    out.add("tokenizer.ggml.bos_token_id", U32, vocab.pad)
    out.add("tokenizer.ggml.eos_token_id", U32, vocab.end)
    out.add("tokenizer.ggml.padding_token_id", U32, vocab.pad)
    out.add("tokenizer.ggml.add_bos_token", BOOL, False)
    out.add("tokenizer.chat_template", STRING, CHAT_TEMPLATE)
    out.add("tandem.not_mine_token_id", U32, vocab.not_mine)


def add_tensors(out, net):
    """PyTorch's names are already GGUF's: blk.N.attn_q.weight and so on."""
    for name, x in net.state_dict().items():
        add = out.add_q8_0 if x.dim() == 2 else out.add_f32
        add(name, x.float().numpy())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    parser.add_argument("--to", type=pathlib.Path, default="nano.gguf")
    args = parser.parse_args()
    saved = torch.load(args.source / "best.pt", weights_only=True)
    net = Nano(Config(**saved["config"]))
    net.load_state_dict(saved["state"])
    out = Writer()
    add_general(out)
    add_shape(out, net.c)
    add_vocabulary(out, Vocabulary.load(args.source / "vocab.json"))
    add_tensors(out, net)
    out.write(args.to)
    print(f"{args.to}: {args.to.stat().st_size} bytes")


if __name__ == "__main__":
    main()
