"""The shared library: found once, and its errors made exceptions."""

import os
import threading
from typing import Any, NoReturn

from ._ffi import ffi
from .errors import EngineError, TandemError

NAME = "libtandem.so.0"
_lock = threading.Lock()
_opened: Any = None


def library() -> Any:
    """libtandem, from TANDEM_LIBRARY or where the system's loader finds it."""
    global _opened
    with _lock:
        if _opened is None:
            path = os.environ.get("TANDEM_LIBRARY") or NAME
            try:
                _opened = ffi.dlopen(path)
            except OSError as error:
                raise TandemError(
                    f"the engine's library cannot be opened ({error}). Install Tandem, or let "
                    f"TANDEM_LIBRARY name {NAME}."
                ) from error
        return _opened


def new_error() -> Any:
    return ffi.new("struct td_error *")


def fail(status: int, error: Any) -> NoReturn:
    name = ffi.string(library().td_status_name(status)).decode()
    raise EngineError(name, ffi.string(error.message).decode(errors="replace"))


def check(status: int, error: Any) -> None:
    if status != 0:
        fail(status, error)


def text_of(view: Any) -> str:
    """A td_str as text."""
    return bytes(ffi.buffer(view.data, view.len)).decode(errors="replace") if view.len else ""


class View:
    """A td_str of a text, which is kept as long as this is."""

    def __init__(self, text: str) -> None:
        data = text.encode()
        self._bytes = ffi.from_buffer(data)
        self.value = ffi.new("struct td_str *", {"data": self._bytes, "len": len(data)})
