"""Makes tandem_llm/_ffi.py of the C headers, so that no declaration is written twice.

cffi's ABI mode: nothing is compiled, so one wheel serves every processor and every Python. The
library is found when the first engine is opened.
"""

import re
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
PLACES = (HERE / "headers", HERE.parent.parent / "include" / "tandem")
MACROS = r"\b(TD_PUBLIC|TD_MUST_CHECK)\b|TD_PRINTF\([^)]*\)"


def declarations(header):
    """The declarations alone: the preprocessor's lines and our attributes are not C to cffi."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    numbers = re.findall(r"^#define (TD_\w+_(?:MAX|BYTES)) (\d+)$", text, re.M)
    text = re.sub(r"^#.*(?:\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(MACROS, "", text)
    return "".join(f"#define {name} {value}\n" for name, value in numbers) + text


ffi = FFI()
folder = next(place for place in PLACES if (place / "engine.h").exists())
ffi.cdef("void free(void *);")
for name in ("types.h", "engine.h"):
    ffi.cdef(declarations(folder / name))
ffi.set_source("tandem_llm._ffi", None)

if __name__ == "__main__":
    ffi.compile(HERE / "src", verbose=True)
