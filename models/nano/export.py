"""Write trained weights as a GGUF file: matrices quantised, norms F32, vocabulary, chat template,
exits and calibration.

    python export.py --model nano --mix Q8_0 --from work --to nano.gguf

Tied embeddings: there is no output.weight, readers take token_embd.weight for both ends. What is
not part of the `llama` architecture is metadata, which other runtimes skip (docs/heads.md).
"""

import argparse
import json
import pathlib

import torch

import data
import gguf_quant
import label_sets
from gguf_writer import ALIGNMENT, BOOL, F32, I32, STRING, U32, Writer
from model import Config, Nano, file_state
from tokenizer import Vocabulary

VERSION = "1"
# The type of the matrices and of the embedding, which is also the output: a mistake there is one in
# every answer, so it keeps more bits.
MIXES = {
    "F16": (gguf_quant.F16, gguf_quant.F16),
    "Q8_0": (gguf_quant.Q8_0, gguf_quant.Q8_0),
    "Q6_K": (gguf_quant.Q6_K, gguf_quant.Q6_K),
    "Q4_K": (gguf_quant.Q4_K, gguf_quant.Q6_K),
}
FILE_TYPES = {"F16": 1, "Q8_0": 7, "Q6_K": 18, "Q4_K": 15}  # general.file_type
TOOLS_TEMPLATE = (pathlib.Path(__file__).resolve().parent / "chat_template.jinja").read_text()
# The same where there are no tools: a template that names calls says that a model makes them.
PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content']"
    " + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def chat_template(vocab):
    return TOOLS_TEMPLATE if vocab.has_tools() else PLAIN_TEMPLATE


def add_general(out, model, mix):
    out.add("general.architecture", STRING, "llama")
    out.add("general.name", STRING, f"tandem-{model}")
    out.add("general.version", STRING, VERSION)
    out.add("general.license", STRING, "apache-2.0")
    out.add("general.file_type", U32, FILE_TYPES[mix])
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
    out.add("tokenizer.chat_template", STRING, chat_template(vocab))
    out.add("tandem.not_mine_token_id", U32, vocab.not_mine)
    # Answers are labels and values, which are right or wrong: greedy, unless a request says
    # otherwise.
    out.add("general.sampling.temp", F32, 0.0)


def add_heads(out, net, fitted):
    """Exits, and the calibration that fit.py found. `tandem probe train` adds the probe."""
    if net.c.exits:
        out.add_numbers("tandem.exit.layers", U32, torch.tensor(net.c.exits).numpy())
    for layer, norm in zip(net.c.exits, net.exit_norm):
        out.add_numbers(f"tandem.exit.{layer}.norm", F32, norm.weight.detach().numpy())
    for name, value in fitted.items():
        out.add(f"tandem.calibration.{name}", F32, value)


def add_tensors(out, net, mix):
    """PyTorch's names are already GGUF's: blk.N.attn_q.weight and so on."""
    matrices, embedding = MIXES[mix]
    for name, x in file_state(net.state_dict(), net.c.head_width).items():
        if name.startswith("exit_norm"):
            continue
        kind = gguf_quant.F32 if x.dim() != 2 else embedding if "embd" in name else matrices
        out.add_tensor(name, x.float().numpy(), kind)


def write(net, vocab, model, mix, fitted, path):
    out = Writer()
    add_general(out, model, mix)
    add_shape(out, net.c)
    add_vocabulary(out, vocab)
    if "intent" in data.MIXES[model]:
        label_sets.add_sets(out, set(vocab.tokens))
    add_heads(out, net, fitted)
    add_tensors(out, net, mix)
    out.write(path)


def load(source, model):
    """(network, vocabulary) as training left them, without what a model that calls no tools has not
    learned."""
    saved = torch.load(source / f"{model}.pt", weights_only=True, map_location="cpu")
    vocab = Vocabulary.load(source / "vocab.json")
    if "tools" not in data.MIXES[model]:
        vocab = vocab.without_tools()
    known = len(vocab.tokens)
    net = Nano(Config(**{**saved["config"], "vocab_size": known})).eval()
    state = saved["state"]
    net.load_state_dict({**state, "token_embd.weight": state["token_embd.weight"][:known]})
    return net, vocab


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--mix", choices=list(MIXES), default="Q8_0")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    parser.add_argument("--fitted", type=pathlib.Path, help="what fit.py wrote")
    parser.add_argument("--to", type=pathlib.Path, default="nano.gguf")
    args = parser.parse_args()
    net, vocab = load(args.source, args.model)
    fitted = json.loads(args.fitted.read_text()) if args.fitted else {}
    write(net, vocab, args.model, args.mix, fitted, args.to)
    print(f"{args.to}: {args.to.stat().st_size} bytes")


if __name__ == "__main__":
    main()
