"""A list of one small model and the environment of a server that gets it from a stand-in hub."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from tandem import NANO

NANO_DATA = NANO.read_bytes()
BIG = NANO_DATA + bytes(1 << 22)  # large enough to be caught on its way
FILE = "/org/tiny-GGUF/resolve/main/tiny-Q8_0.gguf"


def entry(data: bytes | dict[str, Any] = NANO_DATA, **more: Any) -> dict[str, Any]:
    """A row of the list, of a file with this data, or with other members."""
    content = data if isinstance(data, bytes) else NANO_DATA
    return {
        "name": "tiny",
        "also": ["tiny:7b"],
        "source": "hf:org/tiny-GGUF:tiny-Q8_0.gguf",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "mit",
        "parameters": 0.006,
        "context": 2048,
        "use": "chat",
        "good_at": "labels",
        **(data if isinstance(data, dict) else {}),
        **more,
    }


def store_env(folder: Path, hub: str, *entries: dict[str, Any]) -> dict[str, str]:
    """Models below this folder, the hub at this address, the list in a file beside."""
    listed = folder / "list.json"
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400))
    listed.write_text(json.dumps({"checked": day, "models": list(entries) or [entry()]}))
    return {
        "TANDEM_MODELS": str(folder / "models"),
        "TANDEM_MODELS__CATALOG": str(listed),
        "HF_ENDPOINT": hub,
    }
