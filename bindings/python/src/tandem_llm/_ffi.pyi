from typing import Any

ffi: Any  # made of the C headers, whose structs no checker knows
