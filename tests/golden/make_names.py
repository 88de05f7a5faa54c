#!/usr/bin/env python3
"""names.json: for each architecture that tandem convert writes, the keys and tensors that the gguf
package knows for it, which is llama.cpp's own (0.19.0). Needs: pip install gguf

    python3 tests/golden/make_names.py > tests/golden/names.json
"""

import json
import sys
from pathlib import Path
from typing import Any

from gguf import constants

DECODERS = json.loads((Path(__file__).resolve().parent / "decoders.json").read_text())


def texts(table: type) -> set[str]:
    found: set[str] = set()
    for name, value in vars(table).items():
        if isinstance(value, type):
            found |= texts(value)
        elif isinstance(value, str) and not name.startswith("__"):
            found.add(value)
    return found


def main() -> None:
    tensors: dict[str, Any] = {}
    numbers = {name: number for number, name in constants.MODEL_ARCH_NAMES.items()}
    for arch in sorted({model["arch"] for model in DECODERS["models"]}):
        kinds = constants.MODEL_TENSORS[numbers[arch]]
        tensors[arch] = sorted(constants.TENSOR_NAMES[kind] for kind in kinds)
    keys = sorted(key for key in texts(constants.Keys) if key.startswith(("{arch}", "general.")))
    json.dump({"keys": keys, "tensors": tensors}, sys.stdout, indent=0)
    print()


if __name__ == "__main__":
    main()
