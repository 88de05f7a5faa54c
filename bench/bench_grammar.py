"""What choosing a token costs: the confidence features beside a plain argmax, a grammar beside free text.

A model of random weights writes noise, so that nearly every token it chooses is refused: the worst case.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import ROOT, heading
from tandem import SHARED

CACHE = Path(os.environ.get("TANDEM_BENCH_DIR", ROOT / "build" / "synthetic"))
PERSON = {"type": "object", "additionalProperties": False, "required": ["name", "email", "age", "tags", "address"],
          "properties": {"name": {"type": "string"}, "email": {"type": "string", "maxLength": 60},
                         "age": {"type": "integer"}, "active": {"type": "boolean"},
                         "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                         "address": {"type": "object", "additionalProperties": False, "required": ["street", "city"],
                                     "properties": {"street": {"type": "string"}, "city": {"type": "string"},
                                                    "kind": {"enum": ["home", "work", "other"]}}}}}
GRAMMARS = {  # each has room for more tokens than are measured
    "any value.json": json.dumps({"type": "array", "minItems": 400}),
    "people.json": json.dumps({"type": "array", "items": PERSON, "minItems": 60}),
    "lines.gbnf": 'root ::= line{200,}\nline ::= key " = " value "\\n"\nkey ::= [a-z_] [a-z0-9_]{0,15}\n'
                  'value ::= "true" | "false" | [0-9]+ | "\\"" [^"\\n]* "\\""\n',
}


def model_file():
    path = CACHE / "synthetic-135M-Q4_0-gpt2.gguf"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(ROOT / "bench" / "make_synthetic_gguf.py"), "smollm2-135m", "q4_0",
                        str(path), "--vocab", str(SHARED / "golden" / "tokenizer" / "gpt-2.gguf.gz")], check=True)
    return path


def run():
    heading("Choosing a token: confidence features, and a grammar (goal <= 5 % from 135M on)")
    subprocess.run(["ninja", "-C", str(ROOT / "build"), "--quiet", "bench/bench_choice"], check=True)
    models = [ROOT / "models" / "nano" / "nano.gguf"]
    if (SHARED / "golden" / "tokenizer" / "gpt-2.gguf.gz").exists():
        models.append(model_file())
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in GRAMMARS.items():
            files.append(Path(folder) / name)
            files[-1].write_text(text)
        for model in models:
            subprocess.run([str(ROOT / "build" / "bench" / "bench_choice"), str(model), *map(str, files)], check=True)
